"""One process that trains on several GPUs: it hands each of them a micro batch, as `nn.DataParallel` does."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_gbs.composition import DocumentCache
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.launches.found_launch import FoundLaunch
from pytest_gbs.launches.python_file import PythonFile, read_imports
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import FeedsGpus, Framework
from pytest_gbs.model.limits import MOST_PROGRAM_FILES
from pytest_gbs.model.location import Source, grouped
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import ONE_GPU, Name, Note, Noted, Origin, Quantity
from pytest_gbs.readers.python.modules import module_paths

_RANKS: Final = ("RANK", "LOCAL_RANK", "WORLD_SIZE")


def with_fed_gpus(found: FoundLaunch, document: Document, framework: Framework, tree: DocumentCache) -> FoundLaunch:
    """`found`, which runs `document`, with the GPUs that its one process sees as its world, if the program trains on all of them."""
    visible, feeds = found.start.visible, framework.feeds_gpus
    if visible is None or feeds is None or found.program is None or found.missing:
        return found
    keys = {str(part) for key in document.keyed for part in key}
    as_stated = feeds.unless.isdisjoint(keys) and all(holds(each, document, framework.loader) for each in feeds.when)
    program = found.program
    if not as_stated or not tree.once((program, feeds), lambda: _trains_on_all(program, feeds, tree)):
        return found
    world = visible._replace(name=Name.WORLD_SIZE, note=Note("DataParallel: one process feeds all", Noted.FED))
    return _with_world(found, world)


def with_one_gpu(found: FoundLaunch, framework: Framework, tree: DocumentCache) -> FoundLaunch:
    """`found` with one GPU as its world, if its one process takes no more than that."""
    known = any(size.name == Name.WORLD_SIZE and isinstance(size, Quantity) for size in found.start.sizes)
    if known or not framework.one_gpu or found.start.name != "python" or any(each.name in _RANKS for each in found.environment):
        return found
    source = tree.read(found.program) if found.program is not None and not found.missing else None
    file = read_imports(source) if isinstance(source, Source) else None
    if file is None or not framework.one_gpu.issubset(name.partition(".")[0] for name in file.imports):
        return found
    return _with_world(found, Quantity(Name.WORLD_SIZE, 1, Origin.LAUNCH, at=found.launch.at, note=ONE_GPU))


def _with_world(found: FoundLaunch, world: Quantity) -> FoundLaunch:
    sizes = (world, *(size for size in found.start.sizes if size.name != Name.WORLD_SIZE))
    start = found.start._replace(sizes=sizes)
    quantities = tuple(size for size in sizes if isinstance(size, Quantity))
    return found._replace(start=start, launch=found.launch._replace(start=start, quantities=quantities))


def _trains_on_all(program: str, feeds: FeedsGpus, tree: DocumentCache) -> bool:
    """Whether the program at that path trains as `feeds` says, as far as its files are in the tree and not too many."""
    trains = False
    for number, (source, file) in enumerate(_files(program, tree)):
        if number >= MOST_PROGRAM_FILES or not feeds.unless.isdisjoint(_name().findall(source.text)):
            return False
        trains = trains or Program("", file.imports).is_of((), feeds.uses)
    return trains


def _files(path: str, tree: DocumentCache) -> Iterator[tuple[Source, PythonFile]]:
    """Yield the Python file at `path` and all that it imports from the tree, directly or not."""
    pending, known = [path], {path}
    installed = tree.once("programs by name", lambda: grouped((_end(path), path) for path in tree.paths() if path.endswith(".py")))
    while pending:
        source = tree.read(pending.pop())
        file = read_imports(source) if isinstance(source, Source) else None
        if file is None or not isinstance(source, Source):
            continue
        yield source, file
        imported = {each for name in file.imports for each in _imported(name, source.path, tree, installed)}
        pending += sorted(imported - known)
        known |= imported


def _imported(name: str, path: str, tree: DocumentCache, installed: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield the files that `name`, which the file at `path` imports, may mean: the module, or the one that it is taken from.

    What is not near it may be `installed` from anywhere in the tree (`src/acme`), and of very many files of that name any may be it.
    """
    for module in (name, name.rpartition(".")[0]):
        paths = tuple(module_paths(module, path.rpartition("/")[0])) if module.strip(".") else ()
        near = [each for each in paths if tree.has_file(each)]
        yield from near
        if not near and module.partition(".")[0] not in sys.stdlib_module_names:
            for end in paths[-2:]:
                alike = installed.get(_end(end), [])[: MOST_PROGRAM_FILES + 1]
                yield from (each for each in alike if each.endswith(f"/{end}") or len(alike) > MOST_PROGRAM_FILES)


def _end(path: str) -> str:
    """The name of a file, with that of its folder if the file stands for that."""
    parts = path.rsplit("/", 2)
    return "/".join(parts[-2:]) if parts[-1] == "__init__.py" else parts[-1]


_name = lazy_pattern(r"[A-Za-z_]\w*")
