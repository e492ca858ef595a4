"""The registry is the folder: every rule file is a rule, once, named and numbered as documented."""

import re
from pathlib import Path

import pytest

import pytest_gbs.rules
from pytest_gbs.claims.grammars.words import is_rule_code
from pytest_gbs.model.outcome import SEVERITIES
from pytest_gbs.model.rule import Rule, Scope
from pytest_gbs.rules import manuals as rules

FOLDER = Path(pytest_gbs.rules.__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("gbs*.py"))
SCOPES = {getattr(Scope, name) for name in vars(Scope) if name.isupper()}
# 0xx reading, 1xx comments, 2xx the equation, 3xx launches, 4xx one framework, 5xx policy, 6xx advice, 9xx our own comments.
FAMILIES = "01234569"

each = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)


def file_name(rule: Rule) -> str:
    return f"{rule.code.lower()}_{rule.name.replace('-', '_')}"


def test_every_rule_file_is_in_the_registry_once_and_in_order() -> None:
    assert [file_name(rule) for rule in rules()] == FILES


def test_the_folder_holds_nothing_but_rules_and_their_shared_parts() -> None:
    others = {path.name for path in FOLDER.glob("*.py")} - {f"{stem}.py" for stem in FILES}
    assert {name for name in others if not name.startswith("_")} == set()


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in rules()}) == len(rules())
    assert len({rule.name for rule in rules()}) == len(rules())


@each
def test_a_code_belongs_to_a_documented_family(rule: Rule) -> None:
    assert re.fullmatch(rf"GBS[{FAMILIES}][0-9][0-9]", rule.code)


@each
def test_a_name_says_the_pattern_in_kebab_case(rule: Rule) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name)


@each
def test_a_rule_has_examples_of_both_kinds(rule: Rule) -> None:
    assert rule.bad
    assert rule.good
    assert all(example.files for example in (*rule.bad, *rule.good))


@each
def test_a_summary_is_half_a_sentence(rule: Rule) -> None:
    assert 10 < len(rule.summary) < 80
    assert rule.summary[0].islower()
    assert not rule.summary.endswith(".")


@each
def test_metadata_are_of_the_closed_sets(rule: Rule) -> None:
    assert rule.scope in SCOPES
    assert rule.severity in SEVERITIES


@each
def test_a_manual_says_what_is_found_and_how_to_fix_it(rule: Rule) -> None:
    first, *paragraphs = rule.manual.strip().split("\n\n")
    assert first.endswith(".")
    assert "\n" not in first
    assert any(paragraph.startswith("How to fix it: ") for paragraph in paragraphs)
    assert len(rule.manual) > 300


@each
def test_a_code_is_not_read_as_a_batch_size(rule: Rule) -> None:
    assert is_rule_code("GBS", rule.code.removeprefix("GBS"))
