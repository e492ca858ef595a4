"""What earlier checks of a tree found out, each with the files that it was read from: asked again, what still holds is given."""

from __future__ import annotations

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
    """A result, what it was found out for, and each file that was read for it, as it was."""

    found: object
    given: object
    read: dict[str, Source | Unreadable]


class Memory:
    """Results of checks of one tree, for the next check of it.

    The tree must give the same `Source` for a file as long as its text is the same. A result holds while each file that was read for it
    is that one; all of them are forgotten where files come or go, and where the settings change.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}
        self._at_work: list[dict[str, Source | Unreadable]] = []  # what has been read for each result that is being found, innermost last
        self._for_all: dict[str, Source | Unreadable] = {}
        self._about: tuple[Listing, Settings] | None = None
        self._tree: Tree | None = None

    def begin(self, tree: Tree, settings: Settings) -> Recorded:
        """`tree` for a check that remembers."""
        about = listing(tree), settings
        if about != self._about or any(tree.read(path) is not source for path, source in self._for_all.items()):
            self.forget()
        self._about, self._tree = about, tree
        self._at_work = []
        return Recorded(tree, self.note)

    def forget(self) -> None:
        """Forget all results."""
        self._kept.clear()
        self._for_all.clear()

    def note(self, path: str, source: Source | Unreadable) -> None:
        """Note that the file at `path` was read for the result at hand."""
        if self._at_work:
            self._at_work[-1][path] = source

    def noting_for_all(self) -> Recorded:
        """The tree of the check at hand, whichever it is, for what all results may rest on."""
        return Recorded(_AtHand(self), self._for_all.__setitem__)

    @property
    def tree(self) -> Tree:
        """The tree of the check at hand."""
        assert self._tree is not None
        return self._tree

    def recall(self, name: Hashable, find: Callable[[], Found], given: object = None) -> Found:
        """What `find` gives, or gave before for an equal `given` if each file that it read then is the same."""
        kept, read = self._kept.get(name), self.tree.read
        if kept is None or kept.given != given or any(read(path) is not source for path, source in kept.read.items()):
            self._at_work.append({})
            try:
                found: object = find()
            finally:
                files = self._at_work.pop()
            kept = self._kept[name] = _Kept(found, given, files)
        if self._at_work:
            self._at_work[-1].update(kept.read)
        return kept.found  # type: ignore[return-value]


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
