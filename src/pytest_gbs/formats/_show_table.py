"""Many recipes at a glance: a row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_steps import batch_text, span
from pytest_gbs.formats._summary import word_of
from pytest_gbs.model.launch import Launch
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Quantity
from pytest_gbs.model.report import FileReport, Report, Verdict
from pytest_gbs.model.run import Run

HEAD: Final = ("global batch", "micro", "accumulation", "GPUs", "tokens per step", "verdict", "framework", "recipe")
RIGHT: Final = 5  # columns of numbers
_SIZES: Final = (*RANK_FACTORS, Name.WORLD_SIZE, Name.TOKENS_PER_STEP)


def rows(report: Report, places: Places) -> Iterator[tuple[str, ...]]:
    """Yield the cells of each recipe, and of each launch of it; not made safe yet."""
    for file in report.files:
        for run in file.runs:
            word = verdict(file, run)
            said = word_of(file, report) if word == Verdict.VERIFIED else word
            sizes = (_number(run, size) for size in _SIZES)
            yield (batch_text(run), *sizes, said, run.framework.title, named(file, run, places))


def verdict(file: FileReport, run: Run) -> str:
    """The verdict on a run: of the recipe by itself that of its file; of a launch what was found about it, "" if nothing was.

    A script that is its own recipe has one verdict, which is said of its launch if it has one, or of all if it is verified.
    """
    if run.launch is None:
        return file.verdict or ""
    severities = {each.severity for each in (*file.findings, *file.elsewhere) if each.launch == run.launch.at}
    if Severity.ERROR in severities or Severity.WARNING in severities:
        return Verdict.VIOLATED if Severity.ERROR in severities else Verdict.WARNED
    is_own = file.path == run.launch.at.source
    return (file.verdict or "") if is_own and (len(file.runs) == 1 or file.verdict == Verdict.VERIFIED) else ""


def named(file: FileReport, run: Run, places: Places) -> str:
    """What a run is called: the path of its recipe, the launch behind it; not made safe yet."""
    name = places.path(file.path) + file.which
    return name if run.launch is None else _launched(name if file.runs[0].launch is None else "", run.launch, places)


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
