"""Which key a comment belongs to, by where it stands among the entries of its document."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from pytest_gbs.core.document import Node
from pytest_gbs.core.location import KeyPath
from pytest_gbs.parsing.index import Index

HEADER: Final = "header"
ABOVE: Final = "above"
TRAILING: Final = "trailing"
END: Final = "end"


class Owners:
    """The keys of a document in the order of the text: where each starts, its path, and the entries by path."""

    __slots__ = ("indices", "paths", "root", "starts")

    def __init__(self, starts: list[int], paths: list[KeyPath], indices: tuple[Index, Index], root: Node | None) -> None:
        self.starts = starts
        self.paths = paths
        self.indices = indices
        self.root = root

    def of(self, place: int, alone: bool) -> tuple[KeyPath | None, str]:
        """Return the owner and placement of a block that starts at `place`, `alone` on its lines or behind something.

        A comment behind something belongs to the last key before it. One on lines of its own belongs to the next key below
        it, but to the key of the collection around it where no other key follows in there.
        """
        number = bisect_right(self.starts, place)
        if not number:
            return self._before_all_keys(place, alone)
        path = self.paths[number - 1]
        if not alone:
            return path, TRAILING
        stop = self._value(path).stop
        if place >= stop and self.indices[1]:
            path, stop = self._around(path, place, stop)
        if number == len(self.starts):
            return (path, ABOVE) if place < stop else (None, END)
        return path if place < stop <= self.starts[number] else self.paths[number], ABOVE

    def _around(self, path: KeyPath, place: int, stop: int) -> tuple[KeyPath, int]:
        """Return the key of the innermost sequence on `path` that holds `place`, and where it stops; else `path` and `stop`.

        Mappings on the way need no look: where one goes on, its next key follows.
        """
        for size in range(len(path) - 1, 0, -1):
            if type(path[size]) is int and type(path[size - 1]) is str:
                end = self._value(path[:size]).stop
                if place < end:
                    return path[:size], end
        return path, stop

    def _before_all_keys(self, place: int, alone: bool) -> tuple[KeyPath | None, str]:
        if self.root is None or place < self.root.start:
            return None, HEADER
        if not alone:
            return None, TRAILING
        if self.starts and self.starts[0] < self.root.stop:
            return self.paths[0], ABOVE
        return None, ABOVE if place < self.root.stop else END

    def _value(self, path: KeyPath) -> Node:
        keyed, inner = self.indices
        return (keyed.get(path) or inner[path])[1]
