"""Each format against the one sample report, whole text for whole text."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import pytest_gbs.formats
from pytest_gbs.files.shipped import read_schema
from pytest_gbs.formats import FormatOptions, find, formats, names
from pytest_gbs.model.errors import UsageError
from tests.formats.accept import EXPECTED
from tests.formats.sample import EMPTY, REPORT


@pytest.mark.parametrize("name", names())
def test_the_sample_is_rendered_as_accepted(name: str) -> None:
    assert find(name).render(REPORT, FormatOptions()) == (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", names())
def test_a_report_about_nothing_is_rendered(name: str) -> None:
    assert isinstance(find(name).render(EMPTY, FormatOptions()), str)


def test_formats_are_the_modules_of_the_folder() -> None:
    files = {path.stem for path in Path(pytest_gbs.formats.__file__).parent.glob("[!_]*.py")}
    assert files == set(names()) == {each.name for each in formats()}


def test_every_format_is_accepted_in_a_file_of_its_own() -> None:
    assert {path.stem for path in EXPECTED.glob("*.txt")} == set(names())


def test_an_unknown_format_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no format '_format'; the formats are azure, concise, csv"):
        find("_format")


def test_json_is_what_the_schema_describes() -> None:
    jsonschema.Draft202012Validator(json.loads(read_schema("report"))).validate(read_json("json"))


def test_json_of_a_finding_has_the_published_shape() -> None:
    file = next(file for file in read_json("json")["files"] if file["path"] == "recipes/sft.yaml")
    assert (file["role"], file["framework"], file["verdict"], file["rules"]) == ("recipe", "trl", "violated", {"GBS101": "violated"})
    finding = file["findings"][0]
    assert (finding["code"], finding["name"], finding["severity"], finding["launch"]) == ("GBS101", "stale-declaration", "error", None)
    assert finding["location"] == {"path": "recipes/sft.yaml", "line": 1, "column": 31, "end_line": 1, "end_column": 34}
    assert finding["related"][1]["label"] == "accumulation"
    assert finding["fixes"][0]["edits"][0] == {
        "location": {"path": "recipes/sft.yaml", "line": 6, "column": 30, "end_line": 6, "end_column": 31},
        "expected": "4",
        "replacement": "2",
    }


def test_json_counts_verdicts_and_severities() -> None:
    summary = read_json("json")["summary"]
    assert (summary["files"], summary["recipes"], summary["launches"]) == (8, 5, 1)
    assert [summary[word] for word in ("verified", "violated", "warned", "undetermined", "unclaimed")] == [1, 1, 1, 1, 1]
    assert (summary["errors"], summary["warnings"]) == (1, 1)


def test_sarif_lists_every_rule_and_one_location_for_each_result() -> None:
    run = read_json("sarif")["runs"][0]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["GBS101", "GBS105", "GBS206", "GBS302"]
    assert [len(result["locations"]) for result in run["results"]] == [1, 1, 1]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert "primaryLocationLineHash" not in result["partialFingerprints"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {
        "startLine": 1,
        "startColumn": 31,
        "endLine": 1,
        "endColumn": 34,
    }


@pytest.mark.parametrize("name", ["gitlab", "sarif"])
def test_fingerprints_differ_even_of_findings_that_are_alike(name: str) -> None:
    twice = [finding._replace(at=finding.at._replace(start=0, stop=1)) for finding in REPORT.findings()]
    files = tuple(file._replace(findings=(*file.findings, *twice)) for file in REPORT.files[:1])
    value = json.loads(find(name).render(REPORT._replace(files=files), FormatOptions()))
    results = value if name == "gitlab" else value["runs"][0]["results"]
    marks = [result["fingerprint"] if name == "gitlab" else result["partialFingerprints"]["pytestGbs/v1"] for result in results]
    assert len(marks) == len(set(marks)) == 4


def test_paths_are_shown_from_the_current_folder() -> None:
    inside = find("concise").render(REPORT, FormatOptions(root="/home/repo", folder="/home/repo/recipes"))
    assert "sft.yaml:1:31: GBS101" in inside.splitlines()[-1]
    assert inside.startswith("../accelerate/zero3.yaml:3:16: ")
    above = find("text").render(REPORT, FormatOptions(root="/home/repo", folder="/home"))
    assert "assuming 8 GPUs per node: 3 launcher files agree (repo/accelerate/zero3.yaml:3  num_processes: 8)" in above


@pytest.mark.parametrize("name", ["github", "gitlab", "sarif"])
def test_paths_for_a_host_stay_relative_to_the_root(name: str) -> None:
    assert find(name).render(REPORT, FormatOptions(root="/home/repo", folder="/home/repo/recipes")) == find(name).render(
        REPORT, FormatOptions()
    )


def test_colours_are_the_only_difference_they_make() -> None:
    import re

    plain, painted = (find("text").render(REPORT, FormatOptions(color=color)) for color in (False, True))
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == plain


def test_frames_are_ascii_where_the_terminal_has_nothing_else() -> None:
    text = find("text").render(REPORT, FormatOptions(ascii=True))
    assert text.isascii()
    assert "        |              -------          ^^^ declared\n" in text


def test_fewer_words_leave_the_findings_and_more_list_the_files() -> None:
    quiet, loud = (find("text").render(REPORT, FormatOptions(verbosity=verbosity)) for verbosity in (-1, 1))
    assert "recipes in" not in quiet
    assert quiet.count("GBS101") == 1
    assert "unreadable   broken.yaml  not UTF-8 at byte 3\n" in loud


def test_files_that_are_not_read_are_named_where_no_finding_does() -> None:
    broken = next(file for file in REPORT.files if file.path == "broken.yaml")
    two = REPORT._replace(files=(*REPORT.files, broken._replace(path="other.json")))
    told = REPORT._replace(files=tuple(file._replace(findings=REPORT.findings()[:1]) if file is broken else file for file in REPORT.files))
    texts = [find("text").render(each, FormatOptions()) for each in (two, told)]
    assert "unreadable: broken.yaml and 1 more; gbs check -v names them\n" in texts[0]
    assert "unreadable:" not in texts[1]


def test_a_finding_of_two_files_is_reported_once() -> None:
    doubled = REPORT._replace(files=(*REPORT.files, REPORT.files[0]._replace(document=2)))
    assert find("concise").render(doubled, FormatOptions()) == find("concise").render(REPORT, FormatOptions())


def read_json(name: str) -> Any:
    return json.loads(find(name).render(REPORT, FormatOptions()))
