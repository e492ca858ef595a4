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


def comment_spans(flat: str, start: int, stop: int, opaque: Spans, root: Node | None) -> Spans:
    """Return the span of each comment between `start` and `stop`, from its sign to the end of its line.

    `opaque` are the spans of quoted and block scalars, ascending; no comment starts within one.
    """
    found: Spans = []
    scalars: Spans | None = None
    number, last = 0, len(opaque)
    place = flat.find("#", start, stop)
    while place >= 0:
        while number < last and opaque[number][1] <= place:
            number += 1
        if number < last and opaque[number][0] <= place:
            place = flat.find("#", opaque[number][1], stop)
            continue
        before = flat[place - 1] if place else "\n"
        if before not in " \n\t":
            if before in _TOKEN_ENDS and scalars is None:
                scalars = _scalar_spans(root)
            if before not in _TOKEN_ENDS or _within(scalars or [], place):
                place = flat.find("#", place + 1, stop)
                continue
        end = flat.find("\n", place, stop)
        if end < 0:
            end = stop
        found.append((place, end))
        place = flat.find("#", end, stop)
    return found


def _scalar_spans(root: Node | None) -> Spans:
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


def _within(spans: Spans, place: int) -> bool:
    number = bisect_right(spans, place, key=itemgetter(0)) - 1
    return number >= 0 and place < spans[number][1]


def stray_tab(flat: str, start: int, stop: int, opaque: Spans, comments: Spans) -> int | None:
    """Return the first tab that stands neither in a quoted or block scalar nor in a comment, or None.

    libyaml takes a tab after `key:` and inside a plain scalar; `yaml.safe_load`, which the frameworks call, is PyYAML's own
    scanner, and that stops at each ("found character '\\t' that cannot start any token", PyYAML 6.0.3, yaml/scanner.py).
    """
    covered = sorted(opaque + comments)
    place = flat.find("\t", start, stop)
    while place >= 0:
        number = bisect_right(covered, place, key=itemgetter(0)) - 1
        if number < 0 or covered[number][1] <= place:
            return place
        place = flat.find("\t", covered[number][1], stop)
    return None


def read_comments(flat: str, spans: Spans, owners: Owners) -> tuple[CommentBlock, ...]:
    """Return the comments at `spans` as blocks with their owners.

    Comments on lines of their own that follow each other make one block. A comment behind something starts a block that
    goes on in the lines below it while they have their sign in the same column.
    """
    blocks: list[tuple[int, bool, list[str], Spans]] = []
    own, length, next_line, column = False, 0, -1, -1
    for place, end in spans:
        line = flat.rfind("\n", 0, place) + 1
        raw = flat[place:end].rstrip()
        text = raw.lstrip("#").lstrip()
        origin = place + len(raw) - len(text)
        alone = place == line or flat[line:place].isspace()
        if alone and line == next_line and (own or place - line == column):
            lines.append(text)
            pieces.append((length, origin))
            length += len(text) + 1
        else:
            own, column, length = alone, place - line, len(text) + 1
            lines, pieces = [text], [(0, origin)]
            blocks.append((place, own, lines, pieces))
        next_line = end + 1
    found = []
    for place, own, lines, pieces in blocks:
        owner, placement = owners.of(place, own)
        found.append(_new(CommentBlock, ("\n".join(lines), tuple(pieces), owner, placement)))
    return tuple(found)
