"""Runs the commands that the pages show, and writes down what they print: `python -m tools.run_docs`.

A block marked `console` holds commands, each behind `$ `, and what they print. Those of a page run one behind the other in a git repository
of its own: a copy of the folder that a comment at the top of the page names (`<!-- runs in examples/guides/trl -->`), else an empty one.
A block below a comment such as `<!-- is tests/test_batches.py -->` is that file of it.
A test compares what is printed with what the page shows.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_BLOCK: Final = re.compile(r"(?ms)^```console\n(.*?)^```$")
_FOLDER: Final = re.compile(r"<!-- runs in (\S+) -->")
_FILE: Final = re.compile(r"(?ms)^<!-- is (\S+) -->\n+```\w+\n(.*?)^```$")
_LAST_LINE: Final = re.compile(r"(?m)^=+ (.+ in) \d+\.\d\ds(?: \([\d:]+\))? =+$")  # of pytest, which fills it up to 80 columns
_NAMES: Final = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
_PLAIN: Final = "-p no:randomly -p no:xdist -p no:cacheprovider --no-header"
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL")


def pages() -> list[Path]:
    """The pages that show commands and are not generated; those of the README are run in the checkout by a test of its own."""
    return sorted(page for page in (ROOT / "docs").rglob("*.md") if "```console\n" in page.read_text(encoding="utf-8"))


def as_run(text: str) -> str:
    """`text` with each command run and what it prints behind it."""
    found = _FOLDER.search(text)
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "repository"
        copytree(ROOT / found[1], folder) if found else folder.mkdir()
        for file, content in _FILE.findall(text):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_text(content, encoding="utf-8")
        _Shell(Path(scratch)).run("git init -q -b main . && git add -A && git commit -q --allow-empty -m 'as it is'")
        shell = _Shell(Path(scratch))
        return _BLOCK.sub(lambda block: f"```console\n{''.join(_run(block[1], shell))}```", text)


def _run(block: str, shell: _Shell) -> Iterator[str]:
    for line in block.splitlines():
        if line.startswith("$ "):
            yield f"{line}\n{shell.run(line[2:])}"


class _Shell:
    """A shell in the folder `repository` of a scratch folder, whose `gbs` and `pytest` are those of this environment."""

    def __init__(self, scratch: Path) -> None:
        self._folder = scratch / "repository"
        programs = scratch / "bin"
        programs.mkdir(exist_ok=True)
        for name, module in (("gbs", "pytest_gbs"), ("pytest", "pytest")):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n', encoding="utf-8")
            (programs / name).chmod(0o755)
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        path = f"{programs}{os.pathsep}{kept.get('PATH', '')}"
        git = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **dict.fromkeys(_NAMES, "docs")}
        # Of pytest's plug-ins only our own says anything.
        plain = {"PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_ADDOPTS": _PLAIN}
        self._environment = {**kept, **git, **plain, "PATH": path}

    def run(self, line: str) -> str:
        """What a command line prints, whatever its exit code; always after a tenth of a second."""
        command = ["bash", "-c", line]
        both = subprocess.STDOUT
        done = subprocess.run(
            command, cwd=self._folder, env=self._environment, stdout=subprocess.PIPE, stderr=both, check=False, timeout=120
        )
        return _LAST_LINE.sub(lambda line: f" {line[1]} 0.10s ".center(80, "="), done.stdout.decode("utf-8"))


if __name__ == "__main__":
    for each in map(Path, sys.argv[1:]) if sys.argv[1:] else pages():
        before = each.read_text(encoding="utf-8")
        after = as_run(before)
        if after != before:
            each.write_text(after, encoding="utf-8", newline="\n")
            sys.stdout.write(f"wrote {each}\n")
