"""Generated texts read as PyYAML's pure-Python scanner, parser and composer read them."""

from typing import Any

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pytest_gbs.model.document import Alias, Document, Node, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from tests.readers.reference import Reference
from tests.readers.test_corpus import comment_lines, expected_lines

# Where libyaml is stricter than PyYAML's own parser, with texts that no recipe holds.
STRICTER = (
    "found unknown directive name in a directive",
    "found unexpected ':' in a plain scalar",
    "found a tab character where an indentation space is expected in a block scalar",
    "expected ',' or ']' in a flow sequence",
    "expected ',' or '}' in a flow mapping",
)
# Where it is laxer: `{a? }`.
LAXER = "but got '?'"

PARTS = [
    *("a", "b1", "é", "8", "~", "a: 1", "k:", "- ", "? ", ": ", ",", "&x ", "*x", "!t ", "!!int ", "%"),
    *(" ", "  ", "\t", "\n", "\n  ", "\r\n", "\r", "\x85", "\u2028", "\n---\n", "..."),
    *("#", " # c", "# d", "\n# own\n", "  # e\n", "k: v # t\n     # u\n", "a#b"),
    *("'", '"', "'q # r'", '"x"', "|", ">", "|\n  t # u\n", ">-\n", "{", "}", "[", "]", '"a":', "|#"),
]


def composed(text: str) -> tuple[list[Any], list[tuple[int, int]]]:
    """The nodes of each document of `text` and the spans of its comments, as PyYAML composes them."""
    loader = Reference(text)
    loader.comments = []
    found = []
    while loader.check_node():
        found.append(_reference(loader.get_node(), set()))
    return found, loader.comments


def _reference(node: Any, seen: set[int]) -> Any:
    if id(node) in seen:
        return "alias"
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return node.value, not node.style
    if isinstance(node, yaml.SequenceNode):
        return [_reference(item, seen) for item in node.value]
    return {number: (_reference(key, seen), _reference(value, seen)) for number, (key, value) in enumerate(node.value)}


def _ours(node: Node | None) -> Any:
    if node is None or isinstance(node, Alias):
        return "alias"
    if isinstance(node, Scalar):
        return node.text, node.plain
    if isinstance(node, Sequence):
        return [_ours(item) for item in node.items]
    return {number: (_ours(key), _ours(value)) for number, (key, value) in enumerate(node.entries)}


@settings(max_examples=400, deadline=None)
@given(text=st.lists(st.sampled_from(PARTS), max_size=12).map("".join))
@example(text="\n!!int  #k:\t\u2028|\n  t # u\n")
@example(text="- |")
@example(text="#\r\n# c")
@example(text="&x a: *x\n")
@example(text="? - a\n: - b # c\n")
def test_it_reads_what_pyyaml_reads(text: str) -> None:
    found = read(Source("a.yaml", text))
    last = found[-1]
    try:
        expected, comments = composed(text)
    except yaml.YAMLError as error:
        assert isinstance(last, Unreadable) or LAXER in str(error)
        return
    if isinstance(last, Unreadable):
        assert last.reason in STRICTER
        return
    assert [_ours(document.root) for document in found if isinstance(document, Document) and document.root is not None] == expected
    assert comment_lines(found) == expected_lines(text, comments)
