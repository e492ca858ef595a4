"""Positions as the protocol counts them, and the places that a check found: between code points and the units of a client."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from json import dumps

from lsprotocol import types

from pytest_gbs.model.location import Lines
from pytest_gbs.model.record import Final, NamedTuple

# The JSON of a notebook around the text of its cells, as the reader of notebooks wants it.
_HEAD, _BETWEEN, _FOOT = '{"cells": [', ", ", '], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'


class ShownPart(NamedTuple):
    """What a client shows as one text: a file, or a cell of a notebook, whose first character is at `start` of the file.

    `places` has, for a cell, where each of its characters and its end is in the file: there they may be written as escapes.
    """

    uri: str
    lines: Lines
    start: int
    stop: int
    places: array[int] | None = None

    def outer(self, offset: int) -> int:
        """Where the character at `offset` of this text is in the file."""
        return self.start + offset if self.places is None else self.places[min(offset, len(self.places) - 1)]

    def inner(self, offset: int) -> int:
        """Where the character at `offset` of the file is in this text."""
        if self.places is None:
            return offset - self.start
        return min(bisect_right(self.places, offset), len(self.places)) - 1 if offset < self.stop else len(self.places) - 1


class PositionMap:
    """A file as a client shows it: in one text, or in the cells of a notebook; `encoding` says what a column counts.

    Lines break at LF, CRLF and CR, for the protocol and for us; a column counts units of UTF-16, unless both sides agreed on others.
    """

    def __init__(self, parts: Iterable[ShownPart], encoding: str) -> None:
        self.parts = tuple(parts)
        self._unit = _UNITS[encoding]

    def part_at(self, offset: int) -> ShownPart | None:
        """The text that shows the character at `offset` of the file; None if none does."""
        return next((part for part in self.parts if part.start <= offset <= part.stop), None)

    def position(self, part: ShownPart, inner: int) -> types.Position:
        """The position of the character at offset `inner` of `part`."""
        lines = part.lines
        inner = max(0, min(inner, len(lines.text)))
        number = lines.line_of(inner)
        return types.Position(number - 1, self._width(lines.text[lines.starts[number - 1] : inner]))

    def offset(self, uri: str, position: types.Position) -> int | None:
        """The offset in the file of a position in the text `uri`, which may lie beyond the end of its line; None if it isn't shown here."""
        part = next((part for part in self.parts if part.uri == uri), None)
        if part is None:
            return None
        lines = part.lines
        if position.line >= len(lines.starts):
            return part.outer(len(lines.text))
        text = lines.line(position.line + 1)
        ends = list(accumulate(map(self._unit, text)))
        within = bisect_left(ends, position.character + 1) if position.character > 0 else 0
        return part.outer(lines.starts[position.line] + min(within, len(text)))

    def range(self, start: int, stop: int) -> tuple[str, types.Range] | None:
        """The text that shows the characters `start` to `stop` of the file, and their range in it; None if none does."""
        part = self.part_at(start)
        if part is None:
            return None
        first, last = part.inner(start), part.inner(min(max(start, stop), part.stop))
        return part.uri, types.Range(self.position(part, first), self.position(part, last))

    def text(self, start: int, stop: int) -> str:
        """The characters `start` to `stop` of the file, as the client shows them."""
        part = self.part_at(start)
        return part.lines.text[part.inner(start) : part.inner(min(stop, part.stop))] if part is not None else ""

    def end_of_line(self, offset: int) -> tuple[str, types.Position] | None:
        """The text that shows the character at `offset`, and where its line ends there."""
        part = self.part_at(offset)
        if part is None:
            return None
        number = part.lines.line_of(part.inner(offset))
        return part.uri, types.Position(number - 1, self._width(part.lines.line(number)))

    def _width(self, text: str) -> int:
        """How many units `text` takes; all but a few texts take one for each character."""
        return len(text) if text.isascii() else sum(map(self._unit, text))


# How many units of each encoding a character takes.
_UNITS: Final[dict[str, Callable[[str], int]]] = {
    "utf-8": lambda sign: len(sign.encode("utf-8", "surrogatepass")),
    "utf-16": lambda sign: 2 if ord(sign) > 0xFFFF else 1,
    "utf-32": len,
}


def file_positions(uri: str, text: str, encoding: str) -> PositionMap:
    """A file that a client shows as it is."""
    return PositionMap((ShownPart(uri, Lines(text), 0, len(text)),), encoding)


class Cell(NamedTuple):
    """A cell of a notebook as a client has it."""

    uri: str
    code: bool
    text: str


def notebook_positions(cells: Iterable[Cell], encoding: str) -> tuple[str, PositionMap]:
    """The text of a notebook with `cells` as a file has it, and how the client shows it."""
    pieces, parts, length = [_HEAD], [], len(_HEAD)
    for number, cell in enumerate(cells):
        kind = "code" if cell.code else "markdown"
        before = f'{_BETWEEN if number else ""}{{"cell_type": "{kind}", "metadata": {{}}, "outputs": [], "source": "'
        escaped = list(_escaped(cell.text))
        places = array("L", accumulate(map(len, escaped), initial=length + len(before)))
        pieces += (before, *escaped, '"}')
        parts.append(ShownPart(cell.uri, Lines(cell.text), places[0], places[-1], places))
        length = places[-1] + 2
    return "".join((*pieces, _FOOT)), PositionMap(parts, encoding)


def _escaped(text: str) -> Iterator[str]:
    """Yield each character as JSON writes it."""
    for sign in text:
        yield sign if sign.isalnum() else dumps(sign, ensure_ascii=False)[1:-1]
