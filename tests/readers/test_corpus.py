"""Every real configuration reads as PyYAML's pure-Python loader and Python's json read it, comments included."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from pytest_gbs.files.decode import decode
from pytest_gbs.model.document import Alias, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from tests.readers.reference import load, same, to_python
from tests.support import corpus

# The corpus in parts of about equal size, so that workers share it.
PARTS = 6

# A tag that `yaml.safe_load` stops at and whose node says nothing about a batch; we keep it as an opaque node.
OPAQUE = "could not determine a constructor for the tag"


def sources(part: int, *suffixes: str) -> Iterator[Source]:
    """Yield each file of a part of the corpus as text."""
    root = corpus()
    paths = sorted(path for path in root.rglob("*") if path.suffix in suffixes and path.is_file())
    assert paths
    for path in paths[part::PARTS]:
        source = decode(str(path.relative_to(root)), Path(path).read_bytes())
        assert isinstance(source, Source), source
        yield source


def comment_lines(found: tuple[Document | Unreadable, ...]) -> list[tuple[int, str]]:
    """The text of each comment line, with its offset in the file."""
    blocks = [block for document in found if isinstance(document, Document) for block in document.comments]
    return [(place, line) for block in blocks for (_, place), line in zip(block.pieces, block.text.split("\n"), strict=True)]


def expected_lines(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """The same of the comments at `spans` of `text`."""
    lines = []
    for start, stop in spans:
        raw = text[start:stop].rstrip()
        line = raw.lstrip("#").lstrip()
        lines.append((start + len(raw) - len(line), line))
    return lines


def scalars(node: Node | None) -> Iterator[Scalar]:
    """Yield every scalar under `node`, aliases not followed."""
    if isinstance(node, Scalar):
        yield node
    for child in node.items if isinstance(node, Sequence) else ():
        yield from scalars(child)
    for key, value in node.entries if isinstance(node, Mapping) else ():
        yield from scalars(key)
        yield from scalars(value)


def check_spans(document: Document) -> None:
    """Assert that what stands at each span is the scalar, with its quotes and nothing more."""
    text = document.source.text
    for scalar in scalars(document.root):
        span = text[scalar.start : scalar.stop]
        assert span == span.strip()
        if scalar.plain:
            assert " ".join(span.split()) == " ".join(scalar.text.split())
        elif document.syntax == "json" or span[0] in "'\"":
            assert span[0] == span[-1]
            assert len(span) >= 2
        else:
            assert span[0] in "|>"


def check_index(document: Document) -> None:
    """Assert that each indexed value is the one that its path leads to in the loaded document."""
    loaded = to_python(document)
    for path, (_, value) in document.keyed.items():
        expected = loaded
        for key in path:
            expected = next(inner for name, inner in expected.items() if name == key or str(name) == key or _text(name) == key)
        target = value.target if isinstance(value, Alias) else value
        assert same(to_python(document._replace(root=target)), expected)


def _text(key: object) -> str:
    return {True: "on", False: "off", None: ""}.get(key, str(key)) if key is None or isinstance(key, bool) else str(key)


@pytest.mark.parametrize("part", range(PARTS))
def test_yaml_reads_as_safe_load_reads_it(part: int) -> None:
    for source in sources(part, ".yaml", ".yml"):
        found = read(source)
        try:
            expected, comments = load(source.text)
        except yaml.YAMLError as error:
            assert isinstance(found[-1], Unreadable) or OPAQUE in str(error), (source.path, error)
            continue
        documents = [each for each in found if isinstance(each, Document)]
        assert len(documents) == len(found), (source.path, found[-1])
        assert same([to_python(document) for document in documents], expected or [None]), source.path
        assert comment_lines(found) == expected_lines(source.text, comments), source.path
        for document in documents:
            check_spans(document)
            check_index(document)


@pytest.mark.parametrize("part", range(PARTS))
def test_json_reads_as_json_reads_it(part: int) -> None:
    for source in sources(part, ".json"):
        (found,) = read(source)
        try:
            expected = json.loads(source.text)
        except json.JSONDecodeError as error:
            if isinstance(found, Document):  # hjson
                assert any(key in source.text for key in ("zero_optimization", "train_batch_size")), source.path
                continue
            assert found.offset == error.pos
            continue
        assert isinstance(found, Document), (source.path, found)
        assert same(to_python(found), expected), source.path
        check_spans(found)
        check_index(found)
