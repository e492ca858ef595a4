from __future__ import annotations

from pytest_gbs.rules import manuals
from tools.generate_docs import FAMILIES, index, outdated, pages


def test_the_pages_of_the_rules_are_up_to_date() -> None:
    assert outdated() == [], "run python -m tools.generate_docs"


def test_every_rule_has_a_page_and_a_place_in_the_list() -> None:
    listed = index()
    for rule in manuals():
        assert f"{rule.code.lower()}.md" in pages()
        assert f"[{rule.code}]({rule.code.lower()}.md)" in listed
        assert rule.code[3] in FAMILIES
