"""`FILE:LINE` on the command line of `gbs show`: the one recipe or launch there, as its tables name it."""

# Paths are plain text here, as in `_input`.
# ruff: noqa: PTH113

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from operator import itemgetter

from pytest_gbs.formats._places import Places
from pytest_gbs.formats._show_text import blocks
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.report import FileReport, Report
from pytest_gbs.model.run import Run


def split_line(path: str) -> tuple[str, int | None]:
    """A path, and the line that is behind it (`run.sh:12`, `run.sh:12:3`); None where a file has that name, or none has the shorter one."""
    match = re.fullmatch(r"(.+?):(\d{1,9})(?::\d{1,9})?", path, re.DOTALL)
    if match is None or os.path.lexists(path) or not os.path.isfile(match[1]):
        return path, None
    return match[1], int(match[2])


def at_lines(report: Report, wanted: Sequence[tuple[str, int]], places: Places) -> Report:
    """The report without what starts elsewhere in the files of `wanted` than at the lines there, or as near above them as anything does.

    Raises:
        UsageError: all starts below a line.
    """
    starts = {path: list(_blocks(report, path, places)) for path, _ in wanted}
    chosen = [_nearest(starts[path], line, places.path(path)) for path, line in wanted if starts[path]]
    kept = [each for each in report.files if not starts.get(each.path)]
    return report._replace(files=tuple(sorted([*kept, *chosen], key=lambda file: file.path)))


def _blocks(report: Report, path: str, places: Places) -> Iterator[tuple[int, FileReport]]:
    """Yield the line, or the cell of a notebook, where each recipe and launch of a file starts, with the report on it alone."""
    for file in report.files:
        if file.path == path and file.runs:
            for run, launched in blocks(file):
                yield _start(file, run, places), file._replace(runs=(run, *launched))


def _start(file: FileReport, run: Run, places: Places) -> int:
    if run.launch is not None and run.launch.at.source == file.path:
        position = places.position(run.launch.at)
        return position.line if position else 1
    if file.part:  # "line 104", "cell 5"
        return int(file.part.rpartition(" ")[2])
    root, lines = run.document.root, places.lines(file.path)
    return lines.line_of(root.start) if root and lines and file.document > 1 else 1


def _nearest(found: Sequence[tuple[int, FileReport]], line: int, name: str) -> FileReport:
    above = [each for each in found if each[0] <= line]
    if not above:
        raise UsageError(f"nothing trains at {name}:{line} or above; the first is {name}:{min(start for start, _ in found)}")
    return max(above, key=itemgetter(0))[1]
