"""What `.gitignore` leaves out, held against git itself where there is a git."""

import os
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from pytest_gbs.files.gitignore import IgnoreFile
from pytest_gbs.files.worktree import WorkTree

FILES = ("a.yaml", "b.yaml", "sub/a.yaml", "sub/deep/a.yaml", "build/a.yaml", "sub/build/b.yaml", "sub/#a", "sub/b ", "sub/!a", "sub/[a]")

# A .gitignore, and which of FILES it leaves out.
CASES: dict[str, tuple[str, set[str]]] = {
    "nothing": ("", set()),
    "blank lines and comments": ("\n# a.yaml\n   \n\r\n", set()),
    "a file elsewhere": ("c.yaml\n/deep\nsub/b.yaml\n", set()),
    "a slash in the middle anchors": ("deep/a.yaml\n", set()),
    "one star stops at a slash": ("sub/*.yaml/\nsu*/build/x\nsub*a.yaml\n", set()),
    "folders only": ("a.yaml/\n", set()),
    "a class that is never closed": ("[ab.yaml\nb.yaml[\n", set()),
    "a backslash at the end": ("b.yaml\\\n", set()),
    "a class of no known name": ("[[:nope:]].yaml\n", set()),
    "two slashes": ("sub//a.yaml\n//a.yaml\n", set()),
    "a tab is not a space": ("a.yaml\t\n", set()),
    "a folder and all that follows of it": ("sub/\n!sub/a.yaml\n", {f for f in FILES if f.startswith("sub/")}),
    "a name anywhere": ("b.yaml\n", {"b.yaml", "sub/build/b.yaml"}),
    "a folder anywhere": ("build/\n", {"build/a.yaml", "sub/build/b.yaml"}),
    "an anchored folder": ("/build\n", {"build/a.yaml"}),
    "an ending": ("*.yaml\n", {f for f in FILES if f.endswith(".yaml")}),
    "taken back": ("*.yaml\n!a.yaml\n", {"b.yaml", "sub/build/b.yaml"}),
    "taken back and left out again": ("*.yaml\n!a.yaml\n/sub/a.yaml\n", {"b.yaml", "sub/build/b.yaml", "sub/a.yaml"}),
    "all but one folder": ("/*\n!/sub\n", {"a.yaml", "b.yaml", "build/a.yaml"}),
    "what a folder holds": ("sub/**\n", {f for f in FILES if f.startswith("sub/")}),
    "any depth between": ("sub/**/a.yaml\n", {"sub/a.yaml", "sub/deep/a.yaml"}),
    "any depth before": ("**/deep/a.yaml\n", {"sub/deep/a.yaml"}),
    "a class": ("[b-z].yaml\n", {"b.yaml", "sub/build/b.yaml"}),
    "not in a class": ("/[!b].yaml\n", {"a.yaml"}),
    "a named class": ("sub/[[:alpha:]].yaml\n", {"sub/a.yaml"}),
    "a class with a bracket": ("[]!#]a\n", {"sub/#a", "sub/!a"}),
    "a question mark": ("?.yaml\n", {f for f in FILES if f.endswith(".yaml")}),
    "an escaped hash": ("\\#a\n", {"sub/#a"}),
    "an escaped exclamation mark": ("\\!a\n", {"sub/!a"}),
    "an escaped bracket": ("\\[a]\n", {"sub/[a]"}),
    "an escaped space at the end": ("b\\ \n", {"sub/b "}),
    "spaces at the end": ("b.yaml   \n", {"b.yaml", "sub/build/b.yaml"}),
    "CRLF": ("b.yaml\r\nbuild/\r\n", {"b.yaml", "sub/build/b.yaml", "build/a.yaml"}),
    "no line break at the end": ("/b.yaml", {"b.yaml"}),
    "a byte order mark": ("\ufeff/b.yaml\n", {"b.yaml"}),
}


def _git(root: Path, *arguments: str) -> str:
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=True).stdout.decode(
        "utf-8", "surrogateescape"
    )


def _kept_by_git(root: Path) -> set[str]:
    listed = _git(root, "ls-files", "--others", "-z", "--exclude-standard").split("\0")
    return {path for path in listed if path and not path.endswith(".gitignore")}


def _write(root: Path, files: tuple[str, ...]) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text("")


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


@pytest.mark.parametrize(("text", "ignored"), CASES.values(), ids=CASES)
def test_files_are_left_out_as_the_manual_of_git_says(text: str, ignored: set[str], tmp_path: Path) -> None:
    _write(tmp_path, FILES)
    (tmp_path / ".gitignore").write_bytes(text.encode())
    assert set(WorkTree(tmp_path).paths()) == set(FILES) - ignored


@needs_git
@pytest.mark.parametrize(("text", "ignored"), CASES.values(), ids=CASES)
def test_git_says_the_same(text: str, ignored: set[str], tmp_path: Path) -> None:
    _write(tmp_path, FILES)
    _git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_bytes(text.encode())
    assert _kept_by_git(tmp_path) == set(FILES) - ignored


@needs_git
def test_each_level_and_the_exclude_file_count_as_in_git(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    _write(tmp_path, ("a.yaml", "sub/a.yaml", "sub/deep/a.yaml", "sub/deep/b.yaml", "sub/c.yaml", "other/c.yaml", "d.yaml"))
    (tmp_path / ".git/info/exclude").write_text("c.yaml\nd.yaml\n")
    (tmp_path / ".gitignore").write_text("/sub/deep/a.yaml\nb.yaml\n")
    (tmp_path / "sub/.gitignore").write_text("/a.yaml\n!c.yaml\n")
    (tmp_path / "sub/deep/.gitignore").write_text("!a.yaml\n")
    expected = {"a.yaml", "sub/deep/a.yaml", "sub/c.yaml"}
    assert set(WorkTree(tmp_path).paths()) == _kept_by_git(tmp_path) == expected


@needs_git
def test_a_root_below_the_repository_minds_the_patterns_above_it(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    _write(tmp_path, ("inner/project/a.yaml", "inner/project/b.yaml", "inner/project/sub/c.yaml", "inner/project/d.yaml"))
    (tmp_path / ".gitignore").write_text("/inner/project/a.yaml\nproject/b.yaml\n/d.yaml\n")
    (tmp_path / "inner/.gitignore").write_text("/project/sub/\n")
    assert WorkTree(tmp_path / "inner/project").paths() == ("b.yaml", "d.yaml")


# fmt: off
_PIECES = (
    "a", "b", "ab", "1", ".", "-", "!", "#", " ", "*", "*", "**", "?", "/", "/", "**/", "/**", "\\", "\\*", "\\ ",
    "[ab]", "[!a]", "[^b-z]", "[a-b]", "[z-a]", "[]a]", "[a\\]]", "[a/b]", "[[:alpha:]]", "[[:digit:]x]", "[", "]", "[a-",
)
# fmt: on
_NAMES = ("a", "b", "ab", "abc", "a.b", "b.a", "a-b", "[a]", "a]", "a b", "b ", "!a", "#a", "a*", "a\\b", "aab", "A1")
_FOLDERS = ("", "a/", "b/", "a/b/", "a/a/", "b/ab/", "b/ab/a/", "abc/", "abc/a.b/")


def _pattern(chance: random.Random) -> str:
    """A random pattern; `**` beside a letter, where git does not do as its manual says, is left out."""
    while True:
        text = "".join(chance.choices(_PIECES, k=chance.randint(1, 5)))
        text = "!" * (chance.random() < 0.25) + text + "/" * (chance.random() < 0.2)
        if not re.search(r"(?<![/!])(?<!^)\*\*|\*\*[^/]", text):
            return text


@needs_git
@pytest.mark.skipif(os.name == "nt", reason="its file names may not hold such characters")
@pytest.mark.parametrize("seed", range(3))
def test_random_patterns_mean_what_they_mean_to_git(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    _git(tmp_path, "init", "-q")
    for folder in _FOLDERS:
        (tmp_path / folder).mkdir(exist_ok=True)
    _write(tmp_path, tuple(folder + name for folder in _FOLDERS for name in _NAMES if not (tmp_path / folder / name).is_dir()))
    for _ in range(60):
        homes = chance.sample(_FOLDERS, chance.randint(1, 3))
        for home in homes:
            lines = chance.choice(["\n", "\r\n"]).join(_pattern(chance) for _ in range(chance.randint(1, 4)))
            (tmp_path / home / ".gitignore").write_bytes(lines.encode())
        texts = {home: (tmp_path / home / ".gitignore").read_text() for home in homes}
        assert set(WorkTree(tmp_path).paths()) == _kept_by_git(tmp_path), texts
        for home in homes:
            (tmp_path / home / ".gitignore").unlink()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("*a" * 500 + "b", id="stars"),
        pytest.param("/" + "**/a/" * 300 + "b", id="double stars"),
        pytest.param("[" * 5000, id="["),
    ],
)
def test_a_hostile_pattern_is_answered_quickly(line: str) -> None:
    start = time.perf_counter()
    assert IgnoreFile(line).says("a/" * 1000 + "a" * 200, "a" * 200, False) is None
    assert time.perf_counter() - start < 60  # it ends; how fast is for the benchmarks


def test_thousands_of_patterns_are_answered_quickly() -> None:
    start = time.perf_counter()
    file = IgnoreFile("*\n" + "".join(f"!a{number}*b\n" for number in range(40_000)))
    assert all(file.says(f"x/{number}", str(number), False) for number in range(200))
    assert time.perf_counter() - start < 60  # it ends; how fast is for the benchmarks
