"""What to check: paths, hardware, settings and standard input, from the command line."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.
# ruff: noqa: PTH100, PTH109, PTH112, PTH114, PTH118, PTH120

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable

from pytest_gbs.api import CheckOptions, check
from pytest_gbs.arithmetic.admissible import MOST_GPUS, hardware
from pytest_gbs.cli._output import complain_each, slashed
from pytest_gbs.files.decode import decode
from pytest_gbs.files.root import is_home, is_root
from pytest_gbs.files.worktree import WorkTree, find_root, most_searched
from pytest_gbs.formats._escape import escape
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Source, Tree
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings import Overrides, load_settings

STDIN: Final = "-"


class CheckRequest(NamedTuple):
    """One check to be done. `targets` are relative to `root`; `names_file` is true if the user named a file itself.

    They are `listed` if a machine wrote them, as pre-commit does.
    """

    root: str
    folder: str  # the current folder
    tree: Tree
    targets: tuple[str, ...]
    settings: Settings
    given: CommandLineHardware
    names_file: bool
    jobs: int = 1
    listed: bool = False

    def seen(self, path: str) -> str:
        """A path of the tree as it is seen from the current folder."""
        return _relative(os.path.join(self.root, path), self.folder)

    def check(self, *, keep_runs: bool = False, everything: bool = False) -> Report:
        """The report on the targets, or on the whole tree; where not all around them was searched, that is said."""
        report = self._check(() if everything else self.targets, keep_runs)
        complain_each(report.notices)
        return report

    def _check(self, targets: tuple[str, ...], keep_runs: bool) -> Report:
        options = CheckOptions(keep_runs=keep_runs, jobs=self.jobs, listed=self.listed)
        if not sys.stderr.isatty():
            return check(self.tree, targets, self.settings, self.given, options)
        from pytest_gbs.cli._progress import ProgressTree

        progress = ProgressTree(self.tree, sys.stderr)
        try:
            return check(progress, targets, self.settings, self.given, options)
        finally:
            progress.clear()


_PATHS: Final = "files or folders (default: .), or - for standard input"


def add_input(parser: argparse.ArgumentParser, metavar: str = "PATH", words: str = _PATHS) -> None:
    """Add paths, hardware flags and settings."""
    parser.add_argument("paths", nargs="*", metavar=metavar, help=words)
    group = parser.add_argument_group("hardware (overridden by hardware that a comment names)")
    add_hardware(group, _number)
    group.add_argument("--launch", action="append", default=[], metavar="FILE", help="take it from a launcher file or a launch script")
    group = parser.add_argument_group("settings")
    group.add_argument("--config", metavar="FILE", help="settings file (default: gbs.toml or pyproject.toml)")
    group.add_argument("--exclude", action="append", metavar="GLOB", help="also exclude these paths")
    group.add_argument("--select", action="append", metavar="CODES", help="only these rules: codes or names, separated by commas")
    group.add_argument("--extend-select", action="append", metavar="CODES", help="these rules too")
    group.add_argument("--ignore", action="append", metavar="CODES", help="all rules but these")
    words = "trust and run the Python rules in this file or folder"
    group.add_argument("--allow-local-rules", action="append", metavar="PY", help=words)
    group.add_argument("--stdin-filename", metavar="NAME", help="file name for standard input")
    group.add_argument("--jobs", type=_number, metavar="N", help="worker processes (default: one per processor)")


def add_hardware(group: argparse._ActionsContainer, number: Callable[[str], int], prefix: str = "") -> None:
    """Add the flags that give hardware."""
    group.add_argument(f"--{prefix}nodes", type=number, metavar="N", help="machines")
    group.add_argument(f"--{prefix}gpus-per-node", type=number, metavar="N", help="training processes on each machine")
    group.add_argument(f"--{prefix}world-size", type=number, metavar="N", help="training processes in total")


def read_request(arguments: argparse.Namespace) -> CheckRequest:
    """What the command line asks for.

    Raises:
        UsageError: a path does not exist, or flags contradict each other.
        SettingsError: the settings are broken.
    """
    folder = here()
    given = hardware(arguments.nodes, arguments.gpus_per_node, arguments.world_size)
    if arguments.stdin_filename and STDIN not in arguments.paths:
        raise UsageError("--stdin-filename names standard input, which is read only if - is among the paths")
    paths = [_absolute(path, arguments) for path in arguments.paths]
    launches = [_existing(path) for path in arguments.launch]
    root = _root(paths or [folder], folder)
    settings = _settings(arguments, root)
    targets = tuple(_target(path, root) for path in paths or [folder])
    launch_files = tuple(_relative(path, root) for path in launches)
    named = frozenset((*targets, *launch_files))
    tree: Tree = WorkTree(root, settings.max_file_size, settings.exclude, named, None if "" in targets else most_searched(root))
    if STDIN in arguments.paths:
        from pytest_gbs.files.overlay import OverlayTree

        tree = OverlayTree(tree, {targets[arguments.paths.index(STDIN)]: _read_stdin(arguments, root, settings.max_file_size)})
    names_file = any(not os.path.isdir(path) for path in paths)
    return CheckRequest(root, folder, tree, targets, settings, given._replace(launch_files=launch_files), names_file, _jobs(arguments.jobs))


def here() -> str:
    """The current folder.

    Raises:
        UsageError: it is gone.
    """
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("the current folder is gone; change to one that exists") from error


def _number(text: str) -> int:
    number = whole_number(text)
    if number is None or not 1 <= number <= MOST_GPUS:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 to {MOST_GPUS:,}")
    return number


def count(text: str) -> int:
    """A whole number of the command line, of recipes for one."""
    number = whole_number(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return number


_MOST_JOBS: Final = 8


def _jobs(asked: int | None) -> int:
    """How many processes to work with: as many as were asked for, else as there are processors, in reason."""
    if hasattr(os, "fork") and hasattr(os, "sched_getaffinity"):
        processors = len(os.sched_getaffinity(0))
        return min(asked or processors, _MOST_JOBS)
    return 1


def existing_target(path: str, root: str) -> str:
    """A file or folder as the tree below `root` names it.

    Raises:
        UsageError: there is none.
    """
    return _target(_existing(path), root)


def _absolute(path: str, arguments: argparse.Namespace) -> str:
    if path == STDIN:
        return os.path.abspath(arguments.stdin_filename or "stdin.yaml")
    return _existing(path)


def _existing(path: str) -> str:
    """The absolute path of a file or folder; a link to a folder is followed, since trees follow none.

    Raises:
        UsageError: there is none.
    """
    if not path or "\0" in path or not os.path.lexists(path):
        raise UsageError(f"no such file or folder: {escape(path) or 'an empty path'}")
    return os.path.realpath(path) if os.path.islink(path) and os.path.isdir(path) else os.path.abspath(path)


def _root(paths: list[str], folder: str) -> str:
    """The root that all paths share, or else that of their common parent; `folder`, the current one, if nothing marks any."""
    roots = {_root_of(path, folder) for path in paths}
    if len(roots) == 1:
        return roots.pop()
    try:
        return _root_of(os.path.commonpath(list(roots)), folder)
    except ValueError as error:
        raise UsageError("the paths have no folder in common; check them one by one") from error


def _root_of(path: str, folder: str) -> str:
    """The root of one path. Files around it count as evidence, as far up as the current folder if nothing marks a root; no home is one."""
    start = path if os.path.isdir(path) else os.path.dirname(path)
    root = find_root(start)
    inside = start.startswith(folder.rstrip(os.sep) + os.sep)
    return find_root(folder) if root == start and inside and not is_root(root) and not is_home(folder) else root


def _settings(arguments: argparse.Namespace, root: str) -> Settings:
    strict = getattr(arguments, "strict", None)
    overrides = Overrides(
        arguments.select,
        arguments.extend_select,
        arguments.ignore,
        strict=True if strict else None,
        strict_all=True if strict == "all" else None,
        exclude=arguments.exclude,
        local_rules=arguments.allow_local_rules,
    )
    return load_settings(root, arguments.config, overrides)


def _target(path: str, root: str) -> str:
    """`path` as the tree names it; a folder ends in `/`, so that an empty one is not a mistake."""
    relative = _relative(path, root)
    if relative == ".":
        return ""
    return relative + "/" if os.path.isdir(path) else relative


def _relative(path: str, root: str) -> str:
    return slashed(os.path.relpath(path, root))


def _read_stdin(arguments: argparse.Namespace, root: str, most: int) -> Source:
    name = _relative(_absolute(STDIN, arguments), root)
    try:
        data = sys.stdin.buffer.read(most + 1)
    except OSError as error:
        raise UsageError(f"can't read standard input: {error.strerror or error}") from error
    if len(data) > most:
        raise UsageError(f"standard input has more than {most:,} bytes")
    source = decode(name, data)
    if not isinstance(source, Source):
        raise UsageError(f"standard input: {source.reason}")
    return source
