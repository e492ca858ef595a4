"""A tree with some files as they would be: standard input, or an edit that is not written yet."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_gbs.files.worktree import Listing, listing
from pytest_gbs.model.location import Source, Tree, Unreadable
from pytest_gbs.model.record import NamedTuple


class OverlayTree(NamedTuple):
    """`base` with the texts of `files` (by path) in place of what it holds there, or beside it."""

    base: Tree
    files: Mapping[str, Source | str]

    def paths(self) -> tuple[str, ...]:
        """The paths of all files of both, sorted."""
        return self.listing().paths

    def listing(self) -> Listing:
        """The paths of all files of both, and the folders of the base that can't be listed."""
        found = listing(self.base)
        return found._replace(paths=tuple(sorted({*found.paths, *self.files})))

    def read(self, path: str) -> Source | Unreadable:
        """The text given for `path`, or else what the base has to say."""
        given = self.files.get(path)
        if given is None:
            return self.base.read(path)
        return given if isinstance(given, Source) else Source(path, given)
