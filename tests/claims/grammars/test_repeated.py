"""A comment that many recipes repeat states the same in each of them, at its own place."""

import pytest

from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.model.document import CommentBlock, Document
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read

_SPREAD = "# effective batch size of\n# 128 on 8 nodes x 8 GPUs.\n# GBS = 8 * 8 * 1 * 2 = 128\n"
_RECIPES = {
    "first.yaml": f"{_SPREAD}a: 1\n",
    "below.yaml": f"x: 1\n\n{_SPREAD}a: 1\n",
    "within.yaml": "x:\n" + "".join(f"    {line}\n" for line in _SPREAD.splitlines()) + "    a: 1\n",
}


def _blocks(path: str, text: str) -> tuple[CommentBlock, ...]:
    (document,) = read(Source(path, text))
    assert isinstance(document, Document)
    return document.comments


@pytest.mark.parametrize("order", [list(_RECIPES), list(reversed(_RECIPES))], ids=["forwards", "backwards"])
def test_each_place_is_that_of_its_own_file(order: list[str]) -> None:
    reported = set()
    for path in order:
        text = _RECIPES[path]
        found = read_declarations(_blocks(path, text), path)
        assert [each for each in found if each.sum is not None]
        reported.add(tuple((each.name, each.value, each.conditions, each.text) for each in found))
        for each in found:
            assert each.at.source == path
            assert text[each.at.start : each.at.stop] == str(each.value)
            for (_, value), at in zip(each.conditions, each.condition_places, strict=True):
                assert (at.source, text[at.start : at.stop]) == (path, str(value))
            if each.sum is not None:
                assert text[each.sum.at.start : each.sum.at.stop] == "8 * 8 * 1 * 2"
                assert [text[factor.at.start : factor.at.stop] for factor in each.sum.factors] == ["8", "8", "1", "2"]
    assert len(reported) == 1


def test_a_comment_too_long_to_remember_is_read_all_the_same() -> None:
    text = f"# GBS 128 on 8 nodes of 8 GPUs. {'All else is prose. ' * 200}\na: 1\n"
    found = read_declarations(_blocks("long.yaml", text), "long.yaml")
    assert [(each.value, text[each.at.start : each.at.stop]) for each in found if each.value == 128] == [(128, "128")]
