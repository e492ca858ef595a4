"""The cells of a notebook, and where each character of them is in its file."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pytest_gbs.model.document import Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.json_reader import read_json

CODE: Final = "code"
MARKDOWN: Final = "markdown"
_NOT_CODE: Final = ("outputs", "metadata", "attachments")


class Cell(NamedTuple):
    """A cell: its number, counted from 1 with the cells of text, its kind, its strings of JSON, and the span of it all in the file."""

    number: int
    kind: str
    strings: tuple[Scalar, ...]
    span: tuple[int, int]

    @property
    def text(self) -> str:
        """What was typed into it."""
        return "".join(each.text for each in self.strings)

    def places(self, text: str, at: int = 0) -> Iterator[tuple[int, int]]:
        """Yield pairs (offset in the cell, plus `at`; offset in the `text` of the file): between two of them both count alike."""
        for each in self.strings:
            yield at, each.start + 1
            escapes = 0
            for match in _escape().finditer(text, each.start + 1, each.stop - 1):
                escapes += len(match.group()) - 1
                yield at + match.end() - each.start - 1 - escapes, match.end()
            at += len(each.text)


@lru_cache(4)
def read_cells(source: Source) -> tuple[Cell, ...] | Unreadable:
    """The cells of a notebook, or why its JSON can't be read; notebooks before version 4 have worksheets and `input`."""
    notebook: Document | Unreadable = read_json(source, without=_NOT_CODE)[0]
    if isinstance(notebook, Unreadable):
        return notebook
    sheets = _items(_get(notebook.root, "worksheets")) or (notebook.root,)
    return tuple(_cell(number, cell) for number, cell in enumerate((cell for sheet in sheets for cell in _items(_get(sheet, "cells"))), 1))


def cell_at(source: Source, offset: int) -> tuple[int, int] | None:
    """The number of the cell of a notebook that holds the character at `offset`, and the line of its text, 0 outside of that; else None."""
    cells = read_cells(source)
    for cell in () if isinstance(cells, Unreadable) else cells:
        line = 1
        for each in cell.strings:
            if each.start <= offset < each.stop:
                before = _escape().finditer(source.text, each.start + 1, offset)
                return cell.number, line + sum(match.group() == r"\n" for match in before)
            line += each.text.count("\n")
        if cell.span[0] <= offset < cell.span[1]:
            return cell.number, 0
    return None


def is_python(text: str) -> bool:
    """Whether the lines of a cell of code run in the notebook itself; a magic may say that the whole cell is for something else."""
    return not text.lstrip().startswith("%%") or _runs_python().match(text) is not None


_runs_python = lazy_pattern(r"\s*%%(?:time|timeit|capture|prun|memit|wandb)\b")


def is_right_above(source: Source, start: int, stop: int) -> bool:
    """Whether nothing was typed into a notebook between two offsets of its file, but a magic for the cell and the sign before a command."""
    places, texts = _typed(source)
    for number in range(max(0, bisect_right(places, start) - 1), bisect_left(places, stop)):
        text = texts[number][max(0, start - places[number]) : stop - places[number]]
        if text.strip("! \t\r\n") and not texts[number].startswith("%%"):
            return False
    return True


@lru_cache(2)
def _typed(source: Source) -> tuple[array[int], tuple[str, ...]]:
    """What was typed into the cells of a notebook, line by line and escape by escape, and where each part is in the file."""
    cells = read_cells(source)
    places, texts = array("L"), list[str]()
    for cell in () if isinstance(cells, Unreadable) else cells:
        text = cell.text
        for (first, place), (last, _) in pairwise((*cell.places(source.text), (len(text), 0))):
            if first < last:
                places.append(place)
                texts.append(text[first:last])
    return places, tuple(texts)


def _cell(number: int, cell: Node) -> Cell:
    kind, text = _get(cell, "cell_type"), _get(cell, "source") or _get(cell, "input")
    lines = _items(text) or ((text,) if text is not None else ())
    strings = tuple(each for each in lines if isinstance(each, Scalar))
    return Cell(number, kind.text if isinstance(kind, Scalar) else "", strings, (cell.start, cell.stop))


def _get(node: Node | None, key: str) -> Node | None:
    entries = node.entries if isinstance(node, Mapping) else ()
    return next((value for name, value in entries if isinstance(name, Scalar) and name.text == key), None)


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.items if isinstance(node, Sequence) else ()


_escape = lazy_pattern(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)")
