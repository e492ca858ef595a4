"""A folder on disk as a tree of files."""

# Paths are plain text here: `import pathlib` alone takes 4 ms, and joining paths with it more than opening them.
# ruff: noqa: PTH100, PTH114, PTH117

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import cache, partial

from pytest_gbs.files.decode import decode
from pytest_gbs.files.globs import matches_any
from pytest_gbs.files.regular import NOT_THERE, OUTSIDE, may_hold, read_bytes, reason, too_large
from pytest_gbs.files.root import StrPath, find_root, most_searched
from pytest_gbs.model.limits import MOST_FILE_BYTES, MOST_IGNORE_BYTES, MOST_UNMARKED
from pytest_gbs.model.location import Source, Tree, Unreadable, upwards
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from pytest_gbs.files.gitignore import IgnoreFile
    from pytest_gbs.files.tracked import TrackedFiles

# Folders of installed packages and caches; those with a dot in front are left out as hidden.
LEFT_OUT: Final = frozenset({"__pycache__", "__pypackages__", "node_modules", "site-packages", "unsloth_compiled_cache", "venv"})


# The one hidden folder that is looked into, for the commands of its workflows and actions.
_OF_GITHUB: Final = ".github"


def is_hidden(path: str) -> bool:
    """Whether a file or folder that is listed in a folder that is not left out is hidden, by its name and place."""
    first, _, inside = path.partition("/")
    if first == _OF_GITHUB:
        return inside != "" and (inside.partition("/")[0] not in ("workflows", "actions") or path.rpartition("/")[2].startswith("."))
    return path.rpartition("/")[2].startswith(".")


class Listing(NamedTuple):
    """The paths of all files of a tree, sorted, its folders that can't be listed, each with the reason, and why others were not, if so."""

    paths: tuple[str, ...]
    unlisted: tuple[tuple[str, str], ...] = ()
    notice: str = ""


def listing(tree: Tree) -> Listing:
    """What `tree` lists, with the folders that it can't, if it knows."""
    found: Callable[[], Listing] | None = getattr(tree, "listing", None)
    return found() if found is not None else Listing(tree.paths())


class WorkTree(NamedTuple):
    """The files below folder `root`, as they are now.

    A file larger than `max_file_size` bytes can't be read. `exclude` are globs of what is left out beside hidden and ignored files.
    `named` are paths, relative to the root, that a user asked for: only they may lead out of the root, by `..` or a link, and they are
    listed although they are ignored. `most` is None, or how many files and folders are looked at for what is around those: where there
    are more, only files near them are listed. `known` are folders that lead nowhere else, as far as they are kept.
    """

    root: StrPath
    max_file_size: int = MOST_FILE_BYTES
    exclude: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    most: int | None = None
    known: set[str] | None = None

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, with `/`, sorted; hidden, ignored, excluded and installed ones left out.

        What git tracks is not ignored, whatever a `.gitignore` says: it was added all the same. Links to folders are not followed, links
        to files are listed. A folder that can't be listed counts as empty.
        """
        return self.listing().paths

    def listing(self) -> Listing:
        """The paths of all files, as `paths` does, and the folders among them that can't be listed.

        Where they are too many, the folders that hold what was named are listed whole, or where these are too large too, without the
        folders in them.
        """
        folders = tuple(path if path.endswith("/") else path[: path.rfind("/") + 1] for path in self.named)
        given = tuple(path for path in self.named if path.endswith("/"))
        found = self._list(("",), self.most)
        if found is not None:
            return found
        found = (None if "" in folders else self._list(folders, MOST_UNMARKED)) or self._list(given, None)
        assert found is not None, "a listing without an end was cut off"
        return found._replace(notice=_searched_near(os.path.abspath(self.root), self.most))

    def _list(self, inside: tuple[str, ...], most: int | None) -> Listing | None:
        """The files of the folders `inside`, and those that lie on the way to what was named; None if there are more than `most`."""
        base = _with_slash(self.root)
        above, outer, repository = _ignored_from_above(base)
        tracked = cache(partial(_tracked_files, repository))
        named = frozenset(path.rstrip("/") for path in self.named)
        wanted = named.union(*map(upwards, named))  # with the folders that lead there
        found: list[str] = []
        unlisted: list[tuple[str, str]] = []
        pending = [("", outer, False)]
        seen = 0
        while pending:
            folder, ignored_by, is_ignored = pending.pop()
            entries = _entries(base + folder)
            if isinstance(entries, str):
                if entries not in NOT_THERE:
                    unlisted.append((folder or "./", entries))
                continue
            seen += len(entries)
            if most is not None and seen > most:
                return None
            if folder and any(entry.name == "pyvenv.cfg" for entry in entries):
                continue
            own = _own_ignore_file(entries, len(above) + len(folder))
            if own:
                ignored_by = (own, *ignored_by)
            for entry in entries:
                name = entry.name
                is_folder = _is_folder(entry)
                path = folder + name
                if is_hidden(path) or (is_folder and (name in LEFT_OUT or entry.is_symlink())):
                    continue
                if matches_any(path + "/" if is_folder else path, self.exclude):
                    continue
                ignored = is_ignored or bool(ignored_by and _ignored(above + path, name, is_folder, ignored_by))
                if ignored and not (path in wanted or tracked().has(above + path, folder=is_folder)):
                    continue
                if not is_folder:
                    found.append(path)
                elif path in wanted or (path + "/").startswith(inside):
                    pending.append((path + "/", ignored_by, ignored and path not in named))
        return Listing(tuple(sorted(found)), tuple(sorted(unlisted)))

    def read(self, path: str) -> Source | Unreadable:
        """The text of the file at `path`, or why it can't be read; only regular files below the root are opened."""
        full = _with_slash(self.root) + path
        if path not in self.named and (refused := _refused(self.root, path, self.known)):
            return Unreadable(path, refused)
        data = read_bytes(full, self.max_file_size)
        if isinstance(data, bytes):
            return decode(path, data)
        if data != too_large(self.max_file_size):
            return Unreadable(path, data)
        from pytest_gbs.files.words import launching_words

        words = launching_words(path)
        matters = bool(words) and may_hold(full, words)
        return Unreadable(path, f"{data}; max-file-size in [tool.gbs] raises it", matters=matters)


def _searched_near(root: str, most: int | None) -> str:
    """What to say if only what is near the named files was searched, since `root` is too large."""
    why = f"has more than {most:,} files and folders" if most else "is a home folder or above one"
    return f"{root} {why}: launches were sought only near what was named; a gbs.toml, which may be empty, marks the top of a project"


def _with_slash(root: StrPath) -> str:
    text = os.fspath(root) or "."
    return text if text.endswith("/") else text + "/"


def _entries(folder: str) -> list[os.DirEntry[str]] | str:
    """What is in a folder, or in words why it can't be listed."""
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        return reason(folder, error)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether `entry` is a folder or a link to one; a link that can't be followed is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _ignored(path: str, name: str, folder: bool, ignored_by: tuple[IgnoreFile, ...]) -> bool:
    """What the nearest file with anything to say of `path` says."""
    for file in ignored_by:
        verdict = file.says(path, name, folder)
        if verdict is not None:
            return verdict
    return False


def _own_ignore_file(entries: list[os.DirEntry[str]], base: int) -> IgnoreFile | None:
    """The `.gitignore` among `entries`; like git, not one that is a link."""
    for entry in entries:
        if entry.name == ".gitignore" and not entry.is_symlink():
            return _ignore_file(entry.path, base)
    return None


def _ignore_file(path: str, base: int) -> IgnoreFile | None:
    data = read_bytes(path, MOST_IGNORE_BYTES)
    if isinstance(data, str):
        return None
    from pytest_gbs.files.gitignore import IgnoreFile

    # File names come from the system in this way too: what is not UTF-8 compares equal all the same.
    return IgnoreFile(data.decode("utf-8", "surrogateescape"), base)


def _ignored_from_above(base: str) -> tuple[str, tuple[IgnoreFile, ...], str]:
    """The path of folder `base` within its git repository, the ignore files above it, the nearest first, and the repository's."""
    folder, above = os.path.abspath(base), ""
    files: list[tuple[str, int]] = []
    while not os.path.lexists(folder + "/.git"):
        parent, name = os.path.split(folder)
        if parent == folder:
            return "", (), folder
        above = f"{name}/{above}"
        folder = parent
        files.append((f"{folder}/.gitignore", len(above)))
    named = [(f"{folder}/.git/info/exclude", len(above)), *reversed(files)]
    found = (_ignore_file(path, len(above) - rest) for path, rest in named if not os.path.islink(path))
    return above, tuple(file for file in reversed([*found]) if file), folder


def _tracked_files(repository: str) -> TrackedFiles:
    from pytest_gbs.files.tracked import TrackedFiles

    return TrackedFiles(repository)


def remembering(tree: Tree) -> Tree:
    """`tree` for one check: each folder on the way to a file is looked at once."""
    return tree._replace(known=set()) if isinstance(tree, WorkTree) else tree


def _refused(root: StrPath, path: str, known: set[str] | None) -> str:
    """Why `path` may not be read without being named, or nothing: it, or a link on its way, leads out of `root`.

    A folder among those `known` does not, and one found out about is added to them.
    """
    folder = _with_slash(root)
    for step in (path,) if known and path.rpartition("/")[0] in known else _steps(path):
        if step == "..":
            return "outside the tree"
        if known is not None and step in known:
            continue
        try:
            mode = os.lstat(folder + step).st_mode
        except OSError as error:
            return reason(folder + step, error)
        except ValueError:
            return "no file can have this name"
        if stat.S_ISLNK(mode):
            return _leads_out(folder, path)
        if known is not None and step != path:
            known.add(step)
    return ""


def _steps(path: str) -> Iterator[str]:
    """Yield `a`, `a/b`, `a/b/c` for `a/b/c`; `..` where the path leads upwards or starts at the root of all."""
    if path.startswith("/") or ".." in path.split("/") or os.path.isabs(path):
        yield ".."
        return
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)
    yield path


def _leads_out(folder: str, path: str) -> str:
    real = os.path.realpath(folder + path)
    inside = os.path.realpath(folder).rstrip("/") + "/"
    return "" if real.startswith(inside) else OUTSIDE


__all__ = ["Listing", "WorkTree", "find_root", "listing", "most_searched", "remembering"]
