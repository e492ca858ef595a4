"""The code quality report of GitLab."""

from __future__ import annotations

from typing import Any, Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._fingerprint import fingerprints
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import title
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import Report

_SEVERITY: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def render(report: Report, options: FormatOptions) -> str:
    """The report as JSON; paths are relative to the root, as GitLab wants them."""
    places = Places(report, options._replace(root="", folder=""))
    found = report.findings()
    issues = [_issue(finding, mark, report, places) for finding, mark in zip(found, fingerprints(found), strict=True)]
    return dump(issues)


def _issue(finding: Finding, fingerprint: str, report: Report, places: Places) -> dict[str, Any]:
    position = places.position(finding.at)
    lines = {"begin": position.line, "end": position.end_line} if position else {"begin": 1}
    return {
        "description": f"{title(finding, report)}: {escape(finding.message)}",
        "check_name": finding.code,
        "fingerprint": fingerprint,
        "severity": _SEVERITY[finding.severity],
        "location": {"path": escape(finding.at.source), "lines": lines},
    }


FORMAT = Format("gitlab", "code quality report of GitLab", render)
