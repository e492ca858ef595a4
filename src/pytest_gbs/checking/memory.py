"""What earlier checks of a tree found out, each with the files that it was read from: asked again, what still holds is given."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable
from typing import TypeVar

from pytest_gbs.files.worktree import Listing, listing
from pytest_gbs.model.location import Source, Tree, Unreadable
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.settings import Settings

Found = TypeVar("Found")


class _Files(NamedTuple):
    """The files that are read for a result, and those of them by which it may be another one, but is about the same files."""

    read: set[str]
    lightly: set[str]

    def add(self, other: _Files) -> None:
        """Add the files of a result that this one rests on."""
        self.read.update(other.read)
        self.lightly.update(other.lightly)


class _Kept(NamedTuple):
    """A result, what it was found out for, and the files that were read for it."""

    found: object
    given: object
    files: _Files


class Memory:
    """Results of checks of one tree, for the next check of it.

    The tree must give the same `Source` for a file as long as its text is the same. A result is forgotten as soon as one of the files that
    were read for it is another; all are where files come or go, and where the settings change. Where the file was read `lightly`, the
    result is out of date instead: it still says what it is about, and is computed again as soon as that matters.
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, _Kept] = {}
        self._seen: dict[str, Source | Unreadable] = {}  # each file that a result rests on
        self._rest_on: defaultdict[str, set[Hashable]] = defaultdict(set)  # the results that rest on a file
        self._lightly_on: defaultdict[str, set[Hashable]] = defaultdict(set)
        self._out_of_date: set[Hashable] = set()
        self._in_progress: list[_Files] = []  # the files that have been read for each result that is being found, innermost last
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
            self._out_of_date |= self._lightly_on.pop(path, set())
            for name in self._rest_on.pop(path, ()):
                self._kept.pop(name, None)
        self._about, self._tree = about, tree
        self._in_progress = []
        return Recorded(tree, self.note)

    def forget(self) -> None:
        """Forget all results."""
        for each in (self._kept, self._seen, self._rest_on, self._lightly_on, self._out_of_date, self._for_all):
            each.clear()

    def note(self, path: str, source: Source | Unreadable) -> None:
        """Note that the file at `path` was read for the result at hand."""
        if self._in_progress:
            self._in_progress[-1].read.add(path)
            self._seen[path] = source

    def recall(self, name: Hashable, find: Callable[[], Found], given: object = None, matters: Callable[[], bool] = lambda: True) -> Found:
        """What `find` gives, or gave before for an equal `given` and the same files; what is out of date is found again if it `matters`."""
        kept = self._kept.get(name)
        holds = kept is not None and kept.given == given and (name not in self._out_of_date or not (self._in_progress or matters()))
        if kept is None or not holds:
            found, files = self._noting(find)
            kept = self._kept[name] = _Kept(found, given, files)
            self._out_of_date.discard(name)
            for rest_on, paths in ((self._rest_on, files.read), (self._lightly_on, files.lightly)):
                for path in paths:
                    rest_on[path].add(name)
        if self._in_progress:
            self._in_progress[-1].add(kept.files)
        return kept.found  # type: ignore[return-value]

    def known(self, name: Hashable) -> object:
        """What was found before, be it out of date; None if nothing is kept."""
        kept = self._kept.get(name)
        return kept.found if kept is not None else None

    def lightly(self, find: Callable[[], Found]) -> Found:
        """What `find` gives; whatever is in the files that it reads, the result at hand is about the same files."""
        found, files = self._noting(find)
        if self._in_progress:
            self._in_progress[-1].lightly.update(files.read, files.lightly)
        return found

    def _noting(self, find: Callable[[], Found]) -> tuple[Found, _Files]:
        """What `find` gives, and the files that are read for it."""
        self._in_progress.append(_Files(set(), set()))
        try:
            found = find()
        finally:
            files = self._in_progress.pop()
        return found, files

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
