"""One line for each finding: `path:line:column: CODE message`, as editors and problem matchers read it."""

from __future__ import annotations

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.report import Report


def render(report: Report, options: FormatOptions) -> str:
    """A line for each finding; nothing if there is none."""
    places = Places(report, options)
    lines = (f"{places.where(finding.at)}: {finding.code} {escape(finding.message)}\n" for finding in report.findings())
    return "".join(lines)


FORMAT = Format("concise", "path:line:column: CODE message, a line each", render)
