from pytest_gbs.cli.rules import FAMILIES
from pytest_gbs.rules import manuals
from tools.generate_docs import outdated, pages


def test_the_pages_are_up_to_date() -> None:
    assert outdated() == [], "run python -m tools.generate_docs"


def test_every_rule_has_a_page_and_a_family() -> None:
    assert {name for name in pages() if name.startswith("rules/")} == {f"rules/{rule.code.lower()}.md" for rule in manuals()}
    assert {rule.code[3] for rule in manuals()} == set(FAMILIES)
