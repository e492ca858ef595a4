"""Tables for spreadsheets: a row for each finding, or with `gbs show` for each recipe and launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import FIRST, Name, Quantity
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run

_SIZES: Final = (*FIRST, Name.TOKENS_PER_STEP)
# A spreadsheet runs a cell that starts with one of these, and in many countries a semicolon ends a cell, however it is quoted.
_formula = lazy_pattern(r"(?:^|(?<=;))(?=\s*[=+\-@＝＋－＠])")


def render(report: Report, options: FormatOptions) -> str:
    """The findings, with a head."""
    places = Places(report, options)
    rows = []
    for finding in report.findings():
        position = places.position(finding.at)
        place = (str(position.line), str(position.column)) if position else ("", "")
        rule = report.rules.get(finding.code)
        rows.append((places.path(finding.at.source), *place, finding.severity, finding.code, rule.name if rule else "", finding.message))
    return _table(("path", "line", "column", "severity", "code", "name", "message"), rows)


def show(report: Report, options: FormatOptions) -> str:
    """The sizes of every recipe, with a head; one that is not known is an empty cell."""
    return _table(("path", "document", "framework", "launch", "verdict", "unit", *_SIZES), _recipes(report, Places(report, options)))


def _recipes(report: Report, places: Places) -> Iterator[tuple[str, ...]]:
    for file in report.files:
        for run in file.runs:
            launch = places.where(run.launch.at) if run.launch else ""
            verdict = (file.verdict or "") if run.launch is None else ""
            sizes = (_number(run, name) for name in _SIZES)
            yield (places.path(run.path), str(run.document.number), run.framework.title, launch, verdict, run.framework.unit, *sizes)


def _number(run: Run, name: str) -> str:
    size = run.geometry.get(name)
    return str(size.value) if isinstance(size, Quantity) else ""


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    return "".join(",".join(map(_cell, row)) + "\n" for row in (head, *rows))


def _cell(text: str) -> str:
    """A cell whose text is safe to print, and nothing that a spreadsheet would run."""
    text = _formula().sub("'", escape(text))
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"') else text


FORMAT = Format("csv", "tables for spreadsheets", render, show)
