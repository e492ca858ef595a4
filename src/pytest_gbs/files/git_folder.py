"""The folder in which git keeps what belongs to a working tree, and what in it would make git wait."""

# Paths are plain text here: `import pathlib` alone takes 4 ms, and joining paths with it more than opening them.
# ruff: noqa: PTH100, PTH111, PTH118, PTH120

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from pytest_gbs.files.regular import PIPE, not_regular, read_bytes
from pytest_gbs.model.limits import DEEPEST_FOLDER, MOST_GIT_FILES, MOST_INCLUDED, MOST_POINTER_BYTES, MOST_SETTINGS_BYTES
from pytest_gbs.model.pattern import lazy_pattern

_LEADING: Final = (("", "commondir"), ("objects/", "info/alternates"))  # where in a git folder a file names another folder, and the file


def git_folder(root: str) -> str:
    """Where git keeps what belongs to the working tree at `root`: a worktree and a submodule have a file that says so."""
    return _led(root, ".git", b"gitdir: ") or f"{root}/.git"


def special_file(folder: str) -> str | None:
    """What git would wait for in the repository that `folder` lies in, in words; None if there is nothing.

    Git opens whatever lies at the paths that it knows, and a named pipe keeps it waiting for a writer.
    """
    root = os.path.abspath(folder)
    while not os.path.lexists(f"{root}/.git"):
        above = os.path.dirname(root)
        if above == root:
            return None
        root = above
    if (kind := not_regular(f"{root}/.git")) is not None:
        return f"{root}/.git is {kind}"
    own = git_folder(root)
    folders = [own, *(found for place, name in _LEADING if (found := _led(f"{own}/{place}", name)) is not None)]
    left = MOST_GIT_FILES
    for each in folders:
        for entry in _entries(each, 0):
            left -= 1
            if left < 0:
                return None
            if (kind := _kind(entry)) is not None:
                return f"{entry.path} is {kind}"
    return _included([f"{each}/{name}" for each in folders for name in ("config", "config.worktree")])


def _included(files: list[str]) -> str | None:
    """The named pipe that one of these settings of git includes, or a file that they include does, in words; None if none does."""
    for file in files:  # grows while it is gone through
        data = read_bytes(file, MOST_SETTINGS_BYTES)
        for match in _path().finditer(os.fsdecode(data)) if isinstance(data, bytes) else ():
            named = os.path.join(os.path.dirname(file), os.path.expanduser(match[1]))
            if not_regular(named) == PIPE:
                return f"{named}, which {file} includes, is {PIPE}"
            if named not in files and len(files) < MOST_INCLUDED:
                files.append(named)
    return None


_path = lazy_pattern(r'(?im)\bpath[ \t]*=[ \t]*"?([^"\n]+?)"?[ \t\r]*$')


def _entries(folder: str, depth: int) -> Iterator[os.DirEntry[str]]:
    """Yield what is not a folder below a folder; hooks are not files that git reads."""
    with suppress(OSError, ValueError), os.scandir(folder) as listing:
        for entry in listing:
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif depth < DEEPEST_FOLDER and entry.name != "hooks":
                yield from _entries(entry.path, depth + 1)


def _kind(entry: os.DirEntry[str]) -> str | None:
    """What an entry of a folder is in words, if git would wait for it."""
    try:
        return None if entry.is_file() or entry.is_dir() else not_regular(entry.path)
    except OSError:
        return None


def _led(folder: str, name: str, sign: bytes = b"") -> str | None:
    """The folder that the file `name` in `folder` names behind `sign`; None if there is no such file."""
    data = read_bytes(f"{folder}/{name}", MOST_POINTER_BYTES)
    if isinstance(data, str) or not data.startswith(sign):
        return None
    return os.path.join(folder, os.fsdecode(data.removeprefix(sign).rstrip(b"\r\n")))


__all__ = ["git_folder", "special_file"]
