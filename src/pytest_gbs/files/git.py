"""A git revision as a tree of files: read through the git executable, without a checkout, a hook, a filter or the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from hashlib import sha1, sha256
from select import select
from threading import Event, Timer
from typing import IO, Any, Final

from pytest_gbs.files.decode import decode
from pytest_gbs.files.git_folder import special_file
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.regular import MISSING, read_bytes, too_large
from pytest_gbs.files.root import StrPath
from pytest_gbs.files.worktree import LEFT_OUT, is_hidden
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import (
    DEEPEST_FOLDER,
    MOST_COMMITS,
    MOST_FILE_BYTES,
    MOST_GIT_SECONDS,
    MOST_MESSAGE_BYTES,
    MOST_REVISION_SECONDS,
    MOST_TREE_BYTES,
    MOST_TREE_ENTRIES,
)
from pytest_gbs.model.location import Source, Unreadable

# What a repository's own configuration may not do while it is read: run programs, fetch what is missing, wait for a password; and a
# folder of the tree that looks like a git directory is not one of ours.
_CONFIGURATION: Final = "core.fsmonitor=false core.hooksPath=/dev/null protocol.allow=never credential.helper= safe.bareRepository=explicit"
_SETTINGS: Final = tuple(word for setting in _CONFIGURATION.split() for word in ("-c", setting))
_HARMLESS: Final = ("--no-pager", "--no-optional-locks", "--literal-pathspecs", *_SETTINGS)
# Said once more where no configuration, however specific (`protocol.ext.allow`), can say otherwise.
_NO_FETCHING: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
_PIECE: Final = 1 << 16
_FILES: Final = (b"100644", b"100755")
_LINK: Final = b"120000"
_LACKING: Final = "this clone does not have its content"


class _Failed(Exception):
    """Git ends with an error."""


class GitRepository:
    """The git repository that folder `root` lies in, seen from there.

    Raises:
        UsageError: there is no git on this machine, `root` lies in no repository of it, or git would wait for what is in it.
    """

    def __init__(self, root: StrPath) -> None:
        self.root = str(root)
        self._commits: dict[str, str] = {}
        if (special := special_file(self.root)) is not None:
            raise UsageError(f"{special}: git would wait for it")
        inside = self._ask("rev-parse", "--is-inside-work-tree")
        if inside is None or inside.strip() != b"true":
            raise UsageError(f"{self.root} is not a git repository, or one that git does not trust: git status says why")

    def start(self, arguments: tuple[str, ...], **named: Any) -> subprocess.Popen[bytes]:
        """Start git, what it prints in a pipe and what it complains of nowhere."""
        command = ["git", "-C", self.root, *_HARMLESS, *arguments]
        try:
            environment = {**os.environ, **_NO_FETCHING}
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, **named)
        except OSError as error:
            why = "it is not on the PATH" if isinstance(error, FileNotFoundError) else (error.strerror or "no reason given").lower()
            raise UsageError(f"git can't be run: {why}") from error

    def _ask(self, *arguments: str) -> bytes | None:
        """What git prints, up to the most that commit messages may take; None if it fails."""
        pieces: list[bytes] = []
        left = MOST_MESSAGE_BYTES
        try:
            for piece in self._pieces(*arguments):
                pieces.append(piece[:left])
                left -= len(piece)
                if left <= 0:
                    break
        except _Failed:
            return None
        return b"".join(pieces)

    def _pieces(self, *arguments: str) -> Iterator[bytes]:
        """Yield what git prints, piece by piece; closing it early stops git.

        Raises:
            _Failed: git fails.
            UsageError: it takes too long.
        """
        late, seconds = Event(), MOST_REVISION_SECONDS if arguments[0] == "rev-parse" else MOST_GIT_SECONDS
        with self.start(arguments, stdin=subprocess.DEVNULL) as process:
            assert process.stdout is not None

            def stop() -> None:
                late.set()
                process.kill()

            timer = Timer(seconds, stop)
            timer.start()
            try:
                while piece := process.stdout.read(_PIECE):
                    yield piece
                process.wait()
            finally:
                timer.cancel()
                process.kill()
        if late.is_set():
            raise UsageError(f"git {arguments[0]} takes longer than {seconds} seconds")
        if process.returncode != 0:
            raise _Failed

    def commit(self, revision: str) -> str:
        """The full name of the commit that `revision` means.

        Raises:
            UsageError: there is none; the text says what may help.
        """
        if revision in self._commits:
            return self._commits[revision]
        safe = revision and not revision.startswith("-") and revision.isprintable()
        found = self._ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}") if safe else None
        if found is not None:
            name = found.decode().strip()
            self._commits[revision] = self._commits[name] = name
            return name
        if self.is_shallow():
            raise UsageError(f"no commit {revision!r} in this clone, which is shallow: git fetch --unshallow, or fetch-depth: 0 in CI")
        if self._ask("rev-parse", "--verify", "--quiet", "HEAD") is None:
            raise UsageError(f"no commit {revision!r}: this repository has no commit yet")
        raise UsageError(f"no commit {revision!r} in this repository; git fetch may bring it")

    def is_shallow(self) -> bool:
        """Whether the clone holds a part of the history only."""
        return (self._ask("rev-parse", "--is-shallow-repository") or b"").strip() == b"true"

    def fork(self, revision: str, other: str = "HEAD") -> str | None:
        """The last common commit of two revisions; None if this clone has none, or does not know it."""
        found = self._ask("merge-base", self.commit(revision), self.commit(other))
        return found.decode().split()[0] if found else None

    def messages(self, since: str, until: str = "HEAD") -> str:
        """What the commits say that `until` has and `since` has not."""
        span = f"{self.commit(since)}..{self.commit(until)}"
        found = self._ask("log", f"--max-count={MOST_COMMITS}", "--no-show-signature", "--format=%B", "--end-of-options", span)
        return (found or b"").decode("utf-8", "replace")

    def first_parents(self, since: str, until: str = "HEAD") -> list[tuple[str, str]]:
        """The commits on the way from `since` to `until`, both among them, with their days, oldest first; a merge is one commit."""
        start = self.commit(since)
        limits = ("--first-parent", f"--max-count={MOST_COMMITS}", "--format=%H %cs", "--no-show-signature", "--end-of-options")
        found = self._ask("log", *limits, f"{start}..{self.commit(until)}") or b""
        first = self._ask("log", "--max-count=1", *limits[2:], start) or b""
        lines = [line.split() for line in (found + first).decode("ascii", "replace").splitlines()]
        return [(line[0], line[1]) for line in reversed(lines) if len(line) == 2]

    def blobs(self, commit: str) -> tuple[dict[str, str], frozenset[str]]:
        """The regular files of `commit` below the root, by path with their names in git's store, and the paths of its links.

        Submodules are neither. Names that are not UTF-8 are those that Python has for them on disk.

        Raises:
            UsageError: git can't list them, or there are too many.
        """
        files: dict[str, str] = {}
        links: set[str] = set()
        try:
            for entry in self._entries(commit):
                about, _, raw = entry.partition(b"\t")
                parts = about.split()
                path = raw.decode("utf-8", "surrogateescape")
                if path.count("/") > DEEPEST_FOLDER:
                    continue
                if len(parts) == 3 and parts[0] in _FILES:
                    files[path] = parts[2].decode()
                elif len(parts) == 3 and parts[0] == _LINK:
                    links.add(path)
        except _Failed as error:
            raise UsageError(f"git can't list the files of {commit}: the clone lacks a part of it") from error
        return files, frozenset(links)

    def _entries(self, commit: str) -> Iterator[bytes]:
        """Yield the entries of a commit, folders too: a few objects can name one another more often than any disk has files.

        Raises:
            _Failed: git fails.
            UsageError: there are too many.
        """
        number, size, rest = 0, 0, b""
        for piece in self._pieces("ls-tree", "-r", "-t", "-z", commit):
            *entries, rest = (rest + piece).split(b"\0")
            number, size = number + len(entries), size + len(piece)
            if number > MOST_TREE_ENTRIES or size > MOST_TREE_BYTES:
                most = f"{MOST_TREE_ENTRIES:,} files and folders, or {MOST_TREE_BYTES:,} bytes of names"
                raise UsageError(f"commit {commit[:12]} has more than {most}: it is not read")
            yield from entries


class _Store:
    """A git process that describes objects, one after the other: their sizes (`--batch-check`), or their contents too (`--batch`)."""

    def __init__(self, repository: GitRepository, mode: str) -> None:
        self._repository, self._mode = repository, mode
        self._process: subprocess.Popen[bytes] | None = None

    def size(self, name: str) -> int | None:
        """The size in bytes of the object of that name; None if a partial clone lacks it."""
        if self._process is None:
            self._process = self._repository.start(("cat-file", self._mode), stdin=subprocess.PIPE)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(name.encode() + b"\n")
            process.stdin.flush()
        except OSError:
            self.close()
            return None
        if not _answers(process.stdout):
            process.kill()
        about = process.stdout.readline().split()
        if not about:  # git ends where a partial clone lacks a file, since it may not fetch it
            self.close()
        return int(about[2]) if len(about) == 3 and about[2].isdigit() else None

    def content(self, name: str) -> bytes | None:
        """The bytes of the object of that name; None if a partial clone lacks it."""
        size = self.size(name)
        if size is None or self._process is None or self._process.stdout is None:
            return None
        return self._process.stdout.read(size + 1)[:-1]

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # it has ended already, and what it was asked for can't be sent
                        pipe.close()
            self._process.wait()
            self._process = None


def _answers(pipe: IO[bytes]) -> bool:
    """Whether git says something in time; it may wait for what lies where it keeps an object."""
    return os.name != "posix" or bool(select((pipe,), (), (), MOST_GIT_SECONDS)[0])


class GitTree:
    """The files of one commit below the root, as a check of a folder with the same files would list and read them."""

    def __init__(self, repository: GitRepository, commit: str, max_file_size: int = MOST_FILE_BYTES, exclude: tuple[str, ...] = ()) -> None:
        self.repository = repository
        self.max_file_size = max_file_size
        self.exclude = exclude
        self.blobs, self.links = repository.blobs(commit)
        self._sizes, self._contents = _Store(repository, "--batch-check"), _Store(repository, "--batch")
        self._known: dict[str, Source | Unreadable] = {}
        self._texts: dict[str, Source | Unreadable] = {}

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, sorted; hidden, excluded and installed ones left out."""
        return self._paths

    @cached_property
    def _paths(self) -> tuple[str, ...]:
        is_left_out = _left_out(self.blobs, self.exclude)
        return tuple(sorted(path for path in self.blobs if not is_left_out(path)))

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def _read(self, path: str) -> Source | Unreadable:
        blob = self.blobs.get(path)
        if blob is None:
            return Unreadable(path, MISSING)
        if blob not in self._texts:  # a commit can hold one text under many names
            data = self._bytes(blob, self.max_file_size)
            self._texts[blob] = Unreadable(path, data) if isinstance(data, str) else decode(path, data)
        return self._texts[blob]._replace(path=path)

    def changed(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield those of `paths` whose file on disk is not the one of this tree: edited, new, or of another kind."""
        for path in paths:
            blob = self.blobs.get(path)
            data = read_bytes(f"{self.repository.root}/{path}", self.max_file_size) if blob is not None else b""
            if blob is None or isinstance(data, str) or not is_blob(data, blob):
                yield path

    def _bytes(self, blob: str, most: int) -> bytes | str:
        """The bytes of a file of at most so many, or in words why it can't be read."""
        size = self._sizes.size(blob)
        if size is not None and size > most:
            return too_large(most)
        data = self._contents.content(blob) if size is not None else None
        return _LACKING if data is None else data

    def close(self) -> None:
        """End the processes that read."""
        self._sizes.close()
        self._contents.close()

    def __enter__(self) -> GitTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _left_out(files: dict[str, str], exclude: tuple[str, ...]) -> Callable[[str], bool]:
    """A function that says whether a path is left out, as `WorkTree.paths` does of what git tracks."""
    folders: dict[str, bool] = {"": False}

    def entry_is_out(path: str, is_folder: bool) -> bool:
        installed = is_folder and path.rpartition("/")[2] in LEFT_OUT
        return is_hidden(path) or installed or matches_any(path + "/" if is_folder else path, exclude)

    def folder_is_out(folder: str) -> bool:
        if folder not in folders:
            above = folder.rpartition("/")[0]
            folders[folder] = folder_is_out(above) or f"{folder}/pyvenv.cfg" in files or entry_is_out(folder, True)
        return folders[folder]

    return lambda path: folder_is_out(path.rpartition("/")[0]) or entry_is_out(path, False)


def is_blob(data: bytes, name: str) -> bool:
    """Whether git would store `data` under `name`, line ends as they are or as git turns them."""
    kind = sha256 if len(name) == 64 else sha1
    return any(kind(b"blob %d\0" % len(each) + each).hexdigest() == name for each in (data, data.replace(b"\r\n", b"\n")))
