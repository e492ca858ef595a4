"""`gbs check --watch`: check again whenever a file changes, until Ctrl-C."""

# Paths are plain text here: `import pathlib` alone takes 4 ms.
# ruff: noqa: PTH100

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from time import monotonic, sleep, strftime
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.cli._input import STDIN, read_request
from pytest_gbs.cli._output import clear_screen, complain, complain_each
from pytest_gbs.files.stamps import Stamps, stamps
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.errors import GbsError, UsageError

_PAUSE: Final = 0.3  # seconds between two looks at the files
_SHARE: Final = 20  # a look takes at most one part in so many of the time
_ONCE: Final = ("diff", "write_baseline", "hook", "show_files", "show_settings")


def watch(check: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """Run `check` now and after each change of a file below the root; a failing check is reported, and the next change awaited.

    Raises:
        UsageError: the flags ask for something that is done once.
        SettingsError: the settings are broken from the start.
    """
    once = next((f"--{name.replace('_', '-')}" for name in _ONCE if getattr(arguments, name)), None)
    if once or STDIN in arguments.paths:
        raise UsageError(f"--watch can't be used with {once or 'standard input'}")
    tree = _tree(arguments)
    said = "checking now"
    while True:
        seen = _look(tree, arguments)
        clear_screen()
        _print_notes(arguments, said)
        try:
            check(arguments)
            tree = _tree(arguments)
        except GbsError as error:
            complain_each(str(error).splitlines())
        _print_notes(arguments, f"watching {counted(len(seen), 'file')} for changes; Ctrl-C stops")
        said = _await_change(tree, arguments, seen)


def _tree(arguments: argparse.Namespace) -> WorkTree:
    tree = read_request(arguments).tree
    assert isinstance(tree, WorkTree), "only standard input is laid over one"
    return tree


def _look(tree: WorkTree, arguments: argparse.Namespace) -> Stamps:
    """The stamps of all files that a check can rest on; what it writes itself is left out."""
    others = [os.path.abspath(path) for path in (arguments.config, arguments.baseline) if path]
    found = stamps(tree, others)
    for path in (arguments.output_file, *(each.partition(":")[2] for each in arguments.output)):
        found.pop(os.path.abspath(path or ""), None)
    return found


def _await_change(tree: WorkTree, arguments: argparse.Namespace, seen: Stamps) -> str:
    """Wait until the files are not as `seen`, and say what changed."""
    while True:
        start = monotonic()
        now = _look(tree, arguments)
        if now != seen:
            changed = sorted(path for path in {*seen, *now} if seen.get(path) != now.get(path))
            first = os.path.relpath(changed[0])
            return f"{first} changed" if len(changed) == 1 else f"{first} and {counted(len(changed) - 1, 'other file')} changed"
        sleep(max(_PAUSE, _SHARE * (monotonic() - start)))


def _print_notes(arguments: argparse.Namespace, words: str) -> None:
    if not arguments.quiet:
        complain(f"[{strftime('%H:%M:%S')}] {words}", "")
    sys.stderr.flush()
