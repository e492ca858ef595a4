"""Writing files so that none is ever lost or half: the only code here that changes a file on disk."""

# Paths are plain text here, as everywhere in this folder.
# ruff: noqa: PTH100, PTH101, PTH105, PTH108, PTH113, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from tempfile import mkstemp
from typing import Final

from pytest_gbs.files.decode import MARKS
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.files.root import StrPath, find_root, is_root, leads_outside
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple

_MARKS: Final = {encoding: mark for mark, encoding in MARKS}
_MOST: Final = 1 << 40
_SUFFIX: Final = ".gbs-tmp"
_NAME_BYTES: Final = 100
# When a temporary file claims to have been written: what git or an archive brings has another time, so that it is never taken for ours.
_MARK: Final = 981_173_106
_WORDS: Final = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "the file would be too large for this file system",
    errno.ENOENT: "there is no such folder",
    errno.ENOTDIR: "there is no such folder",
}


class FileChange(NamedTuple):
    """One file to be written: its path relative to the root, the bytes it must still hold (None: it must not exist), and the new ones."""

    path: str
    before: bytes | None
    after: bytes


class _Prepared(NamedTuple):
    """A change whose bytes lie complete beside the file, waiting to take its place."""

    change: FileChange
    target: str
    temporary: str


def encoded(source: Source) -> bytes:
    """The bytes of a file whose text is `source`, its byte order mark included: the inverse of reading it."""
    mark = _MARKS.get(source.encoding, b"") if source.bom else b""
    # Bytes of a script that are not UTF-8 go back as they came (files/decode).
    return mark + source.text.encode(source.encoding, "surrogateescape" if source.encoding == "utf-8" else "strict")


def write_together(root: StrPath, changes: Sequence[FileChange]) -> None:
    """Write all of `changes`, or none: what was written before one failed is put back.

    A link is followed to its target. Mode, owner and extended attributes stay. A program that reads it meanwhile sees the old bytes or
    the new ones, and so does who starts the machine again after a crash.

    Raises:
        UsageError: one can't be written, has changed since it was read, or lies outside of `root`.
    """
    prepared: list[_Prepared] = []
    try:
        for change in _once(root, changes):
            prepared.append(_prepare(root, change))
        _replace_all(prepared)
    finally:
        for each in prepared:
            with suppress(OSError):
                os.unlink(each.temporary)


def write_file(path: str, data: bytes) -> None:
    """Write `data` to the file at `path`, whatever it holds, in one go; to a pipe or a device as it is.

    Raises:
        UsageError: it can't be written, or a link in a repository leads out of it: a stranger may have put it there.
    """
    root = find_root(os.path.dirname(os.path.abspath(path)))
    if is_root(root) and leads_outside(path, root):
        raise UsageError(f"can't write {path}: a link leads from there out of the repository; nothing was written")
    if os.path.lexists(path) and not os.path.isfile(path):
        try:
            with open(path, "wb") as file:
                file.write(data)
        except OSError as error:
            raise UsageError(f"can't write {path}: {error.strerror or error}") from error
        return
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.lexists(folder):
        raise UsageError(f"can't write {path}: {_WORDS[errno.ENOENT]}; nothing was written")
    before = read_bytes(path, _MOST) if os.path.lexists(path) else None
    if isinstance(before, str):
        raise UsageError(f"can't write {path}: {before}; nothing was written")
    write_together(folder, [FileChange(name, before, data)])


def _once(root: StrPath, changes: Sequence[FileChange]) -> Iterator[FileChange]:
    """Yield each change of a file once: two paths may be links to one file.

    Raises:
        UsageError: they want it to be different.
    """
    known: dict[str, FileChange] = {}
    for change in changes:
        target = os.path.realpath(os.path.join(root, change.path))
        other = known.setdefault(target, change)
        if other is change:
            yield change
        elif other.after != change.after:
            raise UsageError(f"can't write {change.path}: it is the same file as {other.path}; nothing was written")


def _prepare(root: StrPath, change: FileChange) -> _Prepared:
    """The change with its bytes safely on the disk beside the file, which is untouched yet."""
    target = os.path.realpath(os.path.join(root, change.path))
    if leads_outside(target, os.fspath(root)):
        raise _refusal(change, "it is outside the checked folder")
    _must_be_as_read(change, target)
    with _explained(change):
        status = os.stat(target) if change.before is not None else None
        if status is not None and not os.access(target, os.W_OK):
            raise _refusal(change, _WORDS[errno.EACCES])
        return _Prepared(change, target, _write_beside(target, change.after, status))


def _must_be_as_read(change: FileChange, target: str) -> None:
    now = read_bytes(target, _MOST) if os.path.lexists(target) else None
    if isinstance(now, str):
        raise _refusal(change, now)
    if now != change.before:
        raise _refusal(change, "it has changed since it was read")


def _write_beside(target: str, data: bytes, status: os.stat_result | None) -> str:
    """The path of a new file in the folder of `target` that holds `data` and has its mode, owner and attributes."""
    folder, name = os.path.split(target)
    short = os.fsencode(name)[:_NAME_BYTES].decode("utf-8", "ignore")
    descriptor, temporary = mkstemp(prefix=f".{short}.{os.getpid()}-", suffix=_SUFFIX, dir=folder)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.utime(temporary, (_MARK, _MARK))
            os.fsync(file.fileno())
        _keep(temporary, target, status)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return temporary


def _keep(temporary: str, target: str, status: os.stat_result | None) -> None:
    """Give `temporary` the owner, the attributes and the mode of `target`; a new file gets those of any new file."""
    if status is None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        return
    own = os.stat(temporary)
    if hasattr(os, "chown") and (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        os.chown(temporary, status.st_uid, status.st_gid)
    if hasattr(os, "listxattr"):
        with suppress(OSError):
            for attribute in os.listxattr(target):
                with suppress(OSError):
                    os.setxattr(temporary, attribute, os.getxattr(target, attribute))
    os.chmod(temporary, stat.S_IMODE(status.st_mode))


def _replace_all(prepared: Sequence[_Prepared]) -> None:
    """Put every prepared file in its place; put back those that are there already when one can't be."""
    done: list[_Prepared] = []
    try:
        for each in prepared:
            _must_be_as_read(each.change, each.target)
            with _explained(each.change):
                _take_place(each.temporary, each.target)
            done.append(each)
    except BaseException:
        for each in done:
            _put_back(each)
        raise
    for folder in {os.path.dirname(each.target) for each in done}:
        _sync(folder)


def _take_place(temporary: str, target: str) -> None:
    os.utime(temporary)
    os.replace(temporary, target)


def remove_temporary_files(root: StrPath, folders: Iterable[str]) -> list[str]:
    """Remove the temporary files in `folders` (relative to the root) that a killed run left there; return their paths.

    Only regular files go that have the name and our mark, belong to this user, and whose process is gone. A file that came with the
    repository has another time, and stays whatever its name. Links are neither followed nor removed.
    """
    found: list[str] = []
    for folder in sorted({*folders}):
        full = os.path.join(root, folder)
        if leads_outside(os.path.join(full, _SUFFIX), os.fspath(root)):
            continue
        with suppress(OSError), os.scandir(full) as entries:
            for entry in [each for each in entries if _is_temporary(each)]:
                os.unlink(entry.path)
                found.append(f"{folder}/{entry.name}" if folder else entry.name)
    return found


def _is_temporary(entry: os.DirEntry[str]) -> bool:
    match = _temporary().fullmatch(entry.name)
    if match is None or not hasattr(os, "geteuid"):
        return False
    status = entry.stat(follow_symlinks=False)
    is_ours = stat.S_ISREG(status.st_mode) and os.geteuid() in (status.st_uid, 0) and status.st_nlink == 1
    return is_ours and int(status.st_mtime) == _MARK and not _runs(int(match.group(1)))


_temporary = lazy_pattern(rf"\..+\.([0-9]{{1,9}})-[a-z0-9_]{{8}}{re.escape(_SUFFIX)}", re.DOTALL)


def _runs(process: int) -> bool:
    """Whether a process of this number runs, on a system where that can be asked without touching it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it belongs to another user
    return True


def _put_back(each: _Prepared) -> None:
    """Undo one change, unless the file has changed since."""
    with suppress(OSError):
        if read_bytes(each.target, _MOST) != each.change.after:
            return
        if each.change.before is None:
            os.unlink(each.target)
        else:
            _take_place(_write_beside(each.target, each.change.before, os.stat(each.target)), each.target)


def _sync(folder: str) -> None:
    """Make the new names of a folder outlast a crash, where the system knows how."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _refusal(change: FileChange, why: str) -> UsageError:
    return UsageError(f"can't write {change.path}: {why}; nothing was written")


@contextmanager
def _explained(change: FileChange) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _refusal(change, _WORDS.get(error.errno or 0) or (error.strerror or "the operating system refuses").lower()) from error
