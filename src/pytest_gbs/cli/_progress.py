"""A line on the terminal while a check takes long; nothing if it is not a terminal."""

from __future__ import annotations

from time import monotonic
from typing import Final, TextIO

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.files.worktree import Listing, listing
from pytest_gbs.model.location import Source, Tree, Unreadable

_DELAY: Final = 1.0  # seconds without a word
_INTERVAL: Final = 0.1  # seconds between words


class ProgressTree:
    """A tree that counts the files that were read, on one line of a terminal that is cleared in the end."""

    def __init__(self, tree: Tree, stream: TextIO, patience: float = _DELAY) -> None:
        self.tree, self.stream = tree, stream
        self.number, self.shown = 0, False
        self.next = monotonic() + patience

    def paths(self) -> tuple[str, ...]:
        """The paths of all files."""
        return self.tree.paths()

    def listing(self) -> Listing:
        """The paths of all files, and the folders that can't be listed."""
        return listing(self.tree)

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, and count it."""
        self.number += 1
        now = monotonic()
        if now >= self.next:
            self.next, self.shown = now + _INTERVAL, True
            self._write(f"\rgbs: {counted(self.number, 'file')} read")
        return self.tree.read(path)

    def clear(self) -> None:
        """Leave no trace."""
        if self.shown:
            self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            self.next = float("inf")
