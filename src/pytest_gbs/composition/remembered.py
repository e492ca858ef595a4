"""A tree that many compositions look into: listed once, each file read and parsed once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pytest_gbs.composition._nodes import Node
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.tree import Tree

# A repository's configurations; beyond that, files are read again.
_MOST: Final = 2_000


class Remembered:
    """A tree and its documents, kept for as long as they are asked for. Composition changes copies alone."""

    def __init__(self, tree: Tree, read: Callable[[Source], tuple[Document | Unreadable, ...]], paths: tuple[str, ...]) -> None:
        self._tree = tree
        self._read = read
        self._paths = paths
        self._listed: frozenset[str] | None = None
        self._sources: dict[str, Source | Unreadable] = {}
        self._documents: dict[str, tuple[Source, tuple[Document | Unreadable, ...]]] = {}
        self._planted: dict[tuple[int, str], tuple[Document, Node | None]] = {}

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files."""
        return self._paths

    def lists(self, path: str) -> bool:
        """Return whether there is a file at `path`."""
        if self._listed is None:
            self._listed = frozenset(self._paths)
        return path in self._listed

    def read(self, path: str) -> Source | Unreadable:
        """Return the text of the file at `path`, or why it can't be read."""
        found = self._sources.get(path)
        if found is None:
            found = self._tree.read(path)
            if len(self._sources) < _MOST:
                self._sources[path] = found
        return found

    def documents(self, source: Source) -> tuple[Document | Unreadable, ...]:
        """Return the documents of `source`."""
        known = self._documents.get(source.path)
        if known is not None and known[0] is source:
            return known[1]
        found = self._read(source)
        if len(self._documents) < _MOST:
            self._documents[source.path] = source, found
        return found

    def planted(self, document: Document, loader: str) -> Node | None:
        """Return the tree of `document` as `loader` has it, where it is kept; to be copied, never changed."""
        known = self._planted.get((id(document), loader))
        return known[1] if known is not None and known[0] is document else None

    def keeps(self, document: Document, loader: str) -> bool:
        """Return whether the tree of `document` is worth keeping: it was asked for before."""
        key = (id(document), loader)
        if key in self._planted:
            return True
        if len(self._planted) < _MOST:
            self._planted[key] = document, None
        return False

    def plant(self, document: Document, loader: str, tree: Node) -> None:
        """Keep the tree of `document`."""
        self._planted[id(document), loader] = document, tree


__all__ = ["Remembered"]
