"""The comments of a YAML document as blocks of text, each with the key that it belongs to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter
from typing import Final, TypeAlias

from pytest_gbs.core.document import CommentBlock, Mapping, Node, Scalar, Sequence
from pytest_gbs.core.location import KeyPath
from pytest_gbs.parsing.index import Entry

Spans: TypeAlias = list[tuple[int, int]]

HEADER: Final = "header"
ABOVE: Final = "above"
TRAILING: Final = "trailing"
END: Final = "end"

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


class Owners:
    """The entries of a document in the order of their keys, to tell which of them a comment belongs to."""

    __slots__ = ("paths", "root", "starts", "values")

    def __init__(self, entries: Iterable[tuple[KeyPath, Entry]], root: Node | None) -> None:
        ordered = sorted(entries, key=_start_of_key)
        self.starts = list(map(_start_of_key, ordered))
        self.paths = [path for path, _ in ordered]
        self.values = [entry[1] for _, entry in ordered]
        self.root = root

    def of_trailing(self, place: int) -> tuple[KeyPath | None, str]:
        """Return the owner and placement of a comment that starts at `place`, behind something else on its line."""
        number = bisect_right(self.starts, place)
        if number:
            return self.paths[number - 1], TRAILING
        return None, HEADER if self.root is None or place < self.root.start else TRAILING

    def of_own_line(self, place: int) -> tuple[KeyPath | None, str]:
        """Return the owner and placement of a block that starts at `place`, on lines of its own.

        A block between the items of a sequence belongs to the key of the sequence.
        """
        number = bisect_right(self.starts, place)
        if not number:
            return self._of_keyless(place)
        value = self.values[number - 1]
        follows = number < len(self.starts)
        if place < value.stop and not (follows and self.starts[number] < value.stop):
            return self.paths[number - 1], ABOVE
        return (self.paths[number], ABOVE) if follows else (None, END)

    def _of_keyless(self, place: int) -> tuple[KeyPath | None, str]:
        if self.starts or self.root is None or place < self.root.start:
            return None, HEADER
        return None, ABOVE if place < self.root.stop else END


def _start_of_key(item: tuple[KeyPath, Entry]) -> int:
    return item[1][0].start


def read_comments(flat: str, spans: Spans, owners: Owners) -> tuple[CommentBlock, ...]:
    """Return the comments at `spans` as blocks with their owners.

    Comments on lines of their own that follow each other make one block. A comment behind something starts a block that
    goes on in the lines below it while they have their sign in the same column.
    """
    blocks: list[CommentBlock] = []
    lines: list[str] = []
    pieces: list[tuple[int, int]] = []
    begun, trailing, length, expected, column = 0, False, 0, -1, -1

    def close() -> None:
        owner, placement = owners.of_trailing(begun) if trailing else owners.of_own_line(begun)
        blocks.append(CommentBlock("\n".join(lines), tuple(pieces), owner, placement))

    for place, end in spans:
        line = flat.rfind("\n", 0, place) + 1
        lead = flat[line:place]
        own = not lead or lead.isspace()
        raw = flat[place:end].rstrip()
        text = raw.lstrip("#").lstrip()
        if not (own and line == expected and (not trailing or place - line == column)):
            if lines:
                close()
            lines, pieces = [], []
            begun, trailing, length, column = place, not own, 0, place - line
        lines.append(text)
        pieces.append((length, place + len(raw) - len(text)))
        length += len(text) + 1
        expected = end + 1
    close()
    return tuple(blocks)
