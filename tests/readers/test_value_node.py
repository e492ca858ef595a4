"""Values in lists: what all items share, and the list where they differ."""

import pytest

from pytest_gbs.model.document import Document, Mapping, Scalar, Sequence
from pytest_gbs.model.location import Source
from pytest_gbs.readers import read
from pytest_gbs.readers.value_node import value_node

BATCH = ("a", "*", "b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: [{b: 1}]", "1", id="one item"),
        pytest.param("a: [{b: 1}, {b: 1, c: 2}]", "1", id="all alike"),
        pytest.param("a: [{b: 1}, {b: 2}]", Sequence, id="they differ"),
        pytest.param("a: [{b: 1}, {b: '1'}]", Sequence, id="a number and a text"),
        pytest.param("a: [{b: 1}, {c: 1}]", Sequence, id="one has none"),
        pytest.param("a: [{b: [1]}]", Sequence, id="a list"),
        pytest.param("x: &x {b: 1}\na: [*x]", "1", id="an alias"),
        pytest.param("x: &x {b: 1}\na: [{<<: *x}]", Sequence, id="a merge key, which is not followed"),
        pytest.param("a: [{b: 1, b: 2}]", "2", id="the last of two"),
        pytest.param("a: [{c: 1}, 3, [4]]", None, id="none has one"),
        pytest.param("a: []", None, id="no item"),
        pytest.param("a: {b: 1}", None, id="no list, nor a mapping of mappings"),
        pytest.param("a: {x: {b: 1}, y: {c: 1}}", Mapping, id="a value of a mapping has none"),
        pytest.param("a: {x: {b: 1}, y: {b: 2}}", Mapping, id="values of a mapping that differ"),
        pytest.param("a: {x: {b: 1}, y: {b: 1}}", "1", id="values of a mapping"),
        pytest.param("a: {'*': {b: 1}}", "1", id="a key of that name"),
    ],
)
def test_a_star_is_each_item(text: str, expected: object) -> None:
    (document,) = read(Source("a.yaml", text))
    assert isinstance(document, Document)
    node = value_node(document, BATCH)
    assert (node.text if isinstance(node, Scalar) else node if node is None else type(node)) == expected


def test_lists_in_lists_are_followed() -> None:
    (document,) = read(Source("a.yaml", "a: [{c: [{b: 3}, {b: 3}]}, {c: [{b: 3}]}]\n"))
    assert isinstance(document, Document)
    node = value_node(document, ("a", "*", "c", "*", "b"))
    assert isinstance(node, Scalar)
    assert node.text == "3"
