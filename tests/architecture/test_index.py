"""What is written down of plug-ins is what they say themselves, and where it is not, they are asked."""

from __future__ import annotations

import pytest

from pytest_gbs.core.plugins import index_of, sizes_of
from pytest_gbs.core.rule import Rule
from pytest_gbs.rules import manuals, rules
from tools.generate_index import indices


@pytest.mark.parametrize(("path", "text"), list(indices()), ids=lambda each: getattr(getattr(each, "parent", None), "name", ""))
def test_the_index_is_up_to_date(path: object, text: str) -> None:
    assert path.read_text(encoding="utf-8") == text, "run python -m tools.generate_index"  # type: ignore[attr-defined]


def test_an_index_of_other_files_is_not_believed() -> None:
    import pytest_gbs.rules

    search = list(pytest_gbs.rules.__path__)
    assert index_of("pytest_gbs.rules", search) is not None
    assert index_of("pytest_gbs.rules", [*search, *pytest_gbs.__path__]) is None
    assert "_index.py" not in sizes_of(search)


def test_rules_are_the_same_with_and_without_their_manuals() -> None:
    def told(rule: Rule) -> tuple[object, ...]:
        return (*rule[:4], *rule[7:11])

    assert [told(rule) for rule in rules()] == [told(rule) for rule in manuals()]
