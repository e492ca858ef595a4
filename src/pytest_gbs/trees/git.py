"""A git revision as a tree of files: read through the git executable, without a checkout, a hook, a filter or the network."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha1, sha256

from pytest_gbs.core.errors import UsageError
from pytest_gbs.core.globs import matches_any
from pytest_gbs.core.limits import DEEPEST_FOLDER, MOST_COMMITS, MOST_FILE_BYTES, MOST_GIT_SECONDS, MOST_IGNORE_BYTES
from pytest_gbs.core.location import Source, Unreadable
from pytest_gbs.core.typed import Any, Final, NamedTuple
from pytest_gbs.parsing.decode import decode
from pytest_gbs.trees.files import MISSING, read_bytes, too_large
from pytest_gbs.trees.gitignore import IgnoreFile
from pytest_gbs.trees.root import StrPath
from pytest_gbs.trees.worktree import LEFT_OUT

# What a repository's own configuration may not do while it is read: run programs, fetch what is missing, wait for a password.
_HARMLESS: Final = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "protocol.allow=never",
    "-c",
    "credential.helper=",
    "-c",
    "safe.bareRepository=explicit",  # a folder of the tree that looks like a git directory is none of ours
)
# Said once more where no configuration, however specific (`protocol.ext.allow`), can say otherwise.
_NO_FETCHING: Final = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ""}
_FILES: Final = (b"100644", b"100755")
_LINK: Final = b"120000"


class Blob(NamedTuple):
    """A file of a revision: its name in git's store, and its size in bytes (-1 where a partial clone does not have it)."""

    name: str
    size: int


class GitRepository:
    """The git repository that folder `root` lies in, seen from there.

    Raises:
        UsageError: there is no git on this machine, or `root` lies in no repository of it; one clear line.
    """

    def __init__(self, root: StrPath) -> None:
        self.root = str(root)
        self._commits: dict[str, str] = {}
        inside = self._ask("rev-parse", "--is-inside-work-tree")
        if inside is None or inside.strip() != b"true":
            raise UsageError(f"{self.root} is no git repository, or one that git does not trust: git status says why")

    def start(self, arguments: tuple[str, ...], **named: Any) -> subprocess.Popen[bytes]:
        """Start git, what it prints in a pipe and what it complains of nowhere."""
        command = ["git", "-C", self.root, *_HARMLESS, *arguments]
        try:
            environment = {**os.environ, **_NO_FETCHING}
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment, **named)
        except OSError as error:
            why = "there is none on the PATH" if isinstance(error, FileNotFoundError) else (error.strerror or "no reason given").lower()
            raise UsageError(f"git can't be run: {why}") from error

    def _ask(self, *arguments: str) -> bytes | None:
        """Return what git prints, or None where it fails."""
        with self.start(arguments, stdin=subprocess.DEVNULL) as process:
            try:
                out, _ = process.communicate(timeout=MOST_GIT_SECONDS)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise UsageError(f"git {arguments[0]} takes longer than {MOST_GIT_SECONDS} seconds") from error
            return out if process.returncode == 0 else None

    def commit(self, revision: str) -> str:
        """Return the full name of the commit that `revision` means.

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
        """Return whether the clone holds a part of the history only."""
        return (self._ask("rev-parse", "--is-shallow-repository") or b"").strip() == b"true"

    def fork(self, revision: str, other: str = "HEAD") -> str | None:
        """Return the last common commit of two revisions; None where this clone has none, or does not know it."""
        found = self._ask("merge-base", self.commit(revision), self.commit(other))
        return found.decode().split()[0] if found else None

    def messages(self, since: str, until: str = "HEAD") -> str:
        """Return what the commits say that `until` has and `since` has not."""
        span = f"{self.commit(since)}..{self.commit(until)}"
        found = self._ask("log", f"--max-count={MOST_COMMITS}", "--no-show-signature", "--format=%B", "--end-of-options", span)
        return (found or b"").decode("utf-8", "replace")

    def blobs(self, commit: str) -> tuple[dict[str, Blob], frozenset[str]]:
        """Return the regular files of `commit` below the root, by path, and the paths of its links. Submodules are neither.

        Names that are no UTF-8 are those that Python has for them on disk.
        """
        listed = self._ask("ls-tree", "-r", "-z", "-l", commit)
        if listed is None:
            listed = self._ask("ls-tree", "-r", "-z", commit)
        if listed is None:
            raise UsageError(f"git can't list the files of {commit}: the clone lacks a part of it")
        files: dict[str, Blob] = {}
        links: set[str] = set()
        for entry in listed.split(b"\0"):
            about, _, raw = entry.partition(b"\t")
            parts = about.split()
            path = raw.decode("utf-8", "surrogateescape")
            if path.count("/") > DEEPEST_FOLDER:
                continue
            if len(parts) >= 3 and parts[0] in _FILES:
                size = parts[3] if len(parts) > 3 else b"0"
                files[path] = Blob(parts[2].decode(), int(size) if size.isdigit() else -1)
            elif len(parts) >= 3 and parts[0] == _LINK:
                links.add(path)
        return files, frozenset(links)


class GitTree:
    """The files of one commit below the root, as a check of a folder with the same files would list and read them."""

    def __init__(self, repository: GitRepository, commit: str, max_file_size: int = MOST_FILE_BYTES, exclude: tuple[str, ...] = ()) -> None:
        self.repository = repository
        self.max_file_size = max_file_size
        self.exclude = exclude
        self.blobs, self.links = repository.blobs(commit)
        self._reader: subprocess.Popen[bytes] | None = None
        self._paths: tuple[str, ...] | None = None
        self._known: dict[str, Source | Unreadable] = {}

    def paths(self) -> tuple[str, ...]:
        """Return the paths of all files, sorted; hidden, ignored, excluded and installed ones left out."""
        if self._paths is None:
            is_left_out = _left_out(self.blobs, self._ignore_file, self.exclude)
            self._paths = tuple(sorted(path for path in self.blobs if not is_left_out(path)))
        return self._paths

    def _ignore_file(self, path: str) -> bytes | None:
        return self._bytes(path) if self.blobs[path].size <= MOST_IGNORE_BYTES else None

    def read(self, path: str) -> Source | Unreadable:
        """Return the text of the file at `path`, or why it can't be read."""
        if path not in self._known:
            self._known[path] = self._read(path)
        return self._known[path]

    def exists(self, path: str) -> bool:
        """Return whether there is a file at `path`, which may be hidden or ignored."""
        return path in self.blobs

    def changed(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield those of `paths` whose file on disk is not the one of this tree: edited, new, or of another kind."""
        for path in paths:
            blob = self.blobs.get(path)
            data = read_bytes(f"{self.repository.root}/{path}", self.max_file_size) if blob is not None else b""
            if blob is None or isinstance(data, str) or not is_blob(data, blob.name):
                yield path

    def _read(self, path: str) -> Source | Unreadable:
        blob = self.blobs.get(path)
        if blob is None:
            return Unreadable(path, MISSING)
        if blob.size > self.max_file_size:
            return Unreadable(path, too_large(self.max_file_size))
        data = self._bytes(path)
        return Unreadable(path, "this clone does not have its content") if data is None else decode(path, data)

    def _bytes(self, path: str) -> bytes | None:
        """Return the bytes of a file; None where a partial clone does not have them."""
        blob = self.blobs[path]
        if blob.size < 0:
            return None
        if self._reader is None:
            self._reader = self.repository.start(("cat-file", "--batch"), stdin=subprocess.PIPE)
        reader = self._reader
        assert reader.stdin is not None
        assert reader.stdout is not None
        try:
            reader.stdin.write(blob.name.encode() + b"\n")
            reader.stdin.flush()
        except OSError:
            self.close()
            return None
        about = reader.stdout.readline().split()
        if not about:  # git ends where a partial clone lacks a file, since it may not fetch it
            self.close()
        if len(about) != 3 or not about[2].isdigit():
            return None
        return reader.stdout.read(int(about[2]) + 1)[:-1]

    def close(self) -> None:
        """End the process that reads."""
        if self._reader is not None:
            for pipe in (self._reader.stdin, self._reader.stdout):
                if pipe is not None:
                    with suppress(OSError):  # it has ended already, and what it was asked for can't be sent
                        pipe.close()
            self._reader.wait()
            self._reader = None

    def __enter__(self) -> GitTree:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _left_out(files: dict[str, Blob], data: Callable[[str], bytes | None], exclude: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what tells whether a path is left out, as `WorkTree.paths` does."""
    ignores: dict[str, tuple[IgnoreFile, ...]] = {}
    folders: dict[str, bool] = {"": False}

    def ignored_by(folder: str) -> tuple[IgnoreFile, ...]:
        if folder not in ignores:
            above = ignored_by(folder.rpartition("/")[0]) if folder else ()
            path = f"{folder}/.gitignore" if folder else ".gitignore"
            text = data(path) if path in files else None
            own = IgnoreFile(text.decode("utf-8", "surrogateescape"), len(path) - len(".gitignore")) if text else None
            ignores[folder] = (own, *above) if own else above
        return ignores[folder]

    def entry_is_out(path: str, is_folder: bool) -> bool:
        folder, _, name = path.rpartition("/")
        if name.startswith(".") or (is_folder and name in LEFT_OUT):
            return True
        said = (file.says(path, name, is_folder) for file in ignored_by(folder))
        if next((verdict for verdict in said if verdict is not None), False):
            return True
        return matches_any(path + "/" if is_folder else path, exclude)

    def folder_is_out(folder: str) -> bool:
        if folder not in folders:
            above = folder.rpartition("/")[0]
            folders[folder] = folder_is_out(above) or f"{folder}/pyvenv.cfg" in files or entry_is_out(folder, True)
        return folders[folder]

    return lambda path: folder_is_out(path.rpartition("/")[0]) or entry_is_out(path, False)


def is_blob(data: bytes, name: str) -> bool:
    """Return whether git would store `data` under `name`, line ends as they are or as git turns them."""
    kind = sha256 if len(name) == 64 else sha1
    return any(kind(b"blob %d\0" % len(each) + each).hexdigest() == name for each in (data, data.replace(b"\r\n", b"\n")))


__all__ = ["Blob", "GitRepository", "GitTree", "is_blob"]
