"""The lines of source that a finding is about, every place underlined and named; distant lines folded away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._paint import DIM, SECOND, Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._width import width
from pytest_gbs.model.location import Lines, Location
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.record import NamedTuple

_ROOM: Final = 100  # columns of source at most
_LEAST: Final = 40  # columns of source that even a narrow terminal gets
_LONGEST: Final = 40  # signs of one place that are shown in a line that must be cut
_NUMBERS: Final = 7  # columns of the line numbers


class Mark(NamedTuple):
    """A place in one line: columns from 0, its label, and whether it is what the finding is about."""

    start: int
    stop: int
    label: str
    style: str
    first: bool


def excerpt(finding: Finding, places: Places, paint: Paint) -> Iterator[str]:
    """Yield the lines of source that `finding` is about, those of other files below their paths."""
    columns = places.options.columns
    room = min(_ROOM, max(_LEAST, columns - _NUMBERS - 4)) if columns else _ROOM
    for path, marked in _marked(finding, places).items():
        lines = places.lines(path)
        if lines is None:
            continue
        if path != finding.at.source:
            yield f"     {paint(escape(places.path(path)), DIM)}"
        for number in sorted(marked):
            yield from _window(lines.line(number), number, marked[number], paint, room)


def _marked(finding: Finding, places: Places) -> dict[str, dict[int, list[Mark]]]:
    """The places to mark, by file and line; the finding's own file first."""
    labels: dict[Location, list[str]] = {finding.at: [finding.label]}
    for related in finding.related:
        labels.setdefault(related.at, []).append(related.label)
    found: dict[str, dict[int, list[Mark]]] = {}
    for location, words in labels.items():
        lines = places.lines(location.source)
        if lines is None or location.start >= location.stop:
            continue
        first = location == finding.at
        line, mark = _mark(location, lines, ", ".join(filter(None, dict.fromkeys(words))), finding.severity if first else SECOND, first)
        found.setdefault(location.source, {}).setdefault(line, []).append(mark)
    return found


def _mark(location: Location, lines: Lines, label: str, style: str, first: bool) -> tuple[int, Mark]:
    """The line of `location` and its mark there; a place of several lines is marked in its first."""
    position = lines.position(location)
    stop = position.end_column - 1 if position.end_line == position.line else len(lines.line(position.line))
    return position.line, Mark(position.column - 1, max(stop, position.column), escape(label), style, first)


def _window(text: str, number: int, marks: list[Mark], paint: Paint, room: int) -> Iterator[str]:
    """Yield one line of source and what is written below it."""
    shown, columns = _shown(text, marks, paint, room)
    yield f"{paint(f'{number:>{_NUMBERS}} {paint.bar}', DIM)} {shown}".rstrip()
    for row in _rows(sorted(marks), columns, paint):
        yield f"{paint(' ' * _NUMBERS + f' {paint.bar}', DIM)} {row}".rstrip()


def _shown(text: str, marks: list[Mark], paint: Paint, room: int) -> tuple[str, dict[int, int]]:
    """A line of source as printed, and the column in it of each of its signs that is shown."""
    parts: list[str] = []
    columns: dict[int, int] = {}
    column, at = 0, 0
    for start, stop in [*_kept(text, marks, room), (len(text), len(text))]:
        if start > at:
            parts.append(paint.cut)
            column += len(paint.cut)
        for offset in range(start, stop):
            sign = "    " if text[offset] == "\t" else escape(text[offset])
            columns[offset] = column
            column += width(sign)
            parts.append(sign)
        columns[stop] = column
        at = stop
    return "".join(parts), columns


def _kept(text: str, marks: list[Mark], room: int) -> list[tuple[int, int]]:
    """The parts of a line that are shown: all of it, or the surroundings of each mark."""
    if len(text) <= room:
        return [(0, len(text))]
    spans = sorted((mark.start, min(mark.stop, mark.start + _LONGEST)) for mark in marks)
    around = max(8, (room - sum(stop - start for start, stop in spans)) // (2 * len(spans)))
    kept: list[tuple[int, int]] = []
    for start, stop in spans:
        low, high = max(0, start - around), min(len(text), stop + around)
        if kept and low <= kept[-1][1]:
            kept[-1] = (kept[-1][0], max(kept[-1][1], high))
        else:
            kept.append((low, high))
    return kept


def _rows(marks: list[Mark], columns: dict[int, int], paint: Paint) -> Iterator[str]:
    """Yield the underlines of one line with the labels that fit beside them, then the other labels, each below its mark."""
    last = max(columns.values())
    spans = [(columns.get(mark.start, last), columns.get(mark.stop, last), mark) for mark in marks]
    row, below = _Row(paint), []
    for index, (start, stop, mark) in enumerate(spans):
        room = spans[index + 1][0] - stop if index + 1 < len(spans) else _ROOM * 4
        row.write(start, (paint.first if mark.first else paint.second) * max(1, stop - start), mark.style)
        if mark.label and width(mark.label) + 3 <= room:
            row.write(max(stop, start + 1) + 1, mark.label, mark.style)
        elif mark.label:
            below.append((start, mark))
    yield row.text
    for start, mark in reversed(below):
        row = _Row(paint)
        row.write(start, mark.label, mark.style)
        yield row.text


class _Row:
    """A line that is written from left to right at given columns; what would overlap is cut."""

    def __init__(self, paint: Paint) -> None:
        self.paint, self.text, self.column = paint, "", 0

    def write(self, column: int, text: str, style: str) -> None:
        text = text[max(0, self.column - column) :]
        if text:
            column = max(column, self.column)
            self.text += " " * (column - self.column) + self.paint(text, style)
            self.column = column + width(text)
