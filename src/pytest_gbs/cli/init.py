"""`gbs init`: write settings, a pre-commit hook, a CI job and the lock into a repository; what is there stays as it is."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.checking.unknown_trainers import unknown_trainers
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._input import here
from pytest_gbs.cli._output import emit
from pytest_gbs.cli._shared import request_for
from pytest_gbs.cli._snippets import SETTINGS, SYSTEMS, Snippet, snippets
from pytest_gbs.cli._streams import agrees
from pytest_gbs.cli.lock import first_lock, nothing_to_lock
from pytest_gbs.files.decode import decode
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.files.root import find_root, has_settings, leads_outside
from pytest_gbs.fixes.patching import patch
from pytest_gbs.formats._escape import escape, has_control_sequences
from pytest_gbs.model.documentation import OWN_FRAMEWORK
from pytest_gbs.model.errors import SettingsError, UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.limits import MOST_SETTINGS_BYTES
from pytest_gbs.model.location import KeyPath, Source
from pytest_gbs.model.outcome import Severity

_STEPS: Final = '"gradient_accumulation_steps"'
_LOCK: Final = "gbs.lock"
_BASELINE: Final = "gbs-baseline.json"
_QUESTION: Final = "write gbs.lock, so that a changed batch size fails from now on?"


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="a folder of the repository (default: this one)")
    systems = ("auto", *SYSTEMS, "none")
    words = f"the system to write a job for: {', '.join(systems)} (default: auto, the one that is used here)"
    parser.add_argument("--ci", choices=systems, default="auto", metavar="NAME", help=words)
    parser.add_argument("--lock", action="store_true", help="write gbs.lock too: a changed batch size fails from then on")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--dry-run", action="store_true", help="only say what would be written")
    group.add_argument("--diff", action="store_true", help="print what would be written as a patch")


def run(arguments: argparse.Namespace) -> int:
    """Write each snippet that is not there yet, and say so; show the others."""
    folder = Path(here()) / arguments.folder
    if not _is_folder(folder):
        raise UsageError(f"no such folder: {arguments.folder}")
    root = find_root(folder)
    above = os.path.relpath(root, here()) if Path(here()).is_relative_to(root) else "."
    seen = "" if above == "." else f"{above}/"
    wanted = list(snippets(str(root), _names(root), arguments.ci))
    only_shows = arguments.dry_run or arguments.diff
    errors, unlocked = 0, ""
    if not _exists(root / _LOCK) and (arguments.lock or (not only_shows and agrees(_QUESTION))):
        text, report = first_lock(request_for([str(root)], CommandLineHardware()))
        wanted += [Snippet(_LOCK, text)] if text else []
        unlocked = "" if text else nothing_to_lock(report)
        errors = len(set(report.findings(Severity.ERROR)))
    answers = [_place(root, snippet, arguments, seen) for snippet in wanted]
    if unlocked:
        answers.append(f"{unlocked}\n")
    emit("".join(answers) + ("" if only_shows else _next(root, answers, errors, unlocked)))
    return 0


def _names(root: Path) -> frozenset[str]:
    """The names in a folder.

    Raises:
        UsageError: it can't be listed.
    """
    try:
        return frozenset(path.name for path in root.iterdir())
    except OSError as error:
        raise UsageError(f"{root}: {error.strerror or error}") from error


def _next(root: Path, answers: list[str], errors: int, unlocked: str) -> str:
    """What is left to do, a line each."""
    lines = []
    if errors:
        lines.append(f"next: fix the {counted(errors, 'error')} that gbs check reports, or accept what is there for now:")
        lines.append(f'      gbs check --write-baseline {_BASELINE}, and baseline = "{_BASELINE}" in the settings')
    lines.extend(_own_framework(root))
    if not _exists(root / _LOCK) and not unlocked:
        lines.append("next: gbs lock writes the batch size of each recipe to gbs.lock: commit it, and a change fails the hook and CI")
    if any(line.startswith("wrote ") and line.endswith(".pre-commit-config.yaml\n") for line in answers):
        lines.append("next: pre-commit install runs the hook at each commit (pip install pre-commit)")
    written = [line.removeprefix("wrote ").rstrip("\n") for line in answers if line.startswith("wrote ")]
    if written:
        lines.append(f"next: git add {' '.join(written)} and commit")
    return "".join(f"{line}\n" for line in lines)


def _own_framework(root: Path) -> Iterator[str]:
    """Yield a table to start from, a line each, if files set a batch size and gbs does not know their framework."""
    try:
        wanted = request_for([str(root)], CommandLineHardware())
    except SettingsError:  # gbs check says what is wrong with them
        return
    found = list(unknown_trainers(wanted.check(), wanted.tree))
    if not found:
        return
    first = found[0]
    alike = [each for each in found if each.key == first.key]
    others = f" (and {counted(len(alike) - 1, 'other file')})" if alike[1:] else ""
    yield f"next: {escape(first.path)} {escape(first.words)}{others}; describe it in gbs.toml ({OWN_FRAMEWORK}), to begin with:"
    yield "      [frameworks.mine]"
    accumulations = {each.accumulation: each for each in alike}
    marks = dict.fromkeys(_written(key[: key.index("*")] if "*" in key else key) for key in (first.key, *accumulations) if key)
    yield f"      recognise.all-of = [{', '.join(marks) if len(accumulations) == 1 else next(iter(marks))}]"
    yield from (f"      keys.{line}" for line in _rows(first.key, [key for key in accumulations if key], always=None not in accumulations))


def _rows(batch: KeyPath, accumulations: Sequence[KeyPath], *, always: bool) -> Iterator[str]:
    """Yield the sizes of a table: the batch size and the accumulation, which is 1 where it is not stated."""
    if any(word in str(batch[-1]) for word in ("global", "total", "effective")):
        yield f'{_written(batch)} = "global_batch_size"'
    else:
        yield f'{_written(batch)} = "micro_batch_size"  # or "global_batch_size", if it is of all GPUs'
        if not accumulations:
            yield f'"accumulation" = {{ size = {_STEPS}, default = 1 }}  # the key of your trainer, if it accumulates'
    yield from (f"{_written(key)} = {_STEPS if always else f'{{ size = {_STEPS}, default = 1 }}'}" for key in accumulations)


def _written(key: KeyPath) -> str:
    """`key` as a description of a framework names it, in the quotes of TOML, safe to print."""
    path = ".".join(str(part).replace(".", "\\.") for part in key)
    return escape('"{}"'.format(path.replace("\\", "\\\\").replace('"', '\\"')))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that no file can have
        return False


def _place(root: Path, snippet: Snippet, arguments: argparse.Namespace, seen: str) -> str:
    """Write one snippet unless its file is there; return what to say, with the path of the root as it is `seen` from here."""
    there = next((name for name in (snippet.path, *snippet.instead) if _exists(root / name)), None)
    if there is None and snippet.path == "gbs.toml" and _has_table(root):
        return "" if arguments.diff else f"kept {seen}pyproject.toml: it has [tool.gbs]\n"
    if there is not None:
        return _patch_of(there, root, snippet) if arguments.diff else f"kept {seen}{there}{_addition(there, root, snippet)}\n"
    if arguments.diff:
        added = "".join(f"+{line}\n" for line in snippet.text.splitlines())
        return f"--- /dev/null\n+++ b/{snippet.path}\n@@ -0,0 +1,{snippet.text.count(chr(10))} @@\n{added}"
    if arguments.dry_run:
        return f"would write {seen}{snippet.path}\n"
    if leads_outside(str(root / snippet.path), str(root)):
        raise UsageError(f"{snippet.path} leads out of the repository: a link is in the way; nothing is written there")
    _write(root / snippet.path, snippet.text)
    return f"wrote {seen}{snippet.path}\n"


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _has_table(root: Path) -> bool:
    data = read_bytes(str(root / "pyproject.toml"), MOST_SETTINGS_BYTES)
    return isinstance(data, bytes) and has_settings(data)


def _addition(there: str, root: Path, snippet: Snippet) -> str:
    """What to add to a file of the user's that is there already, a patch if one can be made; nothing if the file mentions us."""
    data = read_bytes(str(root / there), MOST_SETTINGS_BYTES)
    if snippet.text == SETTINGS or (isinstance(data, bytes) and b"gbs" in data):
        return ""
    if found := _patch_of(there, root, snippet):
        return f"; gbs init --diff | git apply adds to it:\n{found.rstrip()}"
    shown = snippet.text.partition("repos:\n")[2] or snippet.text
    return f"; add to it:\n{shown.rstrip()}"


def _patch_of(there: str, root: Path, snippet: Snippet) -> str:
    """The patch that adds `snippet` to a file that is there, or nothing if none can be made or the file mentions us."""
    data = read_bytes(str(root / there), MOST_SETTINGS_BYTES)
    source = decode(there, data) if isinstance(data, bytes) and b"gbs" not in data and snippet.joined else None
    if not isinstance(source, Source) or source.encoding != "utf-8" or "\r" in source.text or snippet.joined is None:
        return ""
    joined = snippet.joined(source, snippet.text)
    text = patch(there, source, joined) if joined else ""
    return "" if has_control_sequences(text) else text


def _write(path: Path, text: str) -> None:
    """Write a new file.

    Raises:
        UsageError: it can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


COMMAND = SubCommand("write settings, a pre-commit hook, a CI job and the lock file", _add_arguments, run)
