"""Findings as an editor underlines them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from lsprotocol import types

from pytest_gbs.formats._problems import explanation
from pytest_gbs.lsp.project import SETTINGS, Answer
from pytest_gbs.lsp.sheets import Sheet
from pytest_gbs.model.documentation import page_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity

Sheets: TypeAlias = "Callable[[str], Sheet | None]"
"""How the client shows the file at a path; None if it can't be read."""
SOURCE: Final = "gbs"
_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_LONGEST: Final = 60  # characters of a place that stand for it where it has no label
_START: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


def diagnostics(answer: Answer, sheets: Sheets, *, related: bool) -> Iterator[tuple[str, types.Diagnostic]]:
    """Yield each finding with the text that shows it; with `related` also the other places that it is about."""
    for finding in answer.report.findings():
        found = _range(finding.at, sheets)
        if found is not None:
            yield found[0], _diagnostic(finding, found[1], sheets, related=related)


def settings_diagnostic(answer: Answer, sheets: Sheets) -> Iterator[tuple[str, types.Diagnostic]]:
    """Yield what is wrong with the settings, at the start of the file that holds them, or of the first that is named."""
    if not answer.problem:
        return
    first, rest = _NAMED.match(answer.problem), answer.problem
    sheet = sheets(first[1] if first else SETTINGS[0])
    if sheet is not None:
        yield sheet.parts[0].uri, types.Diagnostic(_START, rest, types.DiagnosticSeverity.Error, source=SOURCE)


_NAMED: Final = re.compile(r"([^\s:]+): ")


def _diagnostic(finding: Finding, where: types.Range, sheets: Sheets, *, related: bool) -> types.Diagnostic:
    page = page_of(finding.code)
    return types.Diagnostic(
        where,
        message(finding),
        _SEVERITIES.get(finding.severity, types.DiagnosticSeverity.Warning),
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        related_information=list(_related(finding, sheets)) or None if related else None,
    )


def message(finding: Finding) -> str:
    """What is wrong, its arithmetic, what is assumed, and what fixes it, a line each."""
    return "\n".join(dict.fromkeys((finding.message, *explanation(finding))))


def _related(finding: Finding, sheets: Sheets) -> Iterator[types.DiagnosticRelatedInformation]:
    places = [(each.at, each.label) for each in finding.related]
    if finding.launch is not None and finding.launch != finding.at:
        places.append((finding.launch, "launched here"))
    for at, label in places:
        sheet, found = sheets(at.source), _range(at, sheets)
        if sheet is not None and found is not None:
            yield types.DiagnosticRelatedInformation(types.Location(*found), label or sheet.text(at.start, at.stop)[:_LONGEST])


def _range(at: Location, sheets: Sheets) -> tuple[str, types.Range] | None:
    sheet = sheets(at.source)
    return sheet.range(at.start, at.stop) if sheet is not None else None
