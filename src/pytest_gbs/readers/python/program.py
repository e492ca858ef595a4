"""The text of a Python program as the file has it: a module, or the code cells of a notebook, one after the other."""

from __future__ import annotations

import ast
import warnings
from array import array
from bisect import bisect_left, bisect_right
from collections import abc
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Final, TypeAlias

from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.limits import LONGEST_PYTHON, MOST_KEPT_PYTHON, MOST_PYTHON_BRACES, MOST_PYTHON_WORDS
from pytest_gbs.model.location import Lines, Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.notebook import CODE, MARKDOWN, Cell, is_python, read_cells
from pytest_gbs.readers.python.scopes import Scopes, read_scopes
from pytest_gbs.readers.refusal import conflict, unreadable

Prose: TypeAlias = tuple[str, tuple[tuple[int, int], ...]]


class Program(NamedTuple):
    """A program that parses: `text` is its code, and `places` says where each part of it is in the file, `scopes` what it binds.

    `places` are pairs (offset in `text`, offset in the file), ascending; between two of them both count alike. `cells` are, for a
    notebook, the lines of `text` at which its cells start, and their numbers as people count them. `wide` has, for each line on which a
    character takes more than a byte of UTF-8, in which `ast` counts, the bytes that do not start a character. `prose` has the cells of
    text right above a code cell, by the number of that one: the text, and its places in the file.
    """

    source: Source
    text: str
    tree: ast.Module
    scopes: Scopes
    lines: Lines
    places: tuple[tuple[int, int], ...]
    wide: dict[int, array[int]]
    cells: tuple[tuple[int, int], ...] = ()
    prose: abc.Mapping[int, Prose] = MappingProxyType({})

    def place(self, offset: int) -> int:
        """The offset in the file of the character at `offset` of the text."""
        if len(self.places) == 1:
            return offset + self.places[0][1] - self.places[0][0]
        base, origin = self.places[max(0, bisect_right(self.places, (offset, len(self.source.text))) - 1)]
        return origin + offset - base

    def offset(self, line: int, column: int) -> int:
        """The offset in the text of a position of `ast`: `line` counts from 1, `column` in bytes of UTF-8 from 0."""
        wide = self.wide.get(line)
        return self.lines.starts[line - 1] + column - (bisect_left(wide, column) if wide is not None else 0)

    def cell(self, node: ast.AST) -> int:
        """The number of the cell of a notebook that holds `node`, counted from 1 with the cells of text."""
        line: int = getattr(node, "lineno", 1)
        return self.cells[bisect_right(self.cells, (line, len(self.text))) - 1][1]

    def part(self, node: ast.AST) -> str:
        """Where `node` is, for people: "line 104", and in a notebook "cell 5"."""
        return f"cell {self.cell(node)}" if self.cells else f"line {getattr(node, 'lineno', 1)}"

    def written(self, node: ast.stmt) -> str:
        """The text of a statement."""
        start = self.offset(node.lineno, node.col_offset)
        return self.text[start : self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)]

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        """The offsets in the file of the first character of `node` and of the one behind it."""
        start = self.offset(node.lineno, node.col_offset)
        stop = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        if len(self.places) == 1:
            ahead = self.places[0][1] - self.places[0][0]
            return start + ahead, max(start + 1, stop) + ahead
        return self.place(start), self.place(max(start, stop - 1)) + 1


class _Kept:
    """The programs that were read last, the oldest first: of at most `MOST_KEPT_PYTHON` words together, or one that is longer.

    What a tree takes follows its words, not its characters. Each launch of a program asks for it again, and for those that it imports.
    """

    def __init__(self) -> None:
        self.programs: dict[Source, tuple[Program | Unreadable, int]] = {}
        self.words = 0

    def __call__(self, source: Source) -> Program | Unreadable:
        kept = self.programs.pop(source, None)
        if kept is None:
            words = sum(1 for _ in islice(_word().finditer(source.text), MOST_KEPT_PYTHON))
            while self.programs and self.words + words > MOST_KEPT_PYTHON:
                self.words -= self.programs.pop(next(iter(self.programs)))[1]
            kept = _read(source), words
            self.words += words
        self.programs[source] = kept
        return kept[0]


_kept: Final = _Kept()


def read_program(source: Source) -> Program | Unreadable:
    """The program in `source`, or why there is none: this Python's own parser refuses it. Nothing is run or imported.

    A program may be for another version of Python, so that this matters only if the file was named, or git marked a conflict in it.
    """
    return _kept(source)


def parsed(source: Source) -> Program | None:
    """The program in `source`; None if Python's parser refuses it."""
    program = read_program(source)
    return None if isinstance(program, Unreadable) else program


def _read(source: Source) -> Program | Unreadable:
    if not source.path.endswith(NOTEBOOK):
        text = _not_unicode().sub("?", source.text)
        tree = parse(text)
        if isinstance(tree, ast.Module):
            lines = Lines(text)
            return Program(source, text, tree, read_scopes(tree), lines, ((0, 0),), _wide(lines))
        return _matters_if_marked(unreadable(source, *tree))
    cells = read_cells(source)
    if isinstance(cells, Unreadable):
        return _matters_if_marked(cells)
    text, places, starts = _code(source, cells)
    tree = parse(text)
    if not isinstance(tree, ast.Module):  # the cells that are Python; to try each takes as long again, and most notebooks have no others
        text, places, starts = _code(source, cells, alone=True)
        tree = parse(text)
    if isinstance(tree, ast.Module):
        lines = Lines(text)
        prose = {cell.number + 1: (cell.text, tuple(cell.places(source.text))) for cell in cells if cell.kind == MARKDOWN}
        return Program(source, text, tree, read_scopes(tree), lines, places, _wide(lines), starts, prose)
    return _matters_if_marked(unreadable(source, 0, f"Python can't parse its code: {tree[1]}"))


def _matters_if_marked(problem: Unreadable) -> Unreadable:
    return problem._replace(matters=problem.matters and problem.source is not None and conflict(problem.source.text) is not None)


def _wide(lines: Lines) -> dict[int, array[int]]:
    """The bytes that do not start a character, by the number of the line, counted from where it starts."""
    found: dict[int, array[int]] = {}
    for number in sorted({lines.line_of(match.start()) for match in _beyond().finditer(lines.text)}):
        line = lines.line(number).encode("utf-8", "surrogatepass")
        found[number] = array("L", (match.start() for match in _inside().finditer(line)))
    return found


_beyond = lazy_pattern(r"[^\x00-\x7f][^\n]*")


@cache
def _inside() -> re.Pattern[bytes]:
    return re.compile(rb"[\x80-\xbf]")


def parse(text: str) -> ast.Module | tuple[int, str]:
    """The tree of `text`, or where parsing stops and why; nothing is run."""
    if len(text) > LONGEST_PYTHON:
        return LONGEST_PYTHON, f"more than {LONGEST_PYTHON:,} characters of Python"
    if text.count("{") > MOST_PYTHON_BRACES:  # CPython before 3.12 takes time that grows with the square of those in one string
        return 0, f"more than {MOST_PYTHON_BRACES:,} braces of Python"
    if len(text) > MOST_PYTHON_WORDS:
        beyond = next(islice(_word().finditer(text), MOST_PYTHON_WORDS, None), None)
        if beyond is not None:
            return beyond.start(), f"more than {MOST_PYTHON_WORDS:,} words and signs of Python"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        lines = Lines(text)
        line = min(max(error.lineno or 1, 1), len(lines.starts))
        return lines.starts[line - 1], f"Python: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return 0, f"Python: {type(error).__name__}"


_word = lazy_pattern(r"\w+|[^\w\s]")

# What is in the text for a byte that is not UTF-8; in a program it is in a string or a comment, in another encoding.
_not_unicode = lazy_pattern("[\ud800-\udfff]")


def _code(
    source: Source, cells: tuple[Cell, ...], *, alone: bool = False
) -> tuple[str, tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    """The code of all cells, or those that parse `alone`; where each part is in the file, and at which line each cell starts."""
    parts: list[str] = []
    places: list[tuple[int, int]] = []
    starts: list[tuple[int, int]] = []
    length, line = 0, 1
    for cell in cells:
        if cell.kind != CODE or not cell.strings:
            continue
        text = _not_unicode().sub("?", _without_magic(cell.text))
        if alone and not isinstance(parse(text), ast.Module):
            continue
        places += cell.places(source.text, length)
        starts.append((line, cell.number))
        parts.append(text + "\n")
        length += len(text) + 1
        line += len(Lines(parts[-1]).starts) - 1
    return "".join(parts), tuple(places) or ((0, 0),), tuple(starts)


def _without_magic(text: str) -> str:
    """`text` with the lines that are not Python (`!pip install`, `%cd`, `name?`) blanked, each character in its place."""
    if not is_python(text):
        return _blank(text)
    lines = text.split("\n")
    goes_on = False
    for number, line in enumerate(lines):
        if goes_on or _magic().match(line):
            lines[number] = _blank(line) if goes_on else _in_its_place(line)
            goes_on = line.rstrip().endswith("\\")
    return "\n".join(lines)


def _in_its_place(line: str) -> str:
    """A statement that does nothing, as long as `line`, so that the block around it still has one; blanks where that is too short."""
    code = line.lstrip()
    return line[: len(line) - len(code)] + ("pass".ljust(len(code)) if len(code) >= len("pass") else _blank(code))


def _blank(text: str) -> str:
    return "".join(sign if sign in "\r\n" else " " for sign in text)


_magic = lazy_pattern(r"\s*(?:[!%?]|[\w.]+\s*\?{1,2}\s*$|\w+\s*=\s*[!%]\w)")
