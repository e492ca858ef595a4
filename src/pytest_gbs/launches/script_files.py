"""The files of a tree as its scripts see them: what they source, start and name."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pytest_gbs.launches.idle_scripts import IdleScripts
from pytest_gbs.launches.launcher_files import LauncherFiles
from pytest_gbs.launches.missing import MissingFiles
from pytest_gbs.launches.path_finder import PathFinder
from pytest_gbs.model.command import OtherFiles
from pytest_gbs.model.document import DOCUMENTS
from pytest_gbs.model.location import Source, Tree, Unreadable
from pytest_gbs.readers.refusal import conflict
from pytest_gbs.shell.limits import SharedSteps


class ScriptFiles:
    """Reads and finds files of one tree for all of its scripts; `paths` are all that it has."""

    def __init__(self, tree: Tree, paths: Sequence[str]) -> None:
        self.tree = tree
        self.finder = PathFinder(tree, paths)
        self.launcher_files = LauncherFiles(self.finder, self.source)
        self.idle = IdleScripts(self.source, self.finder.named)

    @cached_property
    def missing(self) -> MissingFiles:
        """Finds the files that commands name and that are not there."""
        return MissingFiles(self.tree, self.finder.known, self.finder.places)

    def readable(self, path: str) -> Source | Unreadable:
        """The file at `path`, or why it can't be read; what git marked in a document is for readers to see."""
        found = self.tree.read(path)
        marked = conflict(found.text) if isinstance(found, Source) and not path.lower().endswith(DOCUMENTS) else None
        return Unreadable(path, marked[1], marked[0], found) if marked is not None and isinstance(found, Source) else found

    def source(self, path: str) -> Source | None:
        """The file at `path`, None if it can't be read."""
        found = self.readable(path)
        return found if isinstance(found, Source) else None

    def has(self, path: str) -> bool:
        """Whether there is a file at `path`, be it behind a link that no listing has."""
        return path in self.finder.known or self.source(path) is not None

    def free(self) -> OtherFiles:
        """The files as one script sees them, whose statements nothing is paid for."""
        return OtherFiles(self.source, self.has)

    def paid_from(self, shared: SharedSteps) -> OtherFiles:
        """The files as a script sees them that pays for what it reads from what all scripts share."""

        def sourced(path: str) -> Source | None:
            """A file that a script sources; raises `Exhausted` if all scripts together have too much."""
            source = self.source(path)
            if source is not None:
                shared.take_in(source.text)
            return source

        return OtherFiles(sourced, self.has, shared.pay)
