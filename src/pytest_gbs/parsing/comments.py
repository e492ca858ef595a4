"""The comments of a YAML document as blocks of text, each with the key that it belongs to."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter
from typing import Any, Final, TypeAlias

from pytest_gbs.core.document import CommentBlock, Mapping, Node, Scalar, Sequence
from pytest_gbs.parsing.owners import Owners

Spans: TypeAlias = list[tuple[int, int]]

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes

# A `#` directly behind one of these can be a comment, if it is not part of a plain scalar; behind any other it cannot.
_TOKEN_ENDS: Final = "\"'[]{},:?|>+-0123456789"


def flatten(text: str) -> str:
    """Return `text` at the same offsets with every line break of YAML 1.1 as a line feed: a comment ends at each of them."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    if not text.isascii():
        for line_break in "\x85\u2028\u2029":
            text = text.replace(line_break, "\n")
    return text


def read_comments(flat: str, start: int, stop: int, opaque: Spans, owners: Owners) -> tuple[CommentBlock, ...]:
    """Return the comments between `start` and `stop` as blocks with their owners.

    `opaque` are the spans of quoted and block scalars, ascending: no comment starts within one. Comments on lines of their own
    that follow each other make one block. A comment behind something starts a block that goes on in the lines below it
    while they have their sign in the same column.
    """
    blocks: list[_Lines] = []
    plain: Spans | None = None
    number, last = 0, len(opaque)
    alone, length, next_line, column = False, 0, -1, -1
    find = flat.find
    place = find("#", start, stop)
    while place >= 0:
        while number < last and opaque[number][1] <= place:
            number += 1
        if number < last and opaque[number][0] <= place:
            place = find("#", opaque[number][1], stop)
            continue
        if place and flat[place - 1] not in " \n\t":
            if plain is None and flat[place - 1] in _TOKEN_ENDS:
                plain = plain_spans(owners.root)
            if flat[place - 1] not in _TOKEN_ENDS or within(plain or [], place):
                place = find("#", place + 1, stop)
                continue
        end = find("\n", place, stop)
        if end < 0:
            end = stop
        raw = flat[place:end].rstrip()
        text = raw.lstrip("#").lstrip()
        origin = place + len(raw) - len(text)
        line = flat.rfind("\n", 0, place) + 1
        own = place == line or flat[line:place].isspace()
        if own and line == next_line and (alone or place - line == column):
            lines.append(text)
            pieces.append((length, origin))
            length += len(text) + 1
        else:
            alone, column, length = own, place - line, len(text) + 1
            lines, pieces = [text], [(0, origin)]
            blocks.append((place, own, lines, pieces))
        next_line = end + 1
        place = find("#", next_line, stop)
    found = []
    for place, own, lines, pieces in blocks:
        owner, placement = owners.of(place, own)
        found.append(_new(CommentBlock, ("\n".join(lines), tuple(pieces), owner, placement)))
    return tuple(found)


def plain_spans(root: Node | None) -> Spans:
    """Return the spans of all plain scalars under `root`, ascending."""
    found: Spans = []
    pending = [root]
    while pending:
        node = pending.pop()
        if type(node) is Scalar and node.plain:
            found.append((node.start, node.stop))
        elif type(node) is Sequence:
            pending.extend(node.items)
        elif type(node) is Mapping:
            for entry in node.entries:
                pending.extend(entry)
    return sorted(found)


def within(spans: Spans, place: int) -> bool:
    number = bisect_right(spans, place, key=itemgetter(0)) - 1
    return number >= 0 and place < spans[number][1]
