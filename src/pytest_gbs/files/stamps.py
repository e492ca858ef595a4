"""When the files of a tree were last written, to see later whether one of them changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from typing import TypeAlias

from pytest_gbs.files.worktree import WorkTree

Stamps: TypeAlias = "dict[str, tuple[int, int, int]]"
"""The time of the last change in nanoseconds, the size and the inode of each file, by its absolute path."""


def stamps(tree: WorkTree, others: Iterable[str] = ()) -> Stamps:
    """Those of all files that `tree` lists, of those named in it, and of `others`; a file that is not there has none."""
    root = os.fspath(tree.root)
    paths = (os.path.join(root, path) for path in (*tree.paths(), *tree.named))  # noqa: PTH118
    found: Stamps = {}
    for path in (*paths, *others):
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError):
            continue
        if stat.S_ISREG(status.st_mode):
            found[path] = status.st_mtime_ns, status.st_size, status.st_ino
    return found
