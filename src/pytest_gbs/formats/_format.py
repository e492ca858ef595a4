"""What an output format is, and what it may be asked for."""

from __future__ import annotations

from collections.abc import Callable
from posixpath import relpath

from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report


class FormatOptions(NamedTuple):
    """How to say it. `color` allows ANSI colours, `links` links to the manual, `ascii` asks for no other signs than ASCII's in
    frames and underlines, `columns` are those of the terminal (0: as many as wanted).

    `examples` are those of the data set whose epoch is asked for, 0 if none is.

    `verbosity` is below zero for fewer words and above for more. `root` is the absolute path of the tree that was checked and
    `folder` that of the current folder, both with `/`: paths are shown relative to the latter ("" leaves them as they are).
    """

    color: bool = False
    ascii: bool = False
    links: bool = False
    columns: int = 0
    examples: int = 0
    verbosity: int = 0
    root: str = ""
    folder: str = ""

    def seen(self, path: str) -> str:
        """A path of the tree as it is seen from the current folder."""
        return path if not self.root or self.root == self.folder else relpath(f"/{self.root}/{path}", f"/{self.folder}")


class Format(NamedTuple):
    """One way to write a report down. `render` says what a check found; `show` the geometry of every recipe, `statistics` how often each
    rule fired, where it can.

    `commands` is what the commands to a CI system start with that are the report's own: `::` of GitHub Actions, `##` of Azure Pipelines.
    With `manuals` the report is to hold every rule with its manual.
    """

    name: str
    summary: str
    render: Callable[[Report, FormatOptions], str]
    show: Callable[[Report, FormatOptions], str] | None = None
    commands: str = ""
    manuals: bool = False
    statistics: Callable[[Report, FormatOptions], str] | None = None
