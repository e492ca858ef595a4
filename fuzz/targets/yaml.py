"""YAML: any bytes give values or a reason, and what is read has the shape and the texts that PyYAML's C parser gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from fuzz.seeds import texts
from fuzz.target import Target, source
from pytest_gbs.model.document import Alias, Document, Node, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read


def _theirs(node: Any, seen: set[int]) -> Any:
    if id(node) in seen:
        return "alias"
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return node.value, not node.style
    if isinstance(node, yaml.SequenceNode):
        return [_theirs(item, seen) for item in node.value]
    return [(_theirs(key, seen), _theirs(value, seen)) for key, value in node.value]


def _ours(node: Node | None) -> Any:
    if node is None or isinstance(node, Alias):
        return "alias"
    if isinstance(node, Scalar):
        return node.text, node.plain
    if isinstance(node, Sequence):
        return [_ours(item) for item in node.items]
    return [(_ours(key), _ours(value)) for key, value in node.entries]


def _run(data: bytes) -> None:
    text = source("a.yaml", data)
    if isinstance(text, Unreadable):
        return
    found = read(text)
    if found and isinstance(found[-1], Unreadable):
        offset = found[-1].offset
        assert offset is not None
        assert 0 <= offset <= len(text.text)
        return
    _spans(text, [each for each in found if isinstance(each, Document)])
    theirs = [_theirs(node, set()) for node in yaml.compose_all(text.text, yaml.CSafeLoader)]
    assert [_ours(each.root) for each in found if isinstance(each, Document) and each.root is not None] == theirs


def _spans(text: Source, found: list[Document]) -> None:
    for document in found:
        for key, value in document.keyed.values():
            for at in (key, value):
                assert 0 <= at.start <= at.stop <= len(text.text)


def _seeds() -> Iterator[bytes]:
    for text in texts(".yaml", ".yml"):
        yield text.encode()
    yield b"a: &x {b: [1, 'two', \"3\\n\"]}\n<<: *x\n? k\n: |\n  text # no\n--- !t\n- ~\n...\n"


TARGET = Target(
    _run, _seeds, ("<<: *a", "&a ", "*a", "!!python/name:os.system", "---\n", "...\n", "|\n", ">-\n", "? ", "%YAML 1.1\n", "\\x41")
)
