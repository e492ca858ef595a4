"""Where the project lives: `python -m tools.addresses` lists the files that name its repository or its documentation.

`python -m tools.addresses https://github.com/acme/pytest-gbs https://acme.github.io/pytest-gbs/` writes other addresses into all of them.
The ones that hold now stand in pyproject.toml.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def addresses(root: Path = ROOT) -> tuple[str, str]:
    """The addresses of the repository and of the documentation, without `https://` and the slash at the end."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    return _plain(re.findall(r'(?m)^Repository = "(.+)"$', text)[0]), _plain(re.findall(r'(?m)^Documentation = "(.+)"$', text)[0])


def _plain(address: str) -> str:
    return address.removeprefix("https://").rstrip("/")


def named_in(root: Path = ROOT) -> dict[str, list[str]]:
    """The files of the repository that name them, each with its lines: the repository's also as `owner/name`, as workflows do."""
    repository, documentation = addresses(root)
    owner = repository.partition("/")[2]
    command = ["git", "grep", "-InE", "-e", rf"\b{re.escape(owner)}\b|{re.escape(documentation)}", "--", "."]
    found: dict[str, list[str]] = {}
    for line in subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines():
        name, number, text = line.split(":", 2)
        found.setdefault(name, []).append(f"{number}: {text.strip()}")
    return found


def move(repository: str, documentation: str, root: Path = ROOT) -> None:
    """Write other addresses into every file that has those of now."""
    old, new = addresses(root), (_plain(repository), _plain(documentation))
    for name in named_in(root):
        text = (root / name).read_text(encoding="utf-8")
        for before, after in (*zip(old, new, strict=True), (old[0].partition("/")[2], new[0].partition("/")[2])):
            text = text.replace(before, after)
        (root / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        move(sys.argv[1], sys.argv[2])
    sys.stdout.writelines(f"{name}:{line}\n" for name, lines in named_in().items() for line in lines)
