"""The geometry of recipes for a terminal: a block of lines for one, an aligned table for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from typing import Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.formats._paint import DIM, STRONG, Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_recipe import launcher_lines, lines, title
from pytest_gbs.formats._show_steps import ShownLine
from pytest_gbs.formats._show_table import HEAD, RIGHT, rows
from pytest_gbs.formats._width import ending, left, right, width, wrapped
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run

_VALUE: Final = 28  # columns in which labels and numbers end, beside the indentation
_NAME: Final = 60  # columns that are enough for the name of a recipe
_LEAST: Final = 30  # columns that it has in any case
_MISSED: Final = ("framework", "tokens per step", "accumulation")
_APART: Final = "   "  # what is between the arithmetic and what is said of it
_TEXT: Final = 22  # columns before the words of a line without a number


def show_text(report: Report, options: FormatOptions) -> str:
    """A block for one recipe, or for each with `-v`; else a table. Launcher files that were named get a block too."""
    places, paint = Places(report, options), Paint(options.color, options.ascii)
    recipes = [file for file in report.files if file.runs]
    launchers = launcher_files(report)
    if sum(len(blocks(file)) for file in recipes) > 1 and options.verbosity <= 0:
        parts = [_table(report, places, paint)]
    else:
        parts = [_recipe(file, run, launched, places, paint) for file in recipes for run, launched in blocks(file)]
    parts.extend(_launcher(file, places, paint) for file in launchers)
    return "\n\n".join(parts) + "\n" if parts else ""


def blocks(file: FileReport) -> list[tuple[Run, tuple[Run, ...]]]:
    """The runs that have a block each: the recipe with its launches, or every launch if nothing runs without one."""
    if file.runs and file.runs[0].launch is None:
        return [(file.runs[0], file.runs[1:])]
    return [(run, ()) for run in file.runs]


def launcher_files(report: Report) -> list[FileReport]:
    """The launcher files that were asked for: by name, or since there is no recipe beside them."""
    alone = not any(file.runs for file in report.files)
    return [file for file in report.files if file.launcher is not None and (file.named or alone)]


def _recipe(file: FileReport, run: Run, launched: tuple[Run, ...], places: Places, paint: Paint) -> str:
    number = file.which
    if run.launch is not None:
        position = places.position(run.launch.at)
        path = places.path(run.launch.at.source)
        number = f", launched at {escape(path)}:{position.line if position else 1}" if path != places.path(file.path) else ""
        number = f":{position.line}" if not number and position else number
    head = f"{paint(escape(places.path(file.path)) + number, STRONG)}   {title(run)}"
    return "\n".join([head, *_block(lines(run, launched, places), paint, places.options.columns)])


def _launcher(file: FileReport, places: Places, paint: Paint) -> str:
    assert file.launcher is not None
    head = f"{paint(escape(places.path(file.path)), STRONG)}   launcher file of {file.launcher.launcher}"
    return "\n".join([head, *_block(launcher_lines(file.launcher, places), paint, places.options.columns)])


def aligned(rows: Iterable[ShownLine]) -> Iterator[str]:
    """Yield `rows` as plain lines, numbers below numbers."""
    return _block(rows, Paint(color=False), 0)


def _block(rows: Iterable[ShownLine], paint: Paint, columns: int) -> Iterator[str]:
    """Yield an indented line for each of `rows`, in several if the terminal is narrow: words go on below words."""
    for line in rows:
        label = paint(line.label, DIM)
        gap = max(2, (_VALUE if line.value else _TEXT) - width(line.label) - width(line.value))
        start = 2 + width(line.label) + gap + width(line.value) + (3 if line.value else 0)
        first, *others = _in_lines(line.text, max(_LEAST, columns - start)) if columns else (line.text,)
        yield f"  {label}{' ' * gap}{line.value}{'   ' if line.value else ''}{first}".rstrip()
        yield from (f"{' ' * start}{other}".rstrip() for other in others)


def _in_lines(text: str, columns: int) -> Iterator[str]:
    """Yield the lines of a text; what is set apart in it gets lines of its own if it does not fit beside the rest."""
    apart = [part.strip() for part in text.split(_APART) if part.strip()]
    for part in apart if apart and width(text) > columns else (text,):
        yield from wrapped(part, columns)


def _table(report: Report, places: Places, paint: Paint) -> str:
    cells = [HEAD, *dict.fromkeys(tuple(map(escape, row)) for row in rows(report, places))]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    said = [any(column) for column in zip(*cells[1:], strict=True)]  # launches by themselves have no verdict
    if places.options.columns:
        room = _fit(widths, said, places.options.columns)
        cells = [(*row[:-1], ending(row[-1], room)) for row in cells]
        widths[-1] = min(widths[-1], room)
    lines = []
    for row in cells:
        aligned = [right(text, w) if index < RIGHT else left(text, w) for index, (text, w) in enumerate(zip(row, widths, strict=True))]
        lines.append("  ".join(compress(aligned, said)).rstrip())
    return "\n".join([paint(lines[0], DIM), *lines[1:]])


def _fit(widths: list[int], said: list[bool], columns: int) -> int:
    """What the terminal leaves for the names of recipes; columns that can be missed are given up until they have enough."""
    for name in (*_MISSED, ""):
        room = columns - sum(compress(widths, said)) + widths[-1] - 2 * (sum(said) - 1)
        if room >= min(widths[-1], _NAME) or not name:
            break
        said[HEAD.index(name)] = False
    return max(room, _LEAST)
