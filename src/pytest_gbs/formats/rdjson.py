"""Diagnostics as reviewdog reads them (rdjson)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity, notes
from pytest_gbs.model.documentation import DOCUMENTATION, page_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Applicability, Finding, Severity
from pytest_gbs.model.report import Report

_SEVERITY: Final = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.INFO: "INFO"}


def render(report: Report, options: FormatOptions) -> str:
    """A diagnostic for each finding, errors first; paths are relative to the root."""
    places = Places(report, options._replace(root="", folder=""))
    source = {"name": "gbs", "url": DOCUMENTATION}
    return dump({"source": source, "diagnostics": [_diagnostic(finding, places) for finding in by_severity(report)]})


def _diagnostic(finding: Finding, places: Places) -> dict[str, Any]:
    page = page_of(finding.code)
    entry = {
        "message": "\n".join([escape(finding.message), *notes(finding, places)]),
        "location": _location(finding.at, places),
        "severity": _SEVERITY[finding.severity],
        "code": {"value": finding.code, **({"url": page} if page else {})},
    }
    related = [{"message": escape(each.label), "location": _location(each.at, places)} for each in finding.related if each.label]
    suggestions = list(_suggestions(finding, places))
    return entry | ({"relatedLocations": related} if related else {}) | ({"suggestions": suggestions} if suggestions else {})


def _suggestions(finding: Finding, places: Places) -> Iterator[dict[str, Any]]:
    """Yield each fix that is one edit on the line of the finding: reviewdog puts no other into a comment.

    A change of what a comment claims is none: accepted with a click, it would hide what was found.
    """
    here = places.position(finding.at)
    for fix in finding.fixes:
        if len(fix.edits) == 1 and fix.applicability != Applicability.DECLARATIONS:
            (edit,) = fix.edits
            there = places.position(edit.at) if edit.at.source == finding.at.source else None
            if here and there and (here.line, here.end_line) == (there.line, there.end_line):
                yield {"range": _range(edit.at, places), "text": edit.replacement}


def _location(at: Location, places: Places) -> dict[str, Any]:
    span = _range(at, places)
    return {"path": escape(at.source), **({"range": span} if span else {})}


def _range(at: Location, places: Places) -> dict[str, Any]:
    """Where a place starts and ends; columns count bytes of UTF-8 from 1. Nothing where the text is not there."""
    position = places.position(at)
    if position is None:
        return {}
    start, end = (position.line, position.column), (position.end_line, position.end_column)
    return {"start": _position(at.source, *start, places), "end": _position(at.source, *end, places)}


def _position(path: str, line: int, column: int, places: Places) -> dict[str, int]:
    lines = places.lines(path)
    before = lines.line(line)[: column - 1] if lines else ""
    return {"line": line, "column": len(before.encode("utf-8", "surrogatepass")) + 1}


FORMAT = Format("rdjson", "diagnostics for reviewdog", render)
