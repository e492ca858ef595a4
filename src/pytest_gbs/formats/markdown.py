"""Markdown for a pull request, a README, or the summary of a CI job."""

from __future__ import annotations

from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity, fix, title
from pytest_gbs.formats._summary import headline, remarks
from pytest_gbs.model.report import Report


def render(report: Report, options: FormatOptions) -> str:
    """The summary and a table of findings, errors first."""
    places = Places(report, options)
    parts = [f"**{cell(headline(report))}**"]
    found = by_severity(report)
    if found:
        rows = (
            (cell(places.where(f.at)), f.severity, cell(title(f, report)), "<br>".join(map(cell, filter(None, (f.message, fix(f))))))
            for f in found
        )
        parts.append(table(("place", "severity", "rule", "finding"), rows))
    lines = [f"- {cell(line)}" for line in remarks(report, places)]
    if lines:
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def show(report: Report, options: FormatOptions) -> str:
    """A table with a row for each recipe."""
    from pytest_gbs.formats._show_table import HEAD, RIGHT, rows

    each_once = dict.fromkeys(rows(report, Places(report, options)))
    return table(HEAD, ([cell(text) for text in row] for row in each_once), RIGHT) + "\n"


FORMAT = Format("markdown", "tables for a pull request or $GITHUB_STEP_SUMMARY", render, show)
