"""A script in double quotes that ends too early for bash, at a quote inside it that is not escaped: its text up to the last quote."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part
from pytest_gbs.shell.text import ShellText

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_QUOTES: Final = 200


def unescaped_quotes(string: str, place: int, stop: int) -> list[int]:
    """The offsets of the double quotes between two offsets, without escaped ones and those in `$(...)`; none if there are too many."""
    found: list[int] = []
    while place < stop and len(found) <= _MOST_QUOTES:
        if string[place] == '"':
            found.append(place)
        elif string[place] == "\\":
            place += 1
        elif string.startswith("$(", place):
            place = closing(string, place + 1, stop)
            continue
        place += 1
    return found if len(found) <= _MOST_QUOTES else []


def closing(string: str, place: int, stop: int) -> int:
    """The offset behind the bracket that closes the one at `place`, `stop` at most."""
    depth = 0
    while place < stop:
        depth += (string[place] == "(") - (string[place] == ")")
        place += 1
        if not depth:
            break
    return place


def with_escaped_quotes(text: ShellText, quotes: list[int]) -> ShellText:
    """The text from the first to the last of `quotes`, those between them escaped."""
    found: list[Part] = []
    for first, second in pairwise(quotes):
        at = text.location(second, second + 1)
        found += [*text.slice(first + (first != quotes[0]), second), Part('"' if second == quotes[-1] else '\\"', at, at)]
    return ShellText(tuple(found))


def only_string(root: Node) -> Node | None:
    """The text in double quotes that a tree consists of; None if there is anything else."""
    node = root
    while node.type in ("program", "command", "command_name") and node.child_count == 1:
        node = node.children[0]
    return node if node.type == "string" and not root.has_error else None
