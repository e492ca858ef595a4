from __future__ import annotations

from pytest_gbs.formats._markdown import cell
from pytest_gbs.frameworks import tables
from pytest_gbs.launches.programs import launchers
from pytest_gbs.rules import manuals
from tools.generate_docs import FAMILIES, index, outdated, pages


def test_the_pages_are_up_to_date() -> None:
    assert outdated() == [], "run python -m tools.generate_docs"


def test_every_rule_has_a_page_and_a_place_in_the_list() -> None:
    listed = index()
    for rule in manuals():
        assert f"rules/{rule.code.lower()}.md" in pages()
        assert f"[{rule.code}]({rule.code.lower()}.md)" in listed
        assert rule.code[3] in FAMILIES


def test_every_table_stands_on_the_page_of_the_frameworks() -> None:
    told = pages()["frameworks.md"]
    assert [each.title for each in tables() if f"| {cell(each.title)} |" not in told] == []
    assert [each.name for each in launchers() if f"| {cell(each.name)} |" not in told] == []
