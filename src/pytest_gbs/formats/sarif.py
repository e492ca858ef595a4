"""SARIF 2.1.0, as code scanning of GitHub and others read it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from pytest_gbs import __version__
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._fingerprint import fingerprints
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._json import dump
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import by_severity, notes
from pytest_gbs.model.documentation import DOCUMENTATION, page_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import Report
from pytest_gbs.model.rule import Rule

_LEVEL: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_PLAIN: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/")
_LONGEST: Final = 1024


def render(report: Report, options: FormatOptions) -> str:
    """One SARIF run with every rule, fired or not; paths are relative to the root."""
    places = Places(report, options._replace(root="", folder=""))
    rules = list(report.rules.values())
    number = {rule.code: index for index, rule in enumerate(rules)}
    found = by_severity(report)
    run = {
        "tool": {
            "driver": {
                "name": "gbs",
                "semanticVersion": __version__,
                "informationUri": DOCUMENTATION,
                "rules": [_rule(rule) for rule in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The root of the repository."}}},
        "automationDetails": {"id": "gbs/"},
        "results": [_result(finding, mark, number, places) for finding, mark in zip(found, fingerprints(found), strict=True)],
    }
    return dump({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, Any]:
    manual = rule.manual.strip() or rule.summary
    page = page_of(rule.code)
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": manual.split("\n\n")[0][:_LONGEST]},
        "help": {"text": manual, "markdown": manual},
        **({"helpUri": page} if page else {}),
        "defaultConfiguration": {"level": _LEVEL[rule.severity], "enabled": rule.default},
        "properties": {"tags": ["batch-size", rule.scope], "precision": "very-high", "problem.severity": _problem(rule.severity)},
    }


def _problem(severity: str) -> str:
    return "recommendation" if severity == Severity.INFO else severity


def _result(finding: Finding, fingerprint: str, number: dict[str, int], places: Places) -> dict[str, Any]:
    related = list(_related(finding, places))
    text = "\n".join([escape(finding.message), *notes(finding, places)])
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "level": _LEVEL[finding.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _physical(finding.at, places)}],
        "partialFingerprints": {"pytestGbs/v1": fingerprint},
    }
    if finding.code in number:
        result["ruleIndex"] = number[finding.code]
    return result | ({"relatedLocations": related} if related else {})


def _related(finding: Finding, places: Places) -> Iterator[dict[str, Any]]:
    for index, related in enumerate(finding.related):
        words = {"message": {"text": escape(related.label)}} if related.label else {}
        yield {"id": index, "physicalLocation": _physical(related.at, places), **words}


def _physical(at: Location, places: Places) -> dict[str, Any]:
    artifact = {"uri": _uri(at.source), "uriBaseId": "ROOT"}
    position = places.position(at)
    if position is None:
        return {"artifactLocation": artifact}
    line, column, end_line, end_column = position
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"artifactLocation": artifact, "region": region}


def _uri(path: str) -> str:
    """A path as a URI: every byte outside of letters, digits and `-._~/` as a per cent sign and its number."""
    return "".join(sign if (sign := chr(byte)) in _PLAIN else f"%{byte:02X}" for byte in path.encode("utf-8", "surrogatepass"))


FORMAT = Format("sarif", "SARIF 2.1.0 for code scanning", render, manuals=True)
