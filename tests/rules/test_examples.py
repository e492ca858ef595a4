"""The examples of every rule, executed: what the manual shows is what the tool does."""

from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example, Rule
from pytest_gbs.rules import manuals
from tools.examples import check_example


def examples(kind: str) -> list[object]:
    found: list[object] = []
    for rule in manuals():
        chosen: tuple[Example, ...] = getattr(rule, kind)
        found.extend(pytest.param(rule, example, id=f"{rule.code}-{number}") for number, example in enumerate(chosen, 1))
    return found


@pytest.mark.parametrize(("rule", "example"), examples("good"))
def test_a_good_example_has_no_finding_at_all(rule: Rule, example: Example, tmp_path: Path) -> None:
    report = check_example(example, tmp_path)
    assert [(finding.code, finding.message) for finding in report.findings()] == []


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_a_bad_example_has_findings_of_its_rule_alone(rule: Rule, example: Example, tmp_path: Path) -> None:
    report = check_example(example, tmp_path)
    assert {finding.code for finding in report.findings()} == {rule.code}, [f.message for f in report.findings()]


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_every_span_of_a_finding_lies_in_the_file_it_names(rule: Rule, example: Example, tmp_path: Path) -> None:
    report = check_example(example, tmp_path)
    for finding in report.findings():
        for place in (finding.at, *(related.at for related in finding.related)):
            text = (tmp_path / place.source).read_text(encoding="utf-8")
            assert 0 <= place.start <= place.stop <= len(text)
        for fix in finding.fixes:
            for edit in fix.edits:
                text = (tmp_path / edit.at.source).read_text(encoding="utf-8")
                assert text[edit.at.start : edit.at.stop] == edit.expected


@pytest.mark.parametrize(("rule", "example"), examples("bad"))
def test_messages_follow_the_house_style(rule: Rule, example: Example, tmp_path: Path) -> None:
    for finding in check_example(example, tmp_path).findings():
        assert finding.message
        assert not finding.message.endswith(".")
        assert not any(word in finding.message.lower() for word in ("invalid", "please", "you should", "your "))
        assert all("\n" not in line for line in (finding.message, *finding.details, finding.holds))


@pytest.mark.parametrize(("rule", "example"), [*examples("good"), *examples("bad")])
def test_an_example_of_a_run_rule_is_read_as_a_recipe(rule: Rule, example: Example, tmp_path: Path) -> None:
    report = check_example(example, tmp_path)
    if rule.scope in ("run", "repository", "suppressions"):
        assert report.recipes()
    assert all(file.problem == "" for file in report.files) or rule.scope == "unreadable"
