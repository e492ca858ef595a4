"""What programs of others read is what they publish that they read.

`published/` holds what each published schema asks of the parts that gbs writes, in our words: the schemas themselves are those of others.
"""

import json
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree import ElementTree

import jsonschema
import pytest

from pytest_gbs.formats import FormatOptions, find
from pytest_gbs.model.documentation import DOCUMENTATION, page_of
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Applicability, Edit, Fix
from pytest_gbs.model.report import Report
from tests.formats.sample import ALONE, EMPTY, MICRO, REPORT, SFT, STALE

SCHEMAS = Path(__file__).parent / "published"


@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["sample", "empty"])
@pytest.mark.parametrize("name", ["gitlab", "rdjson", "sarif"])
def test_json_for_others(name: str, report: Report) -> None:
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(json.loads(find(name).render(report, FormatOptions())))] == []


class Element(NamedTuple):
    """What an element of JUnit XML must and may have, and what it may hold."""

    must: str = ""
    may: str = ""
    holds: str = ""


# As the xunit plug-in of Jenkins has it (junit-10.xsd), which pytest's own reports are checked with.
JUNIT: Final = {
    "testsuites": Element("", "name time tests failures errors", "testsuite"),
    "testsuite": Element("name tests failures errors", "group time skipped timestamp hostname id package file", "testcase properties"),
    "testcase": Element("name", "time classname group", "skipped failure system-out system-err"),
    "failure": Element("", "type message"),
    "skipped": Element("", "type message"),
    "system-out": Element(),
}


@pytest.mark.parametrize("report", [REPORT, EMPTY], ids=["sample", "empty"])
def test_junit(report: Report) -> None:
    root = ElementTree.fromstring(find("junit").render(report, FormatOptions()))
    assert root.tag == "testsuites"
    for element in root.iter():
        known = JUNIT[element.tag]
        assert {*known.must.split()} <= set(element.keys()) <= {*known.must.split(), *known.may.split()}
        assert {child.tag for child in element} <= {*known.holds.split()}
    (suite,) = root
    assert int(suite.attrib["tests"]) == len(suite) >= int(suite.attrib["failures"]) + int(suite.attrib["skipped"])


def _alone(*fixes: Fix) -> Report:
    """The sample with its first finding alone, and these fixes."""
    sources = {
        **REPORT.sources,
        "recipes/sft.yaml": REPORT.sources["recipes/sft.yaml"]._replace(text=f"# é\n{SFT}".replace("Config", "Çonfig")),
    }
    moved = Location(STALE.at.source, STALE.at.start + 4, STALE.at.stop + 4)
    files = (REPORT.files[-1]._replace(findings=(STALE._replace(at=moved, related=(), fixes=fixes),)),)
    return REPORT._replace(files=files, sources=sources)


HERE = Location(STALE.at.source, STALE.at.start + 4, STALE.at.stop + 4)


@pytest.mark.parametrize(
    "fix",
    [
        pytest.param(Fix("a", Applicability.SETTINGS, (Edit(MICRO, "1", "2"),)), id="another line"),
        pytest.param(Fix("a", Applicability.SETTINGS, (Edit(HERE, "128", "256"), Edit(MICRO, "1", "2"))), id="two edits"),
        pytest.param(Fix("a", Applicability.DECLARATIONS, (Edit(HERE, "128", "256"),)), id="the claim itself"),
        pytest.param(Fix("a", Applicability.SETTINGS, (Edit(ALONE.at, "8", "1"),)), id="another file"),
    ],
)
def test_reviewdog_is_offered_no_change_elsewhere(fix: Fix) -> None:
    assert "suggestions" not in json.loads(find("rdjson").render(_alone(fix), FormatOptions()))["diagnostics"][0]


def test_reviewdog_counts_bytes() -> None:
    text = find("rdjson").render(_alone(Fix("a", Applicability.SETTINGS, (Edit(HERE, "128", "256"),))), FormatOptions())
    found = json.loads(text)["diagnostics"][0]
    span = {"start": {"line": 2, "column": 32}, "end": {"line": 2, "column": 35}}  # Ç is two bytes: a column more than SARIF has
    assert found["location"]["range"] == span
    assert found["suggestions"] == [{"range": span, "text": "256"}]


@pytest.mark.parametrize("code", ["ACME1", "GBS1/../../x", "GBS\x1b]8", "GBSÄ1", ""])
def test_a_rule_of_a_plug_in_has_no_page(code: str) -> None:
    assert page_of(code) == ""


def test_each_built_in_rule_leads_to_its_page() -> None:
    rules = json.loads(find("sarif").render(REPORT, FormatOptions()))["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["helpUri"] for rule in rules] == [f"{DOCUMENTATION}rules/{rule['id'].lower()}/" for rule in rules]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", " =1", "＝1"])
def test_no_cell_is_a_formula(text: str) -> None:
    from pytest_gbs.formats.csv import _cell

    assert _cell(text) == f"'{text}"
    assert _cell(f"a {text}") == f"a {text}"
    assert _cell(f'{text},"') == f'"\'{text},"""'
    assert _cell(f"a;{text}") == f"a;'{text}"  # a semicolon ends a cell where a comma stands in numbers
