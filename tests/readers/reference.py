"""PyYAML's own scanner and constructor, written down as what our reader is compared with."""

from typing import Any

import yaml

from pytest_gbs.model.document import Alias, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.readers.index import is_merge
from pytest_gbs.readers.scalar import resolve

TIMESTAMP = "tag:yaml.org,2002:timestamp"


class Reference(yaml.SafeLoader):
    """`yaml.safe_load` that notes each comment it skips, leaves dates as text, and builds unknown tags as if they were not there."""

    comments: list[tuple[int, int]]

    def scan_to_next_token(self) -> None:
        if self.index == 0 and self.peek() == "\ufeff":
            self.forward()
        found = False
        while not found:
            while self.peek() == " ":
                self.forward()
            self.note_comment()
            if self.scan_line_break():  # type: ignore[no-untyped-call]
                if not self.flow_level:
                    self.allow_simple_key = True
            else:
                found = True

    def scan_block_scalar_ignored_line(self, start_mark: Any) -> None:
        while self.peek() == " ":
            self.forward()
        self.note_comment()
        super().scan_block_scalar_ignored_line(start_mark)

    def scan_directive_ignored_line(self, start_mark: Any) -> None:
        while self.peek() == " ":
            self.forward()
        self.note_comment()
        super().scan_directive_ignored_line(start_mark)

    def note_comment(self) -> None:
        if self.peek() != "#":
            return
        start = self.index
        while self.peek() not in "\0\r\n\x85\u2028\u2029":
            self.forward()
        self.comments.append((start, self.index))

    def construct_untagged(self, suffix: str, node: Any) -> Any:
        if isinstance(node, yaml.MappingNode):
            return self.construct_mapping(node, deep=True)
        if isinstance(node, yaml.SequenceNode):
            return self.construct_sequence(node, deep=True)
        return self.construct_scalar(node)


Reference.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Reference.add_multi_constructor("!", Reference.construct_untagged)


def load(text: str) -> tuple[list[Any], list[tuple[int, int]]]:
    """The documents of `text` and the spans of its comments, as PyYAML reads them."""
    loader = Reference(text)
    loader.comments = []
    documents = []
    while loader.check_data():  # type: ignore[no-untyped-call]
        documents.append(loader.get_data())
    return documents, loader.comments


def to_python(document: Document) -> Any:
    """`document` as the plain value that a loader would make of it."""
    return _value(document.root, document)


def _value(node: Node | None, document: Document) -> Any:
    if node is None:
        return None
    if isinstance(node, Alias):
        return _value(node.target, document)
    if isinstance(node, Scalar):
        return resolve(node, "json" if document.syntax == "json" else "pyyaml")
    if isinstance(node, Sequence):
        return [_value(item, document) for item in node.items]
    merged: dict[Any, Any] = {}
    own: dict[Any, Any] = {}
    for key, value in node.entries:
        if is_merge(key):
            _merge(merged, value, document)
        else:
            own[_value(key, document)] = _value(value, document)
    return merged | own


def _merge(into: dict[Any, Any], value: Node, document: Document) -> None:
    target = value.target if isinstance(value, Alias) else value
    if isinstance(target, Mapping):
        into.update(_value(target, document))
    elif isinstance(target, Sequence):
        for item in reversed(target.items):
            into.update(_value(item, document))


def same(one: Any, other: Any) -> bool:
    """Whether two loaded values are equal, of equal types, in equal order; not-a-number equals itself."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)  # noqa: PLR0124 - not a number
