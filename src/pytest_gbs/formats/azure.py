"""Issues of Azure Pipelines: logging commands that no file name and no value can forge."""

from __future__ import annotations

from typing import Final

from pytest_gbs.formats._escape import escape, neutralize_hashes
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity, notes, title
from pytest_gbs.formats._summary import headline
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import Report

# What Azure Pipelines shows; an issue is an error or a warning.
_TYPE: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "warning"}
_DATA: Final = {"%": "%AZP25", "\r": "%0D", "\n": "%0A"}
_PROPERTY: Final = {**_DATA, ";": "%3B", "]": "%5D"}


def render(report: Report, options: FormatOptions) -> str:
    """A command for each finding, errors first, and the headline."""
    # Issues are placed by the path from the repository's root, wherever the step runs.
    places = Places(report, options._replace(root="", folder=""))
    return "".join(
        f"{line}\n" for line in (*(_command(finding, report, places) for finding in by_severity(report)), _safe(headline(report)))
    )


def _command(finding: Finding, report: Report, places: Places) -> str:
    """The logging command of one finding."""
    properties = {"type": _TYPE[finding.severity], "sourcepath": escape(finding.at.source)}
    position = places.position(finding.at)
    if position:
        properties |= {"linenumber": str(position.line), "columnnumber": str(position.column)}
    properties["code"] = finding.code
    written = ";".join(f"{name}={_escaped(_safe(value), _PROPERTY)}" for name, value in properties.items())
    text = "; ".join([f"{title(finding, report)}: {escape(finding.message)}", *notes(finding, places)])
    return f"##vso[task.logissue {written}]{_escaped(_safe(text), _DATA)}"


def _safe(text: str) -> str:
    """Text that was made safe to print, with no command in it."""
    return neutralize_hashes(text, r"#\x23")


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(sign, sign) for sign in text)


FORMAT = Format("azure", "issues of Azure Pipelines", render, commands="##")
