"""What the page shows of each recipe and launch, as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import called
from pytest_gbs.formats._arithmetic import number
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_steps import batch_text, span
from pytest_gbs.formats._show_table import named, verdict
from pytest_gbs.model.quantity import FACTORS, Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Claim, Run

SIZES: Final = (Name.GLOBAL_BATCH_SIZE, Name.WORLD_SIZE, *FACTORS, Name.TOKENS_PER_STEP)


class Line(NamedTuple):
    """A recipe, or a launch of one: its file and run, its name for people, its sizes as text and as numbers, its verdict and claims.

    `verdict` is "" for a launch about which nothing was found. `shown` and `values` are those of `SIZES`.
    """

    file: FileReport
    run: Run
    name: str
    shown: tuple[str, ...]
    values: tuple[int | None, ...]
    verdict: str
    claims: str

    @property
    def world_size(self) -> int | None:
        """The number of GPUs."""
        return self.values[SIZES.index(Name.WORLD_SIZE)]

    @property
    def batch(self) -> int | None:
        """The global batch size."""
        return self.values[SIZES.index(Name.GLOBAL_BATCH_SIZE)]


def lines(report: Report, places: Places) -> Iterator[Line]:
    """Yield each recipe and each launch, in path order; launches that look alike come once."""
    for file in report.files:
        seen = set()
        for run in file.runs:
            line = _line(file, run, places)
            if (line.name, line.shown) not in seen:
                seen.add((line.name, line.shown))
                yield line


def _line(file: FileReport, run: Run, places: Places) -> Line:
    shown = tuple(batch_text(run) if name == Name.GLOBAL_BATCH_SIZE else _shown(run, name) for name in SIZES)
    values = tuple(run.geometry.value(name) for name in SIZES)
    claims = ", ".join(dict.fromkeys(map(_claim, run.claims)))
    return Line(file, run, named(file, run, places), shown, values, verdict(file, run), claims)


def _shown(run: Run, name: str) -> str:
    size = run.geometry.get(name)
    return span(run, size) if isinstance(size, Quantity) else ""


def _claim(claim: Claim) -> str:
    """`128`, `4,194,304 tokens` or `micro batch size 4`."""
    declaration = claim.declaration
    if declaration.name == Name.GLOBAL_BATCH_SIZE:
        return number(declaration.value)
    unit = " tokens" if declaration.unit == "tokens" else f" {called(declaration.name)}"
    return number(declaration.value) + unit
