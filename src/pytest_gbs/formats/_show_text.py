"""The geometry of recipes for a terminal: a block of lines for one, an aligned table for many."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import Options
from pytest_gbs.formats._paint import DIM, STRONG, Paint
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_recipe import launcher_lines, lines, title
from pytest_gbs.formats._show_steps import ShownLine
from pytest_gbs.formats._show_table import HEAD, RIGHT, rows
from pytest_gbs.formats._width import left, right, width
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run

_VALUE: Final = 28  # columns in which labels and numbers end, beside the indentation
_TEXT: Final = 22  # columns before the words of a line without a number


def show_text(report: Report, options: Options) -> str:
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
    """The runs that are told in a block each: the recipe with its launches, or every launch where nothing runs without."""
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
    return "\n".join([head, *_block(lines(run, launched, places), paint)])


def _launcher(file: FileReport, places: Places, paint: Paint) -> str:
    assert file.launcher is not None
    head = f"{paint(escape(places.path(file.path)), STRONG)}   launcher file of {file.launcher.launcher}"
    return "\n".join([head, *_block(launcher_lines(file.launcher, places), paint)])


def _block(rows: Iterable[ShownLine], paint: Paint) -> Iterator[str]:
    for line in rows:
        label = paint(line.label, DIM)
        room = (_VALUE if line.value else _TEXT) - width(line.label) - width(line.value)
        yield f"  {label}{' ' * max(2, room)}{line.value}{'   ' if line.value else ''}{line.text}".rstrip()


def _table(report: Report, places: Places, paint: Paint) -> str:
    cells = [HEAD, *(tuple(map(escape, row)) for row in rows(report, places))]
    widths = [max(width(row[index]) for row in cells) for index in range(len(HEAD))]
    lines = []
    for row in cells:
        aligned = (right(text, w) if index < RIGHT else left(text, w) for index, (text, w) in enumerate(zip(row, widths, strict=True)))
        lines.append("  ".join(aligned).rstrip())
    return "\n".join([paint(lines[0], DIM), *lines[1:]])
