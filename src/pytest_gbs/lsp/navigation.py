"""From a launch to what it runs, and from a recipe to what launches it."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from pytest_gbs.lsp.diagnostics import PositionMaps
from pytest_gbs.lsp.project import Project
from pytest_gbs.lsp.reading import launch_at
from pytest_gbs.lsp.subjects import blocks_in, subject_at
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import FACTORS
from pytest_gbs.model.run import Run


def definitions(project: Project, path: str, offset: int, positions_of: PositionMaps) -> Iterator[types.Location]:
    """Yield the recipe of the launch under the cursor, the DeepSpeed file that the key there names, or the settings of the claim there."""
    for block in blocks_in(project.answer.report, path):
        for companion in block.run.companions:
            named = companion.named
            if named.source == path and named.start <= offset <= named.stop:
                yield from _at(Location(companion.document.source.path), positions_of)
    run = launch_at(project, path, offset)
    if run is not None and run.path != path:
        yield from _at(_start(run), positions_of)
    subject = subject_at(project, path, offset)
    if subject is not None and subject.claim is not None:
        run = subject.block.run
        at = run.at(subject.claim.name)
        factors = (run.at(name) for name in FACTORS)
        yield from (each for place in ([at] if at is not None else factors) if place is not None for each in _at(place, positions_of))


def references(project: Project, path: str, offset: int, positions_of: PositionMaps) -> Iterator[types.Location]:
    """Yield the launches of the recipe under the cursor, or all others of the recipe that the command under the cursor launches."""
    run = launch_at(project, path, offset)
    recipe = run.path if run is not None else path
    runs = [each for file in project.answer.report.files for each in file.runs if each.path == recipe]
    if run is None:
        mine = _document_at(runs, offset)
        runs = [each for each in runs if mine is None or each.document.number == mine.document.number]
    else:
        yield from _at(_start(run), positions_of)
    places = dict.fromkeys(each.launch.at for each in runs if each.launch is not None and each.launch.at.stop)
    yield from (each for at in places for each in _at(at, positions_of))


def _document_at(runs: list[Run], offset: int) -> Run | None:
    """The recipe of a file with several whose document holds `offset`, the last one that starts before it."""
    own = [run for run in runs if run.launch is None and run.document.root is not None]
    before = [run for run in own if run.document.root is not None and run.document.root.start <= offset]
    return before[-1] if before else own[0] if own else None


def _start(run: Run) -> Location:
    start = run.document.root.start if run.document.root is not None and run.places is None else 0
    return Location(run.path, start, start)


def _at(at: Location, positions_of: PositionMaps) -> Iterator[types.Location]:
    positions = positions_of(at.source)
    found = positions.range(at.start, at.stop) if positions is not None else None
    if found is not None:
        yield types.Location(*found)
