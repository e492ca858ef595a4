"""Locations and findings as JSON has them: plain dictionaries, every place with its path."""

from __future__ import annotations

from typing import Any

from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.formats._json import taken
from pytest_gbs.formats._places import Places
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Fix, Undetermined


def location(at: Location, places: Places) -> dict[str, Any]:
    """The path of a place and, where the report holds the text, its lines and columns from 1, the end exclusive."""
    position = places.position(at)
    return {"path": places.path(at.source), **(position._asdict() if position else {})}


def finding(found: Finding, places: Places) -> dict[str, Any]:
    """One finding."""
    rule = places.report.rules.get(found.code)
    return {
        "code": found.code,
        "name": rule.name if rule else None,
        **taken(found, "severity message label"),
        "launch": location(found.launch, places) if found.launch else None,
        "location": location(found.at, places),
        "related": [{"location": location(related.at, places), "label": related.label} for related in found.related],
        **taken(found, "details holds"),
        "assumptions": list(map(assumed, found.assumptions)),
        "fixes": [_fix(fix, places) for fix in found.fixes],
    }


def _fix(fix: Fix, places: Places) -> dict[str, Any]:
    edits = [{"location": location(edit.at, places), "expected": edit.expected, "replacement": edit.replacement} for edit in fix.edits]
    return {"title": fix.title, "applicability": fix.applicability, "edits": edits}


def undetermined(outcome: Undetermined, places: Places) -> dict[str, Any]:
    """One claim or constraint that could not be decided."""
    return {**taken(outcome, "code message"), "location": location(outcome.at, places), **taken(outcome, "missing implies values claim")}
