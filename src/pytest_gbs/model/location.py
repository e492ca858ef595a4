"""Where something is: a tree of files, a file's text, a span of it, and the line and column a person sees."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from pytest_gbs.model.limits import DEEPEST_FOLDER
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple, Protocol, TypeVar

_Key = TypeVar("_Key")
_Kind = TypeVar("_Kind")

# A key path is the route of mapping keys and sequence indices from a document's root to a value.
KeyPath = tuple[str | int, ...]


def dotted(key: KeyPath) -> str:
    """A key as people write it: `parallelism.dp`."""
    return ".".join(map(str, key))


class Source(NamedTuple):
    """The decoded text of one file.

    `path` is relative to the tree's root, with `/`. Offsets everywhere are code points of `text`, which has no byte
    order mark. `digest` is the BLAKE2 hash of the bytes as read, so that a fix knows whether the file changed.
    """

    path: str
    text: str
    encoding: str = "utf-8"
    bom: bool = False
    digest: bytes = b""


class Unreadable(NamedTuple):
    """A file, or a part of it, that could not be read, and why.

    `offset` is the code point where reading failed, or None if the whole file is concerned (missing, too large, not
    text). `source` is the text, if there is any. `matters` is true if its bytes hold batch or launch keys, so that
    it must be reported even if the file was not named.
    """

    path: str
    reason: str
    offset: int | None = None
    source: Source | None = None
    matters: bool = False


class Tree(Protocol):
    """A tree of files that can be listed and read, never written: a folder, a git revision, or an edit in memory over it."""

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, relative and with `/`, sorted; ignored and hidden ones left out, links not followed."""

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read. Never raises for what is in the tree."""


class Location(NamedTuple):
    """A span of code points of one file: `start` included, `stop` excluded; `path` is the key path it belongs to.

    `Location(source)` is where the file starts: the place of what is about all of it.
    """

    source: str
    start: int = 0
    stop: int = 0
    path: KeyPath | None = None


class Position(NamedTuple):
    """A location as people count: lines and columns from 1, in code points; the end column is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


_line_break = lazy_pattern(r"\r\n|\n|\r")


class Lines:
    """The lines of a text, which break at LF, CRLF and CR only, as YAML 1.1 and editors agree."""

    def __init__(self, text: str) -> None:
        from array import array  # a list of as many numbers takes five times the memory

        self.text = text
        self.starts = array("L", [0])
        self.starts.extend(match.end() for match in _line_break().finditer(text))

    def line_of(self, offset: int) -> int:
        """The number of the line, from 1, that holds the code point at `offset`."""
        return bisect_right(self.starts, offset)

    def line(self, number: int) -> str:
        """The text of line `number` without its line break, or nothing if there is no such line."""
        if not 1 <= number <= len(self.starts):
            return ""
        stop = self.starts[number] if number < len(self.starts) else len(self.text)
        return self.text[self.starts[number - 1] : stop].rstrip("\r\n")

    def position(self, location: Location) -> Position:
        """Where `location` starts and ends, in lines and columns from 1."""
        start = min(location.start, len(self.text))
        stop = max(start, min(location.stop, len(self.text)))
        line, end_line = self.line_of(start), self.line_of(stop)
        return Position(line, start - self.starts[line - 1] + 1, end_line, stop - self.starts[end_line - 1] + 1)


def grouped(pairs: Iterable[tuple[_Key, _Kind]]) -> dict[_Key, list[_Kind]]:
    """The second values of `pairs` by the first."""
    found: dict[_Key, list[_Kind]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def by_name(paths: Iterable[str]) -> dict[str, list[str]]:
    """The `paths` by the names of their files."""
    return grouped((path.rpartition("/")[2], path) for path in paths)


def upwards(folder: str) -> Iterator[str]:
    """Yield `folder` and each folder above it, but for the root."""
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]


def endings(path: str, least: int) -> Iterator[str]:
    """Yield what the absolute `path` ends with, the longest first: `least` steps at least, and as many as a path of a tree may have."""
    steps = path.removeprefix("/").split("/")[-DEEPEST_FOLDER:]
    yield from ("/".join(steps[index:]) for index in range(len(steps) - least + 1))


def below(folder: str, path: str) -> str | None:
    """`path` as seen from the folder above `folder`, without `.` and `..`; None if it is not below it."""
    steps: list[str] = []
    for step in [*folder.split("/"), *path.split("/")]:
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)
