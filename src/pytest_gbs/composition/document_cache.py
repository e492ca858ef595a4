"""A tree that many compositions look into: listed once, each file read and parsed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, Final, TypeAlias, TypeVar

from pytest_gbs.composition._errors import CompositionError
from pytest_gbs.composition._from_document import from_document
from pytest_gbs.composition._nodes import Branch, Budget, Node, copy
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.files.regular import MISSING
from pytest_gbs.model.document import CONFIGURATIONS, PROGRAMS, Document
from pytest_gbs.model.limits import ALL_COMPOSED, LEAST_COMPOSED, MOST_COMPOSED
from pytest_gbs.model.location import Location, Source, Tree, Unreadable

Found = TypeVar("Found")
Name = TypeVar("Name")
Reader: TypeAlias = Callable[[Source], tuple[Document | Unreadable, ...]]

# A repository's configurations; beyond that, those that were read first are read again.
_MOST: Final = 2_000


class DocumentCache:
    """A tree of files with the documents that `read` finds in them, and the trees of nodes that composition copies."""

    def __init__(self, tree: Tree, read: Reader, paths: tuple[str, ...] | None = None, *, keep: bool = True) -> None:
        self._tree = tree
        self._read = read
        self._paths = paths
        self._most = _MOST if keep else 0  # texts that are kept; none where the tree does so, and notes what is read
        self._files: frozenset[str] | None = None
        self._folders: set[str] = set()
        self._sources: dict[str, Source | Unreadable] = {}
        self._documents: dict[str, tuple[Source, tuple[Document | Unreadable, ...]]] = {}
        self._nodes: dict[tuple[int, str], tuple[Document, Node | None]] = {}
        self._once: dict[Hashable, Any] = {}

    def paths(self) -> tuple[str, ...]:
        """The paths of all files."""
        if self._paths is None:
            self._paths = self._tree.paths()
        return self._paths

    def has_file(self, path: str) -> bool:
        """Whether there is a file at `path`."""
        if self._files is None:
            self._files = frozenset(self.paths())
        return path in self._files

    @cached_property
    def most_composed(self) -> int:
        """How many values each configuration may be composed of: many of one large base are as much work as a file of all their values."""
        return self._part_of_each(CONFIGURATIONS)

    @cached_property
    def most_included(self) -> int:
        """How many values each configuration that is a program may include from others."""
        return self._part_of_each(PROGRAMS)

    def _part_of_each(self, endings: tuple[str, ...]) -> int:
        together = ALL_COMPOSED // max(1, sum(path.endswith(endings) for path in self.paths()))
        return max(LEAST_COMPOSED, min(MOST_COMPOSED, together))

    def has_folder(self, path: str) -> bool:
        """Whether there are files below `path`."""
        if not self._folders:
            self._folders.add("")
            for each in self.paths():
                folder = each.rpartition("/")[0]
                while folder not in self._folders:
                    self._folders.add(folder)
                    folder = folder.rpartition("/")[0]
        return path in self._folders

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read."""
        found = self._sources.get(path)
        if found is None:
            found = self._tree.read(path)
            _keep(self._sources, path, found, self._most)
        return found

    def lacks(self, path: str) -> bool:
        """Whether there is no file at `path`, neither listed nor hidden."""
        found = self.read(path)
        return isinstance(found, Unreadable) and found.source is None and not self.has_file(path)

    def listed(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, as `read` does, if the tree lists it: a program imports much that is in no repository."""
        return self.read(path) if self.has_file(path) else Unreadable(path, MISSING)

    def once(self, name: Hashable, find: Callable[[], Found]) -> Found:
        """What `find` gives, which is found out once where texts are kept."""
        if name in self._once:
            found: Found = self._once[name]
            return found
        found = find()
        if len(self._once) < self._most:
            self._once[name] = found
        return found

    def document(self, source: Source) -> Document | None:
        """The one document in `source`, None if it is empty.

        Raises: CompositionError: there are several documents, or one can't be read.
        """
        documents = self._of(source)
        for document in documents:
            if isinstance(document, Unreadable):
                place = document.offset or 0
                raise CompositionError(ProblemKind.UNREADABLE, document.reason, Location(source.path, place, place))
        if len(documents) > 1:
            raise CompositionError(ProblemKind.UNREADABLE, "more than one document", Location(source.path))
        found = next(iter(documents), None)
        assert not isinstance(found, Unreadable)
        return found

    def nodes(self, source: Source, budget: Budget, loader: str) -> Node:
        """The tree of the one document in `source`, as `loader` has it; it may be changed.

        Raises: CompositionError: as `document` does.
        """
        document = self.document(source)
        return Branch(Location(source.path)) if document is None else self._of_document(document, budget, loader)

    def _of(self, source: Source) -> tuple[Document | Unreadable, ...]:
        """The documents of `source`."""
        known = self._documents.get(source.path)
        if known is not None and known[0] is source:
            return known[1]
        found = self._read(source)
        _keep(self._documents, source.path, (source, found), _MOST)
        return found

    def _of_document(self, document: Document, budget: Budget, loader: str) -> Node:
        """The tree of `document`: a copy of one that is kept if it is asked for again."""
        key = id(document), loader
        asked, kept = self._nodes.get(key, (None, None))
        if asked is document and kept is not None:
            return copy(kept, budget)
        found = from_document(document, budget, loader)
        if asked is document:
            self._nodes[key] = document, found
            return copy(found, budget)
        if len(self._nodes) < _MOST:
            self._nodes[key] = document, None
        return found


def _keep(kept: dict[Name, Found], name: Name, found: Found, most: int) -> None:
    """Keep what is `found` in the place of what was found first, if there are as many as `most`."""
    kept[name] = found
    if len(kept) > most:
        del kept[next(iter(kept))]
