"""Which files git has in its index: those belong to the repository, whatever a `.gitignore` says of them."""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from typing import Final

from pytest_gbs.files.git_folder import git_folder
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.model.limits import MOST_INDEX_BYTES

# Documentation/gitformat-index.txt of git 2.43: a header of 12 bytes, then entries; behind 24 bytes of times and inode stands the mode.
_HEADER: Final = 12
_MODE: Final = 24
_NAMELESS: Final = 40  # bytes of an entry before its hash
_KINDS: Final = frozenset((0o04, 0o10, 0o12, 0o16))  # a folder of a sparse index, a file, a link, a submodule
_EXTENDED: Final = 0x40  # in the first byte of the flags: two more bytes of them follow
_HASHES: Final = (20, 32)  # bytes of SHA-1 and SHA-256


class TrackedFiles:
    """The files of the git repository at folder `root`, read from its index when first asked for; none if there is no index."""

    def __init__(self, root: str) -> None:
        self._root = root

    def has(self, path: str, *, folder: bool) -> bool:
        """Whether git tracks the file at `path`, relative to the repository, or any file in the folder there."""
        wanted = os.fsencode(path) + (b"/" if folder else b"")
        at = bisect_left(self._paths, wanted)
        found = self._paths[at] if at < len(self._paths) else b""
        return found.startswith(wanted) if folder else found == wanted

    @cached_property
    def _paths(self) -> list[bytes]:
        data = read_bytes(f"{git_folder(self._root)}/index", MOST_INDEX_BYTES)
        if isinstance(data, str):
            return []
        for size in _HASHES:
            try:
                return sorted(_names(data, size))
            except (IndexError, ValueError):
                continue
        return []


def _names(data: bytes, hash_size: int) -> Iterator[bytes]:
    """Yield the names in an index whose hashes have so many bytes.

    Raises: IndexError, ValueError: it is not one.
    """
    version, number = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:_HEADER], "big")
    if not data.startswith(b"DIRC") or version not in (2, 3, 4):
        raise ValueError
    place, name, left = _HEADER, b"", MOST_INDEX_BYTES  # version 4 can name with a few bytes what takes thousands
    for _ in range(number):
        flags = place + _NAMELESS + hash_size
        if data[place + _MODE + 2] >> 4 not in _KINDS:
            raise ValueError
        start = flags + (4 if data[flags] & _EXTENDED else 2)
        kept, start = _kept(data, start, len(name)) if version == 4 else (0, start)
        stop = data.index(b"\0", start)
        name = name[:kept] + data[start:stop]
        left -= len(name)
        if left < 0:
            raise ValueError
        # Up to version 3 an entry is filled up with 1 to 8 zeros to a multiple of 8 bytes.
        place = stop + 1 if version == 4 else place + (stop - place + 8) // 8 * 8
        yield name


def _kept(data: bytes, start: int, length: int) -> tuple[int, int]:
    """How many bytes of the name before, of `length` bytes, begin this one, by the number at `start`; and where the rest of it begins."""
    cut = data[start] & 0x7F
    while data[start] & 0x80:
        start += 1
        cut = (cut + 1 << 7) | (data[start] & 0x7F)
    if cut > length:
        raise ValueError
    return length - cut, start + 1
