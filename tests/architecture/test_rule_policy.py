"""What becomes of a rule's findings is said by the rule itself: its code stands in `rules` alone, others are named, and exist."""

import re
from pathlib import Path

import pytest

import pytest_gbs
from pytest_gbs.frameworks import feasible, tables
from pytest_gbs.history import diff as differences
from pytest_gbs.model.rule import About, Rule
from pytest_gbs.rules import gbs204_unsatisfiable_batch, manuals, named, rules

PACKAGE = Path(pytest_gbs.__file__).parent
ELSEWHERE = sorted(path for path in PACKAGE.rglob("*") if path.suffix in {".py", ".toml"} and path.relative_to(PACKAGE).parts[0] != "rules")
NAMES = {rule.name for rule in rules()}

each = pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)


@pytest.mark.parametrize("path", ELSEWHERE, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_rule_is_numbered_outside_its_folder(path: Path) -> None:
    found = [line for line in path.read_text(encoding="utf-8").splitlines() if re.search(r"GBS[0-9]{3}", line)]
    assert found == []


@each
def test_the_rules_that_a_rule_names_exist(rule: Rule) -> None:
    assert {*rule.explained_by, *filter(None, [rule.decided_by])} <= NAMES


@pytest.mark.parametrize("framework", tables(), ids=lambda framework: framework.title)
def test_the_rules_that_a_table_names_exist(framework: pytest_gbs.model.framework.Framework) -> None:
    assert {constraint.rule for constraint in framework.constraints} <= NAMES


def test_the_rules_that_others_name_exist() -> None:
    compared = {differences._PRODUCT, differences._FACTOR, differences._OPEN}
    assert {feasible._NOWHERE, *compared, *gbs204_unsatisfiable_batch._STANDS_FOR} <= NAMES


def test_the_rules_that_are_asked_for_by_name_exist() -> None:
    asked = re.compile(r'\b(?:named|rule)\("([a-z-]+)"\)')
    assert {name for path in ELSEWHERE for name in asked.findall(path.read_text(encoding="utf-8"))} <= NAMES


def test_a_rule_is_found_by_its_name() -> None:
    assert [named(rule.name) for rule in rules()] == list(rules())
    with pytest.raises(KeyError):
        named("no-such-rule")


@each
def test_policy_is_of_the_closed_sets(rule: Rule) -> None:
    assert rule.about in {"", About.HARDWARE, About.VALUE}
    assert rule.name not in rule.explained_by


def test_one_rule_is_about_unclaimed_recipes() -> None:
    assert [rule.name for rule in rules() if rule.of_unclaimed] == ["missing-declaration"]


def test_the_rule_that_stands_for_others_is_what_explains_them() -> None:
    stands_for = gbs204_unsatisfiable_batch._STANDS_FOR
    assert all("unsatisfiable-batch" in rule.explained_by for rule in manuals() if rule.name in stands_for)
