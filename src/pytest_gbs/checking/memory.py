"""What earlier checks of a tree found out, each with the files that it was read from: asked again, what still holds is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, TypeVar

from pytest_gbs.files.worktree import Listing, listing
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.record import NamedTuple

if TYPE_CHECKING:
    from pytest_gbs.model.settings import Settings
    from pytest_gbs.model.tree import Tree

Found = TypeVar("Found")


class _Kept(NamedTuple):
    """A result, what it was found out for, and the files that were read for it."""

    found: object
    given: object
    read: frozenset[str]


class Memory:
    """Results of checks of one tree, for the next check of it.

    The tree must give the same `Source` for a file as long as its text is the same. A result is forgotten as soon as one of the files that
    were read for it is another; all are where files come or go, and where the settings change.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}
        self._seen: dict[str, Source | Unreadable] = {}  # each file that a result rests on
        self._rest_on: defaultdict[str, set[Hashable]] = defaultdict(set)  # the results that rest on a file
        self._at_work: list[set[str]] = []  # the files that have been read for each result that is being found, innermost last
        self._for_all: dict[str, Source | Unreadable] = {}
        self._about: tuple[Listing, Settings] | None = None
        self._tree: Tree | None = None

    def begin(self, tree: Tree, settings: Settings) -> Recorded:
        """`tree` for a check that remembers; what no longer holds is forgotten."""
        about, read = (listing(tree), settings), tree.read
        if about != self._about or any(read(path) is not source for path, source in self._for_all.items()):
            self.forget()
        for path in [path for path, source in self._seen.items() if read(path) is not source]:
            del self._seen[path]
            for name in self._rest_on.pop(path, ()):
                self._kept.pop(name, None)
        self._about, self._tree = about, tree
        self._at_work = []
        return Recorded(tree, self.note)

    def forget(self) -> None:
        """Forget all results."""
        for each in (self._kept, self._seen, self._rest_on, self._for_all):
            each.clear()

    def note(self, path: str, source: Source | Unreadable) -> None:
        """Note that the file at `path` was read for the result at hand."""
        if self._at_work:
            self._at_work[-1].add(path)
            self._seen[path] = source

    def recall(self, name: Hashable, find: Callable[[], Found], given: object = None) -> Found:
        """What `find` gives, or gave before for an equal `given` and the same files."""
        kept = self._kept.get(name)
        if kept is None or kept.given != given:
            self._at_work.append(set())
            try:
                found: object = find()
            finally:
                files = self._at_work.pop()
                if self._at_work:
                    self._at_work[-1] |= files
            kept = self._kept[name] = _Kept(found, given, frozenset(files))
            for path in files:
                self._rest_on[path].add(name)
        elif self._at_work:
            self._at_work[-1] |= kept.read
        return kept.found  # type: ignore[return-value]

    def noting_for_all(self) -> Recorded:
        """The tree of the check at hand, whichever it is, for what all results may rest on."""
        return Recorded(_AtHand(self), self._for_all.__setitem__)

    @property
    def tree(self) -> Tree:
        """The tree of the check at hand."""
        assert self._tree is not None
        return self._tree


class _AtHand(NamedTuple):
    """The tree of whichever check is at hand, for what outlives one."""

    memory: Memory

    def paths(self) -> tuple[str, ...]:
        return self.memory.tree.paths()

    def read(self, path: str) -> Source | Unreadable:
        return self.memory.tree.read(path)


class Recorded(NamedTuple):
    """`base`, with each reading noted."""

    base: Tree
    note: Callable[[str, Source | Unreadable], None]

    def paths(self) -> tuple[str, ...]:
        """The paths of all files."""
        return self.base.paths()

    def listing(self) -> Listing:
        """The paths of all files, and the folders that can't be listed."""
        return listing(self.base)

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read."""
        found = self.base.read(path)
        self.note(path, found)
        return found


__all__ = ["Memory", "Recorded"]
