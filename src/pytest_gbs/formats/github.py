"""Annotations of GitHub Actions: workflow commands that no file name and no value can forge."""

from __future__ import annotations

from collections import Counter
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity, notes, title
from pytest_gbs.formats._summary import headline
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import Report

# GitHub shows ten annotations of each kind for a step and drops the rest without a word.
_SHOWN: Final = 10
_COMMAND: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(report: Report, options: FormatOptions) -> str:
    """A command for each finding that GitHub would show, errors first, then one that counts the others."""
    # Annotations are placed by the path from the repository's root, wherever the step runs.
    places = Places(report, options._replace(root="", folder=""))
    number_of = Counter[str]()
    lines, left = [], 0
    for finding in by_severity(report):
        number_of[finding.severity] += 1
        # One notice is kept for the count of what is left out.
        if number_of[finding.severity] > _SHOWN - (finding.severity == Severity.INFO):
            left += 1
        else:
            lines.append(_command(finding, report, places))
    if left:
        lines.append(f"::notice title=gbs::{counted(left, 'more finding')}: the log of gbs check --format text has them all")
    return "\n".join([*lines, headline(report)]) + "\n"


def _command(finding: Finding, report: Report, places: Places) -> str:
    """The workflow command of one finding."""
    properties = {"file": escape(finding.at.source)}
    position = places.position(finding.at)
    if position:
        properties["line"] = str(position.line)
        properties["endLine"] = str(position.end_line)
        # GitHub refuses columns where a span has several lines.
        if position.line == position.end_line:
            properties["col"] = str(position.column)
            properties["endColumn"] = str(position.end_column)
    properties["title"] = title(finding, report)
    written = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    text = "\n".join([escape(finding.message), *notes(finding, places)])
    return f"::{_COMMAND[finding.severity]} {written}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMAT = Format("github", "annotations of GitHub Actions", render, commands="::")
