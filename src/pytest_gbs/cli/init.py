"""`gbs init`: write settings, a pre-commit hook and a CI job into a repository; what is there stays as it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from pytest_gbs.cli._command import Command
from pytest_gbs.cli._input import here
from pytest_gbs.cli._output import emit
from pytest_gbs.files.regular import read_bytes
from pytest_gbs.files.root import find_root, has_settings, leads_outside
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import MOST_SETTINGS_BYTES
from pytest_gbs.model.record import NamedTuple

if TYPE_CHECKING:
    import argparse

_SETTINGS: Final = """\
# Settings of gbs, the checker of global batch sizes; `gbs schema settings` describes them all.

# The hardware that recipes run on, if they do not state it.
# gpus-per-node = 8

# What the team expects of some recipes.
# [[expect]]
# paths = ["recipes/sft/**"]
# global-batch-size = 128
"""
_HOOK: Final = r"""repos:
  - repo: local
    hooks:
      - id: gbs-check
        name: global batch sizes
        entry: gbs check --hook
        args: [--]  # file names come after it and are never read as flags
        language: python
        additional_dependencies: [pytest-gbs]
        files: '(?i)\.(ya?ml|json|toml|py|ipynb|sh|bash|zsh|slurm|sbatch|sub|job|launcher|md|mk)$|(^|/)(GNU)?makefile$|^gbs\.lock$'
        require_serial: true
"""
_JOB: Final = """\
name: gbs
on: [push, pull_request]
permissions:
  contents: read
jobs:
  gbs:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          persist-credentials: false
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install pytest-gbs
      - run: gbs check --format github
"""


class Snippet(NamedTuple):
    """A file to write, and the files that make it needless."""

    path: str
    text: str
    instead: tuple[str, ...] = ()


SNIPPETS: Final = (
    Snippet("gbs.toml", _SETTINGS),
    Snippet(".pre-commit-config.yaml", _HOOK, (".pre-commit-config.yml",)),
    Snippet(".github/workflows/gbs.yml", _JOB, (".github/workflows/gbs.yaml",)),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs init` takes."""
    parser.add_argument("folder", nargs="?", default=".", metavar="FOLDER", help="a folder of the repository (default: this one)")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--dry-run", action="store_true", help="only say what would be written")
    group.add_argument("--diff", action="store_true", help="print what would be written as a patch")


def run(arguments: argparse.Namespace) -> int:
    """Write each snippet that is not there yet, and say so; show the others."""
    folder = Path(here()) / arguments.folder
    if not _is_folder(folder):
        raise UsageError(f"no such folder: {arguments.folder}")
    root = find_root(folder)
    told = [_place(root, snippet, arguments) for snippet in SNIPPETS]
    emit("".join(told))
    return 0


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name that no file can have
        return False


def _place(root: Path, snippet: Snippet, arguments: argparse.Namespace) -> str:
    """Write one snippet unless its file is there; return what to say."""
    there = next((name for name in (snippet.path, *snippet.instead) if _exists(root / name)), None)
    if there is None and snippet.path == "gbs.toml" and _has_table(root):
        return "" if arguments.diff else "kept pyproject.toml: it has [tool.gbs]\n"
    if there is not None:
        return "" if arguments.diff else f"kept {there}{_addition(there, root, snippet)}\n"
    if arguments.diff:
        added = "".join(f"+{line}\n" for line in snippet.text.splitlines())
        return f"--- /dev/null\n+++ b/{snippet.path}\n@@ -0,0 +1,{snippet.text.count(chr(10))} @@\n{added}"
    if arguments.dry_run:
        return f"would write {snippet.path}\n"
    if leads_outside(str(root / snippet.path), str(root)):
        raise UsageError(f"{snippet.path} leads out of the repository: a link is in the way; nothing is written there")
    _write(root / snippet.path, snippet.text)
    return f"wrote {snippet.path}\n"


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _has_table(root: Path) -> bool:
    data = read_bytes(str(root / "pyproject.toml"), MOST_SETTINGS_BYTES)
    return isinstance(data, bytes) and has_settings(data)


def _addition(there: str, root: Path, snippet: Snippet) -> str:
    """Return what to add to a file of the user's that is there already, or nothing if it mentions us."""
    data = read_bytes(str(root / there), MOST_SETTINGS_BYTES)
    if snippet.text == _SETTINGS or (isinstance(data, bytes) and b"gbs" in data):
        return ""
    shown = snippet.text.partition("repos:\n")[2] or snippet.text
    return f"; add to it:\n{shown.rstrip()}"


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


COMMAND = Command("write settings, a pre-commit hook and a CI job into a repository", add_arguments, run)
