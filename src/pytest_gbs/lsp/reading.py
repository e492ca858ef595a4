"""What an editor shows beside the text: hovers, hints with the resulting batch, and lenses with the launches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lsprotocol import types

from pytest_gbs.lsp.positions import PositionMap
from pytest_gbs.lsp.project import Project
from pytest_gbs.lsp.subjects import RunBlock, blocks_in, launches_in, stated_in, subject_at
from pytest_gbs.lsp.texts import batch_of, hardware_of, heading, hover_text, launched_by, plain, result
from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.run import Run

SHOW_LAUNCHES: Final = "gbs.showLaunches"
# Behind which number the resulting batch is shown: the first of these that is in the file.
_SHOWN_BEHIND: Final = (
    Name.GLOBAL_BATCH_SIZE,
    Name.MICRO_BATCH_SIZE,
    Name.GRADIENT_ACCUMULATION_STEPS,
    Name.FIXED_MICRO_BATCH_SIZE,
    Name.RANK_BATCH_SIZE,
    Name.PROMPTS_PER_STEP,
    Name.GENERATION_BATCH_SIZE,
    Name.NUM_GENERATIONS,
)


def hover(project: Project, path: str, offset: int, positions: PositionMap) -> types.Hover | None:
    """What the size, claim or command under the cursor is, and all of the equation that it is part of."""
    places = project.places()
    found = subject_at(project, path, offset)
    if found is not None:
        shown = positions.range(found.at.start, found.at.stop)
        text = f"{heading(found)}\n\n{hover_text(found.block, places)}"
        return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), shown[1] if shown else None)
    run = launch_at(project, path, offset)
    if run is None:
        return None
    what = f"Launches `{plain(_recipe_of(run, path))}`\n\n" if run.path != path else ""
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, f"{what}{hover_text(RunBlock(run, ()), places)}"))


def launch_at(project: Project, path: str, offset: int) -> Run | None:
    """The launch whose command is at `offset` of the file at `path`."""
    runs = launches_in(project.answer.report, path)
    return next((run for run in runs if run.launch is not None and run.launch.at.start <= offset <= run.launch.at.stop), None)


def hints(project: Project, path: str, positions: PositionMap, uri: str) -> Iterator[types.InlayHint]:
    """Yield the global batch size of each recipe and launch in a file, behind the number that states it or the first of its factors."""
    sign = "" if path.endswith(".json") else "# "
    for block in blocks_in(project.answer.report, path):
        run = block.run
        launch = run.launch.at if run.launch is not None and run.launch.at.source == path else None
        at = launch or _shown_behind(run, path)
        text = result(run) if launch or not _states_batch(run, path) else _accumulation(run)
        where = positions.end_of_line(at.start) if at is not None and text else None
        if where is not None and where[0] == uri:
            tip = types.MarkupContent(types.MarkupKind.Markdown, hover_text(block, project.places()))
            yield types.InlayHint(where[1], f"{sign}{text}", padding_left=True, tooltip=tip)


def _states_batch(run: Run, path: str) -> bool:
    """Whether the file at `path` states the global batch size itself, so that it need not be repeated there."""
    batch = run.geometry.said(Name.GLOBAL_BATCH_SIZE)
    return isinstance(batch, Quantity) and not batch.because and batch.at is not None and batch.at.source == path


def _accumulation(run: Run) -> str:
    """What follows from a global batch size that is stated: `= accumulation 4 on 8 nodes x 8 GPUs`; "" if that is not known."""
    steps = run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    return f"= accumulation {steps.value:,}{hardware_of(run)}" if isinstance(steps, Quantity) and steps.because else ""


def _shown_behind(run: Run, path: str) -> Location | None:
    """The place of the number behind which the batch of `run` is shown."""
    found = {size.name: size.at for size in stated_in(run, path) if isinstance(size, Quantity)}
    return next((found[name] for name in _SHOWN_BEHIND if name in found), None)


def lenses(project: Project, path: str, positions: PositionMap, uri: str) -> Iterator[types.CodeLens]:
    """Yield a line above each recipe that says what launches it, and above each launch what it launches with which batch."""
    for block in blocks_in(project.answer.report, path):
        run = block.run
        if run.launch is None and block.launched:
            root = run.document.root
            yield from _lens(launched_by(block.launched), root.start if root is not None else 0, positions, uri)
        elif run.launch is not None and run.launch.at.source == path and run.path != path:
            batch = batch_of(run)
            said = f": global batch size {batch}{hardware_of(run)}" if batch else ""
            yield from _lens(f"launches {_recipe_of(run, path)}{said}", run.launch.at.start, positions, uri)


def _lens(title: str, offset: int, positions: PositionMap, uri: str) -> Iterator[types.CodeLens]:
    found = positions.range(offset, offset)
    if found is not None and found[0] == uri:
        start = found[1].start
        yield types.CodeLens(types.Range(start, start), types.Command(title, SHOW_LAUNCHES, arguments=[uri, start.line, start.character]))


def _recipe_of(run: Run, path: str) -> str:
    """The recipe of a launch as people name it: its file, or the program if that is all there is."""
    return run.path if run.path != path else run.launch.command if run.launch is not None else run.path
