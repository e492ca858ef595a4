"""Many recipes at a glance: a row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_steps import batch_text, span
from pytest_gbs.model.launch import Launch
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run

HEAD: Final = ("global batch", "micro", "accumulation", "GPUs", "tokens per step", "verdict", "framework", "recipe")
RIGHT: Final = 5  # columns of numbers
_SIZES: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.WORLD_SIZE, Name.TOKENS_PER_STEP)


def rows(report: Report, places: Places) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each recipe, and of each launch of it; not made safe yet."""
    for file in report.files:
        for run in file.runs:
            yield _row(file, run, places)


def _row(file: FileReport, run: Run, places: Places) -> tuple[str, ...]:
    name = places.path(file.path) + file.which
    if run.launch is not None:
        name = _launched(name if file.runs[0].launch is None else "", run.launch, places)
    verdict = (file.verdict or "") if run.launch is None else ""
    return (batch_text(run), *(_number(run, size) for size in _SIZES), verdict, run.framework.title, name)


def _launched(name: str, launch: Launch, places: Places) -> str:
    """`run.sh:12 (torchrun)`, or `sft.yaml (run.sh:12, torchrun)` where a file is the recipe, called `name`."""
    position = places.position(launch.at) if launch.at.stop else None
    if position is None:
        return f"{name} ({launch.command})"
    where = f"{places.path(launch.at.source)}:{position.line}"
    return f"{name} ({where}, {launch.command})" if name else f"{where} ({launch.command})"


def _number(run: Run, name: str) -> str:
    size = run.geometry.get(name)
    return span(run, size) if isinstance(size, Quantity) else "-"
