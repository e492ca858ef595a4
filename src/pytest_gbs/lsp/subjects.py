"""What is at a place of a file: the recipes and launches in it, and the size, claim or command under a cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.formats._show_text import blocks
from pytest_gbs.lsp.project import Project
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.document import Document
from pytest_gbs.model.framework import Row
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Conflict, Quantity, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run


class RunBlock(NamedTuple):
    """A recipe by itself with its launches, or one launch, as `gbs show` prints them together."""

    run: Run
    launched: tuple[Run, ...]


class CursorSubject(NamedTuple):
    """What is under a cursor: a size with the key that states it, a claim, or a row of the table without a size; and where it is."""

    block: RunBlock
    at: Location
    size: Size | None = None
    claim: Declaration | None = None
    row: Row | None = None


def blocks_in(report: Report, path: str) -> tuple[RunBlock, ...]:
    """The recipes in the file at `path`, each with its launches, and the launches that are in it."""
    found = [RunBlock(run, launched) for file in report.files if file.path == path for run, launched in blocks(file)]
    known = {(block.run.launch, block.run.path) for block in found}
    return (*found, *(RunBlock(run, ()) for run in _launched_in(report, path) if (run.launch, run.path) not in known))


def launches_in(report: Report, path: str) -> tuple[Run, ...]:
    """The launches that are in the file at `path`, each command with each of its recipes once."""
    runs = _launched_in(report, path)
    return tuple({(run.launch.at, run.path): run for run in runs if run.launch is not None}.values())


def _launched_in(report: Report, path: str) -> Iterator[Run]:
    """Yield every run of a launch that is in the file at `path`."""
    return (run for file in report.files for run in file.runs if run.launch is not None and run.launch.at.source == path)


def subject_at(project: Project, path: str, offset: int) -> CursorSubject | None:
    """What is at `offset` of the file at `path`: a claim before a size, and a size before a key that has none."""
    found = blocks_in(project.answer.report, path)
    every = [*_claims(found, path), *_sizes(found, path, project.documents(path)), *_rows(found, path)]
    return next((each for each in every if each.at.start <= offset <= each.at.stop), None)


def stated_in(run: Run, path: str) -> Iterator[Size]:
    """Yield the sizes of `run` that are in the file at `path`, with those that they were computed from."""
    for size in run.geometry.stated.values():
        parts: Iterable[Size] = leaves(size) or (size,)
        yield from (part for part in parts if not isinstance(part, Conflict) and part.at is not None and part.at.source == path)
        if isinstance(size, Conflict):
            yield from (value for value in size.values if value.at is not None and value.at.source == path)


def _claims(found: Iterable[RunBlock], path: str) -> Iterator[CursorSubject]:
    for block in found:
        for each in block.run.declarations:
            if each.at.source == path:
                yield CursorSubject(block, each.at, claim=each)


def _sizes(found: Iterable[RunBlock], path: str, documents: tuple[Document, ...]) -> Iterator[CursorSubject]:
    for block in found:
        own = (block.run.document,) if block.run.places is None and block.run.path == path else ()
        for size in stated_in(block.run, path):
            assert not isinstance(size, Conflict)
            assert size.at is not None
            yield CursorSubject(block, size.at, size=size)
            key = _key(size.at, (*own, *documents))
            if key is not None:
                yield CursorSubject(block, key, size=size)


def _key(at: Location, documents: Iterable[Document]) -> Location | None:
    """Where the key is whose value is at `at`."""
    for document in documents:
        entry = document.keyed.get(at.path) if at.path is not None else None
        if entry is not None and entry[1].start == at.start:
            return Location(at.source, entry[0].start, entry[0].stop)
    return None


def _rows(found: Iterable[RunBlock], path: str) -> Iterator[CursorSubject]:
    """Yield the keys of the table that are there without a size of this run: one that another replaces, or that does not count."""
    for block in found:
        run = block.run
        if run.places is not None or run.path != path:
            continue
        for row in run.framework.rows:
            entry = run.document.keyed.get(row.key)
            if entry is not None:
                at = Location(path, entry[0].start, entry[1].stop)
                size = run.geometry.stated.get(row.name)
                there = isinstance(size, (Quantity, Unknown)) and size.at is not None and size.at.start == entry[1].start
                yield CursorSubject(block, at, size=size if there else None, row=row)
