"""Patches: `git apply` takes them, whatever the lines end with and however the file is called."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pytest_gbs.files.writing import encoded
from pytest_gbs.fixes.patching import patch
from pytest_gbs.model.location import Source

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")


def test_no_change_makes_no_patch() -> None:
    assert patch("a.yaml", Source("a.yaml", "a: 1\n"), Source("a.yaml", "a: 1\n")) == ""


def test_a_patch_in_full() -> None:
    assert patch("r/a.yaml", Source("a.yaml", "a: 1\nb: 2"), Source("a.yaml", "a: 3\nb: 2")) == (
        "diff --git a/r/a.yaml b/r/a.yaml\n--- a/r/a.yaml\n+++ b/r/a.yaml\n@@ -1,2 +1,2 @@\n"
        "-a: 1\n+a: 3\n b: 2\n\\ No newline at end of file\n"
    )


def _applied(folder: Path, old: Source, new: Source) -> bytes:
    """The bytes of the file after git has applied the patch."""
    subprocess.run(["git", "init", "-q", "."], cwd=folder, check=True)
    path = folder / old.path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(encoded(old))
    subprocess.run(["git", "apply", "-"], input=patch(old.path, old, new).encode(), cwd=folder, check=True)
    return path.read_bytes()


@needs_git
@pytest.mark.parametrize("name", ["a.yaml", "with blank.yaml", "d/é.yaml", 'quo"te.yaml', "back\\slash.yaml", "ta\tb.yaml"])
def test_git_takes_any_name(tmp_path: Path, name: str) -> None:
    assert _applied(tmp_path, Source(name, "a: 1\nb: 2\n"), Source(name, "a: 3\nb: 2\n")) == b"a: 3\nb: 2\n"


@needs_git
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a: 1\r\nb: 2\r\n", "a: 3\r\nb: 2\r\n"),
        ("a: 1\nb: 2", "a: 1\nb: 3"),
        ("a: 1", "a: 1\nb: 2"),
        ("a: 1\rb: 2\r", "a: 3\rb: 2\r"),
        ("a: 1\n# \u2028 \x0c\nb: 2\n", "a: 1\n# \u2028 \x0c\nb: 3\n"),
    ],
    ids=["crlf", "no end", "an end more", "cr", "odd breaks"],
)
@pytest.mark.parametrize("bom", [False, True], ids=["plain", "mark"])
def test_git_takes_any_line_end(tmp_path: Path, before: str, after: str, bom: bool) -> None:
    new = Source("a.yaml", after, bom=bom)
    assert _applied(tmp_path, Source("a.yaml", before, bom=bom), new) == encoded(new)
