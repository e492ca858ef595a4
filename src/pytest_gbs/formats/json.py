"""For programs: the JSON that `gbs schema report` describes."""

from __future__ import annotations

from typing import Any, Final

from pytest_gbs.arithmetic.wording import assumed
from pytest_gbs.formats import _entries as entries
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._json import dump, taken
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import how_often
from pytest_gbs.formats._show_json import recipes
from pytest_gbs.formats._summary import files, launchers, launches
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.report import VERDICTS, FileReport, Report, Role

VERSION: Final = 1


def render(report: Report, options: FormatOptions) -> str:
    """What a check found: a summary, and each file that is something to us."""
    places = Places(report, options)
    of_interest = [_file(file, places) for file in report.files if file.role != Role.NEITHER or file.findings]
    return dump({"version": VERSION, "summary": _summary(report), "files": of_interest})


def show(report: Report, options: FormatOptions) -> str:
    """The geometry of every recipe, and of every launcher file that was asked for."""
    return dump({"version": VERSION, "recipes": recipes(report, Places(report, options))})


def statistics(report: Report, options: FormatOptions) -> str:  # noqa: ARG001 - the shape of all formats
    """How often each rule fired, most often first, and the summary."""
    fired = [
        {"code": code, "name": report.rules[code].name if code in report.rules else None, "severity": severity, "count": number}
        for (code, severity), number in how_often(report)
    ]
    return dump({"version": VERSION, "summary": _summary(report), "statistics": fired})


def _summary(report: Report) -> dict[str, int]:
    found = report.findings()
    return {
        "files": files(report),
        "recipes": len(report.recipes()),
        "launches": launchers(report) + launches(report),
        **{verdict: report.number(verdict) for verdict in VERDICTS},
        "errors": sum(finding.severity == Severity.ERROR for finding in found),
        "warnings": sum(finding.severity == Severity.WARNING for finding in found),
        "suppressed": sum(file.suppressed for file in report.files),
    }


def _file(file: FileReport, places: Places) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "path": places.path(file.path),
        "document": file.document,
        **({"part": file.part} if file.part else {}),
        **taken(file, "role framework verdict"),
        "rules": dict(file.rules),
        "findings": [entries.finding(finding, places) for finding in file.findings],
        "undetermined": [entries.undetermined(outcome, places) for outcome in file.undetermined],
        "assumptions": list(map(assumed, file.assumptions)),
    }
    return entry | ({"problem": file.problem} if file.problem else {})


FORMAT = Format("json", "for programs, as `gbs schema report` describes", render, show, statistics=statistics)
