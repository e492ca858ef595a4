"""Where files come from: a seam with a working tree, a git revision, or an edit in memory behind it."""

from __future__ import annotations

from typing import Protocol

from pytest_gbs.model.location import Source, Unreadable


class Tree(Protocol):
    """A tree of files that can be listed and read, never written."""

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, relative and with `/`, sorted; ignored and hidden ones left out, links not followed."""

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read. Never raises for what is in the tree."""
