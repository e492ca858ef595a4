"""Which folder a check is about: the nearest one upwards that holds settings or a git repository."""

# Paths are plain text here: `import pathlib` alone takes 4 ms, and joining paths with it more than opening them.
# ruff: noqa: PTH100, PTH111, PTH112, PTH113, PTH118, PTH120

from __future__ import annotations

import os
import re

from pytest_gbs.files.regular import read_bytes
from pytest_gbs.model.limits import MOST_SETTINGS_BYTES, MOST_UNMARKED
from pytest_gbs.model.record import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from typing import TypeVar

    _Root = TypeVar("_Root", bound="str | os.PathLike[str]")

# Callers on the way of `gbs check` use plain text, since `import pathlib` takes 4 ms.
StrPath: TypeAlias = "str | os.PathLike[str]"
_TABLE: Final = rb"""(?m)^[ \t]*(\[{1,2}[ \t]*["']?tool["']?[ \t]*(\.[ \t]*["']?gbs(?![\w-])|\])|tool[ \t]*\.[ \t]*gbs(?![\w-]))"""


def find_root(start: _Root) -> _Root:
    """The nearest folder upwards from `start` with `gbs.toml`, `[tool.gbs]` in pyproject.toml, or `.git`; else `start` itself.

    Of a file the folder is meant. The answer has the type of the question.
    """
    first = os.path.abspath(str(start))
    if not os.path.isdir(first):
        first = os.path.dirname(first)
    folder = first
    while not is_root(folder):
        above = os.path.dirname(folder)
        if above == folder:
            folder = first
            break
        folder = above
    return type(start)(folder)  # type: ignore[call-arg]


def is_root(folder: str) -> bool:
    """Whether settings or a git repository mark `folder`."""
    if os.path.lexists(os.path.join(folder, ".git")) or os.path.isfile(os.path.join(folder, "gbs.toml")):
        return True
    data = read_bytes(os.path.join(folder, "pyproject.toml"), MOST_SETTINGS_BYTES)
    return isinstance(data, bytes) and has_settings(data)


def is_home(folder: str) -> bool:
    """Whether `folder` is the user's home or one above it, as the root of all files is."""
    home = os.path.join(os.path.expanduser("~"), "")
    return home.startswith(os.path.join(folder, ""))


def most_searched(root: str) -> int | None:
    """How many files and folders of `root` are looked at for what may launch a file that was named: None if all are.

    Naming one file does not mean all of a home, or all of a large folder that nothing marks.
    """
    if is_root(root):
        return MOST_UNMARKED if is_home(root) else None
    return 0 if is_home(root) else MOST_UNMARKED


def has_settings(pyproject: bytes) -> bool:
    """Whether a pyproject.toml may hold `[tool.gbs]`, without parsing it: its name is in the dependencies of many."""
    return b"gbs" in pyproject and re.search(_TABLE, pyproject) is not None


def leads_outside(path: str, root: str) -> bool:
    """Whether `path`, all links followed, lies elsewhere than below `root`."""
    inside = os.path.realpath(root).rstrip(os.sep) + os.sep
    return "\0" in path or not os.path.realpath(path).startswith(inside)
