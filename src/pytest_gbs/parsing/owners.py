"""Which key a comment belongs to, by where it stands among the entries of its document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Final

from pytest_gbs.core.document import Mapping, Node, Sequence
from pytest_gbs.core.location import KeyPath
from pytest_gbs.parsing.index import Entry, Index, text_of_key

HEADER: Final = "header"
ABOVE: Final = "above"
TRAILING: Final = "trailing"
END: Final = "end"


class Owners:
    """The entries of a document in the order of the text, to look up whose a comment is.

    `keyed` are the entries reached through mappings alone, `inner` those within sequences. Where keys are `repeated` neither
    has the earlier of them, and the nodes are asked.
    """

    __slots__ = ("entries", "indices", "paths", "root", "starts")

    def __init__(self, keyed: Index, inner: Index, root: Node | None, repeated: bool) -> None:
        if inner or repeated:
            items = list(_written(root, ())) if repeated else sorted([*keyed.items(), *inner.items()], key=_start_of_key)
            self.paths = [path for path, _ in items]
            self.entries = [entry for _, entry in items]
        else:
            self.paths = list(keyed)
            self.entries = list(keyed.values())
        self.starts = [entry[0].start for entry in self.entries]
        self.indices = (keyed, inner)
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
        stop = self.entries[number - 1][1].stop
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
                keyed, inner = self.indices
                end = (keyed.get(path[:size]) or inner[path[:size]])[1].stop
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


def _start_of_key(item: tuple[KeyPath, Entry]) -> int:
    return item[1][0].start


def _written(node: Node | None, path: KeyPath) -> Iterator[tuple[KeyPath, Entry]]:
    """Yield every entry under `node` in the order of the text, with its path, repeated keys included."""
    if type(node) is Sequence:
        for number, item in enumerate(node.items):
            yield from _written(item, (*path, number))
    if type(node) is Mapping:
        for entry in node.entries:
            text = text_of_key(entry[0])
            if text is not None:
                yield (*path, text), entry
                yield from _written(entry[1], (*path, text))
