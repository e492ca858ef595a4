"""A git repository for tests: files written, committed and renamed, with nothing of the machine's own git settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Git(NamedTuple):
    """The repository at `root`."""

    root: Path

    def run(self, *arguments: str, data: bytes = b"") -> str:
        """Run git and return what it prints."""
        environment = {**os.environ, **_ENVIRONMENT}
        done = subprocess.run(["git", *arguments], cwd=self.root, input=data, capture_output=True, check=True, env=environment)
        return done.stdout.decode().strip()

    def init(self) -> Git:
        """Make it a repository."""
        self.run("init", "-q", "-b", "main")
        return self

    def write(self, files: dict[str, str]) -> Git:
        """Write files."""
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        return self

    def commit(self, files: dict[str, str] | None = None, message: str = "change") -> str:
        """Write files, commit all that is there, and return the commit."""
        self.write(files or {})
        self.run("add", "-A")
        self.run("commit", "-q", "--allow-empty", "-m", message)
        return self.run("rev-parse", "HEAD")
