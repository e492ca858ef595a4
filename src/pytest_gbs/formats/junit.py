"""JUnit XML: a test case for each rule that applies to a recipe, as pytest has an item for it."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.formats._escape import escape, neutralize_hashes
from pytest_gbs.formats._format import Format, FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import open_claim
from pytest_gbs.formats.text import render_finding
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.report import FileReport, Report


def render(report: Report, options: FormatOptions) -> str:
    """One test suite; a finding below error is in the output of a test case that passes."""
    places = Places(report, options)
    cases = [case for file in report.files for code, _ in file.rules for case in _case(file, code, places)]
    failures = sum("<failure " in case for case in cases)
    skipped = sum("<skipped " in case for case in cases)
    numbers = f'name="gbs" tests="{len(cases)}" failures="{failures}" errors="0"'
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<testsuites {numbers}>", f'<testsuite {numbers} skipped="{skipped}">']
    return "\n".join([*lines, *cases, "</testsuite>", "</testsuites>"]) + "\n"


def _case(file: FileReport, code: str, places: Places) -> Iterator[str]:
    """Yield the test case of rule `code` on `file`."""
    found = [finding for finding in file.findings if finding.code == code]
    errors = [finding for finding in found if finding.severity == Severity.ERROR]
    waiting = [outcome for outcome in file.undetermined if outcome.code == code]
    number = f"#{file.document}" if file.document > 1 else ""
    opening = f'<testcase classname="{_xml(escape(places.path(file.path)) + number)}" name="{code}"'
    text = _xml("\n\n".join(render_finding(finding, places.report, places.options._replace(color=False)) for finding in errors or found))
    if errors:
        yield f'{opening}><failure message="{_xml(escape(errors[0].message))}">{text}</failure></testcase>'
    elif found:
        yield f"{opening}><system-out>{text}</system-out></testcase>"
    elif waiting:
        yield f'{opening}><skipped message="{_xml(open_claim(waiting[0]))}"/></testcase>'
    else:
        yield f"{opening}/>"


def _xml(text: str) -> str:
    """Text that was made safe to print as XML has it. Quotes and line breaks stay, in attributes too; nothing in it is a command."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    return neutralize_hashes(text, "#&#35;").replace("::", ":&#58;")


FORMAT = Format("junit", "JUnit XML, a test case for each rule and recipe", render)
