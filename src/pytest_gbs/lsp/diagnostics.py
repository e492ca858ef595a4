"""Findings as an editor underlines them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from lsprotocol import types

from pytest_gbs.formats._problems import explanation
from pytest_gbs.lsp.positions import PositionMap
from pytest_gbs.lsp.project import SETTINGS, Answer
from pytest_gbs.model.documentation import page_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity

PositionMaps: TypeAlias = "Callable[[str], PositionMap | None]"
"""Positions in the file at a path as the client counts them; None if it can't be read."""
SOURCE: Final = "gbs"
_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_LONGEST: Final = 60  # characters of a place that stand for it if it has no label
_START: Final = types.Range(types.Position(0, 0), types.Position(0, 0))


def diagnostics(answer: Answer, positions_of: PositionMaps, *, related: bool) -> Iterator[tuple[str, types.Diagnostic]]:
    """Yield each finding with the text that shows it; with `related` also the other places that it is about."""
    for finding in answer.report.findings():
        found = _range(finding.at, positions_of)
        if found is not None:
            yield found[0], _diagnostic(finding, found[1], positions_of, related=related)


def settings_diagnostic(answer: Answer, positions_of: PositionMaps) -> Iterator[tuple[str, types.Diagnostic]]:
    """Yield what is wrong with the settings, at the start of the file that holds them, or of the first that is named."""
    if not answer.problem:
        return
    first, rest = _NAMED.match(answer.problem), answer.problem
    positions = positions_of(first[1] if first else SETTINGS[0])
    if positions is not None:
        yield positions.parts[0].uri, types.Diagnostic(_START, rest, types.DiagnosticSeverity.Error, source=SOURCE)


_NAMED: Final = re.compile(r"([^\s:]+): ")


def _diagnostic(finding: Finding, where: types.Range, positions_of: PositionMaps, *, related: bool) -> types.Diagnostic:
    page = page_of(finding.code)
    return types.Diagnostic(
        where,
        message(finding),
        _SEVERITIES.get(finding.severity, types.DiagnosticSeverity.Warning),
        code=finding.code,
        code_description=types.CodeDescription(page) if page else None,
        source=SOURCE,
        related_information=list(_related(finding, positions_of)) or None if related else None,
    )


def message(finding: Finding) -> str:
    """What is wrong, its arithmetic, what is assumed, and what fixes it, a line each."""
    return "\n".join(dict.fromkeys((finding.message, *explanation(finding))))


def _related(finding: Finding, positions_of: PositionMaps) -> Iterator[types.DiagnosticRelatedInformation]:
    places = [(each.at, each.label) for each in finding.related]
    if finding.launch is not None and finding.launch != finding.at:
        places.append((finding.launch, "launched here"))
    for at, label in places:
        positions, found = positions_of(at.source), _range(at, positions_of)
        if positions is not None and found is not None:
            yield types.DiagnosticRelatedInformation(types.Location(*found), label or positions.text(at.start, at.stop)[:_LONGEST])


def _range(at: Location, positions_of: PositionMaps) -> tuple[str, types.Range] | None:
    positions = positions_of(at.source)
    return positions.range(at.start, at.stop) if positions is not None else None
