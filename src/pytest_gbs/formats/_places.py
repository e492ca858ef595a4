"""Where things stand, as people and editors name it: paths from the current folder, lines and columns from 1."""

from __future__ import annotations

import re

from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._format import FormatOptions
from pytest_gbs.model.location import Lines, Location, Position
from pytest_gbs.model.report import Report


class Places:
    """The files of one report; each is cut into lines once."""

    def __init__(self, report: Report, options: FormatOptions) -> None:
        self.report, self.options = report, options
        self._lines: dict[str, Lines | None] = {}

    def path(self, path: str) -> str:
        """`path` of the tree as seen from the current folder, unescaped."""
        return self.options.seen(path)

    def lines(self, path: str) -> Lines | None:
        """The lines of the file at `path`, or None if the report does not hold its text."""
        if path not in self._lines:
            source = self.report.sources.get(path)
            self._lines[path] = Lines(source.text) if source else None
        return self._lines[path]

    def position(self, location: Location) -> Position | None:
        """The lines and columns of `location`, or None if the report does not hold the text."""
        lines = self.lines(location.source)
        if lines is None:
            return Position(1, 1, 1, 1) if location.stop == 0 else None
        return lines.position(location)

    def words(self, text: str) -> str:
        """A sentence of the engine made safe to print, the paths of the tree in it as seen from the current folder."""
        if self.options.root != self.options.folder:
            text = re.sub(r"(?<![\w./-])[^\s():,'\"]+\.[a-z]+(?=:\d)", lambda match: self.path(match.group()), text)
        return escape(text)

    def where(self, location: Location) -> str:
        """`path:line:column`, made safe to print; the path alone where the text is not there."""
        position = self.position(location)
        path = escape(self.path(location.source))
        return f"{path}:{position.line}:{position.column}" if position else path

    def line(self, location: Location, here: str) -> str:
        """Where a number is as seen from file `here`: `line 12`, or `other.yaml:12`."""
        position = self.position(location)
        if location.source == here:
            return f"line {position.line}" if position else ""
        path = escape(self.path(location.source))
        return f"{path}:{position.line}" if position else path
