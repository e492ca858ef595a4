"""What the page calls in the Python of a browser: `answer`; and the grammar of shell scripts, which a browser has in JavaScript."""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate
from types import ModuleType
from typing import Any, NamedTuple

import pytest_gbs
from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.model.documentation import page_of
from pytest_gbs.model.errors import GbsError


def answer(asked: str) -> str:
    """The equations and findings of the texts that the page holds; both are JSON."""
    given = json.loads(asked)
    try:
        found = pytest_gbs.load_texts(given["texts"], nodes=given["nodes"], gpus_per_node=given["gpus"])
    except GbsError as error:
        return json.dumps({"error": str(error)})
    recipes = [each for recipe in found.recipes.values() for each in recipe.variants if each.run is not None]
    problems = [{**problem._asdict(), "page": page_of(problem.code)} for problem in found.problems]
    return json.dumps({"headline": repr(found)[1:-1], "recipes": [_told(each) for each in recipes], "problems": problems})


def _told(recipe: Any) -> dict[str, Any]:
    """A recipe, or a launch of one, as the page shows it."""
    launch = recipe.run.launch
    command = f"{launch.command} ({_place(recipe.report, launch.at)})" if launch is not None else ""
    return {"path": recipe.path, "launch": command, "title": recipe.title, "equation": recipe.equation()}


def _place(report: Any, at: Any) -> str:
    """Where a launch stands: `train.sh:2`."""
    return Places(report, FormatOptions()).line(at, "")


class Point(NamedTuple):
    """A place in a text: its line, from 0, and the bytes before it on that line."""

    row: int
    column: int


class Node:
    """A node of a syntax tree with what pytest_gbs asks of one of `tree_sitter`."""

    __slots__ = ("_fields", "_source", "children", "end_byte", "has_error", "id", "is_error", "is_missing", "is_named", "prev_sibling")
    __slots__ += ("start_byte", "type")  # type: ignore[assignment]

    def __init__(self, number: int, kind: str, span: tuple[int, int], flags: int, source: bytes) -> None:
        self.id, self.type, (self.start_byte, self.end_byte), self._source = number, kind, span, source
        self.is_named, self.is_missing, self.is_error, self.has_error = (bool(flags & bit) for bit in (1, 2, 4, 8))
        self.children: list[Node] = []
        self.prev_sibling: Node | None = None
        self._fields: dict[str, list[Node]] = {}

    def add(self, child: Node, field: str) -> None:
        """Put `child` behind the others, under the name of a field, "" for none."""
        child.prev_sibling = self.children[-1] if self.children else None
        self.children.append(child)
        if field:
            self._fields.setdefault(field, []).append(child)

    @property
    def child_count(self) -> int:
        """How many children there are."""
        return len(self.children)

    @property
    def start_point(self) -> Point:
        """Where it starts."""
        before = self._source[: self.start_byte]
        return Point(before.count(b"\n"), len(before) - before.rfind(b"\n") - 1)

    def children_by_field_name(self, name: str) -> list[Node]:
        """The children under a field."""
        return self._fields.get(name, [])

    def child_by_field_name(self, name: str) -> Node | None:
        """The first child under a field."""
        return next(iter(self._fields.get(name, ())), None)


class Tree(NamedTuple):
    """What a parser gives."""

    root_node: Node


_WIDTH = 7  # numbers of a node in what JavaScript gives


class Parser:
    """The parser of the page: `tree_of` gives the names of kinds and fields of the nodes of a text, and the nodes as numbers.

    Each node comes before those in it, as seven numbers: its depth, its kind, where it starts and ends in units of UTF-16, its flags, its
    field (0 for none), and a number of its own.
    """

    def __init__(self, tree_of: Callable[[str], tuple[Sequence[str], Sequence[str], Sequence[int]]]) -> None:
        self._tree_of = tree_of

    def parse(self, source: bytes | Callable[[int, object], bytes]) -> Tree:
        """The syntax tree of a text in UTF-8, which may come piece by piece."""
        data = source if isinstance(source, bytes) else _joined(source)
        text = data.decode()
        kinds, fields, numbers = self._tree_of(text)
        at = _bytes_of(text)
        above: list[Node] = []
        for place in range(0, len(numbers), _WIDTH):
            depth, kind, start, stop, flags, field, number = numbers[place : place + _WIDTH]
            node = Node(number, kinds[kind], (at(start), at(stop)), flags, data)
            del above[depth:]
            if above:
                above[-1].add(node, fields[field])
            above.append(node)
        return Tree(above[0])


def _joined(source: Callable[[int, object], bytes]) -> bytes:
    """A text that comes piece by piece, until a piece is empty."""
    data = b""
    while piece := source(len(data), None):
        data += piece
    return data


def _bytes_of(text: str) -> Callable[[int], int]:
    """From units of UTF-16, which JavaScript counts, to bytes of UTF-8."""
    if text.isascii():
        return lambda unit: unit
    units = [0, *accumulate(2 if sign > "\uffff" else 1 for sign in text)]
    places = [0, *accumulate(len(sign.encode()) for sign in text)]
    return lambda unit: places[bisect_left(units, unit)]


def install(tree_of: Callable[[str], Any]) -> None:
    """Let `import tree_sitter` find the parser of the page."""
    parser, grammar = ModuleType("tree_sitter"), ModuleType("tree_sitter_bash")
    vars(parser).update(Node=Node, Parser=lambda _: Parser(tree_of), Language=lambda _: None)
    vars(grammar).update(language=lambda: None)
    sys.modules.update({"tree_sitter": parser, "tree_sitter_bash": grammar})
