"""What the launcher files near a recipe say of its hardware, and whether they agree."""

from __future__ import annotations

from typing import Final

from pytest_gbs.arithmetic.wording import agreement
from pytest_gbs.claims.worlds import Nearby
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.launch import LauncherFile
from pytest_gbs.model.location import Lines, Source
from pytest_gbs.model.quantity import PARALLEL, Name, Note, Origin, Quantity

# Names of folders whose launcher files are for all of a repository.
_FOR_ALL: Final = ("accelerate", "config", "launch")


def is_near(path: str, folder: str) -> bool:
    """Whether the file at `path` lies in `folder` or right below; at the root in one for all projects."""
    inside = path[len(folder) :].strip("/").split("/")
    return len(inside) == 1 or (len(inside) == 2 and (bool(folder) or any(word in inside[0].lower() for word in _FOR_ALL)))


def evidence_of(launcher_file: LauncherFile, source: Source) -> str:
    """Where the file says how many processes it starts: `zero3.yaml:16  num_processes: 8`."""
    size = next((q for q in launcher_file.quantities if q.name in (Name.WORLD_SIZE, Name.GPUS_PER_NODE) and q.at), None)
    if size is None or size.at is None:
        return source.path
    return f"{source.path}:{Lines(source.text).line_of(size.at.start)}  {size.key}: {size.value}"


def agreement_of(found: list[tuple[LauncherFile, str]]) -> Nearby:
    """What launcher files agree on; if they disagree, who says what."""
    each = [(q, note) for file, note in found if (q := _size(file, Name.GPUS_PER_NODE)) is not None]
    values = sorted({q.value for q, _ in each})
    if not each:
        return Nearby()
    if len(values) > 1:
        said = ", ".join(f"{note.split('  ')[0]} {q.value}" for q, note in each[:4])
        return Nearby(disagreement=f"launcher files disagree on GPUs per node: {said}")
    size, note = each[-1]
    parallel = tuple(q for name in PARALLEL if (q := _unanimous(found, name)) is not None)
    assumption = Assumption(Assuming.FILES_NEARBY, size.name, size.value, len(each), note)
    return Nearby(size._replace(origin=Origin.LAUNCHER, note=Note(agreement(len(each)))), parallel, (assumption,))


def _size(file: LauncherFile, name: str) -> Quantity | None:
    return next((q for q in file.quantities if q.name == name), None)


def _unanimous(found: list[tuple[LauncherFile, str]], name: str) -> Quantity | None:
    sizes = [_size(file, name) for file, _ in found]
    first = sizes[0]
    return first if first is not None and all(size is not None and size.value == first.value for size in sizes) else None
