"""Reading the bytes of one regular file, whatever lies at its path."""

# Paths are plain text here: `import pathlib` alone takes 4 ms, and joining paths with it more than opening them.
# ruff: noqa: PTH114, PTH116

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable

from pytest_gbs.model.limits import MOST_SEARCHED_BYTES
from pytest_gbs.model.record import Final

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_PIECE: Final = 1 << 18
FOLDER: Final = "a folder, not a file"
PIPE: Final = "a named pipe, not a regular file"
MISSING: Final = "there is no such file"
NOWHERE: Final = "a symbolic link that leads nowhere"
LARGER: Final = "larger than"
CIRCLE: Final = "a symbolic link that refers back to itself"
OUTSIDE: Final = "a link that leads out of the tree; name the file itself to read it"
# What is not a file, so that nothing in it can have gone unread.
NOT_THERE: Final = frozenset((FOLDER, MISSING, NOWHERE, CIRCLE))
_KINDS: Final = (
    (stat.S_ISDIR, FOLDER),
    (stat.S_ISFIFO, PIPE),
    (stat.S_ISSOCK, "a socket, not a regular file"),
    (stat.S_ISCHR, "a device, not a regular file"),
    (stat.S_ISBLK, "a device, not a regular file"),
)
_REASONS: Final = {
    errno.ENOENT: MISSING,
    errno.ENOTDIR: MISSING,
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: CIRCLE,
    errno.ENAMETOOLONG: "its name is too long",
}


def read_bytes(path: str, most: int) -> bytes | str:
    """The bytes of the regular file at `path`, or in words why it can't be read.

    Links are followed. What is not a regular file is never opened: a named pipe would wait for a writer, a device may act on it.
    """
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return _kind(status.st_mode)
        if status.st_size > most:
            return too_large(most)
        return _read(path, status.st_size, most)
    except OSError as error:
        return reason(path, error)
    except ValueError:  # a null character, or one that no file name can hold
        return "no file can have this name"


def not_regular(path: str) -> str | None:
    """What lies at `path`, links followed, if opening it may wait or act: a named pipe, a socket, a device. None if it is none of these."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else _kind(mode)


def _read(path: str, size: int, most: int) -> bytes | str:
    # The file may have been swapped for a pipe since it was looked at, so that opening must not wait either.
    descriptor = os.open(path, _FLAGS)
    try:
        data = os.read(descriptor, size + 1)
        if len(data) == size and size:
            return data
        # It has changed since, or lies about its size as files in /proc do.
        pieces, length = [data], len(data)
        while length <= most and (data := os.read(descriptor, _PIECE)):
            pieces.append(data)
            length += len(data)
    finally:
        os.close(descriptor)
    return b"".join(pieces) if length <= most else too_large(most)


def may_hold(path: str, words: Iterable[str]) -> bool:
    """Whether one of `words` is in the regular file at `path`, however large it is, or may stand where it is too large."""
    wanted = tuple(word.encode() for word in words)
    overlap = max(map(len, wanted), default=1)
    searched, rest = 0, b""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return True
    try:
        while searched < MOST_SEARCHED_BYTES and (data := os.read(descriptor, _PIECE)):
            searched += len(data)
            rest = rest[-overlap:] + data
            if any(word in rest for word in wanted):
                return True
        return searched >= MOST_SEARCHED_BYTES
    except OSError:
        return True
    finally:
        os.close(descriptor)


def too_large(most: int) -> str:
    """The reason for a file above the limit of `most` bytes."""
    return f"{LARGER} {most:,} bytes"


def reason(path: str, error: OSError) -> str:
    """In words why the operating system refused `path`."""
    if error.errno == errno.ENOENT and os.path.islink(path):
        return NOWHERE
    known = _REASONS.get(error.errno or 0)
    return known or (error.strerror or "the operating system can't read it").lower()


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "not a regular file")
