"""Named pipes where git, or gbs, expects files: nothing waits for a writer."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.git import Git
from tests.hostile.watched import GOOD, Watched, run

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo") or shutil.which("git") is None, reason="no named pipes here, or no git")

MOST_SECONDS = 15  # git itself waits for ever
IN_GIT = ("HEAD", "config", "index", "packed-refs", "refs/heads/main", "info/exclude", "info/attributes", "objects/info/alternates")
OWN = (
    "gbs.toml",
    "pyproject.toml",
    ".gitignore",
    ".gbs-baseline.json",
    "gbs.lock",
    "requirements.txt",
    "uv.lock",
    "Dockerfile",
    "train.py",
)
COMMANDS = (("diff", "HEAD"), ("check", "--changed-since", "HEAD", "."), ("report", "--since", "HEAD", "."))


def _repository(folder: Path) -> Git:
    git = Git(folder).init()
    git.commit({"recipe.yaml": GOOD})
    return git


def _replace(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def _run(folder: Path, *arguments: str) -> Watched:
    before = time.monotonic()
    found = run(folder, *arguments)
    assert time.monotonic() - before < MOST_SECONDS
    assert "Traceback" not in found.err and "internal error" not in found.err
    return found


@pytest.mark.parametrize("name", IN_GIT)
def test_git_does_not_wait_for_a_pipe(name: str, tmp_path: Path) -> None:
    _repository(tmp_path)
    _replace(tmp_path / ".git" / name)
    found = _run(tmp_path, "diff", "HEAD")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert f"/.git/{name} is a named pipe, not a regular file: git would wait for it" in found.err
    assert _run(tmp_path, "check", ".").code == 0


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_an_object_that_is_a_pipe(command: tuple[str, ...], tmp_path: Path) -> None:
    git = _repository(tmp_path)
    blob = git.run("rev-parse", "HEAD:recipe.yaml")
    _replace(tmp_path / ".git" / "objects" / blob[:2] / blob[2:])
    found = _run(tmp_path, *command)
    assert found.code == 2 and "git would wait for it" in found.err


def _worktree(git: Git) -> Path:
    git.run("worktree", "add", "-q", "../other")
    _replace(git.root / ".git" / "packed-refs")
    return git.root.parent / "other"


def _alternate(git: Git) -> Path:
    (git.root / ".git" / "objects" / "info" / "alternates").write_text("../../more\n")
    _replace(git.root / "more" / "ab" / "cd")
    return git.root


def _whole_folder(git: Git) -> Path:
    shutil.rmtree(git.root / ".git")
    os.mkfifo(git.root / ".git")
    return git.root


def _settings(git: Git) -> Path:
    (git.root / "more").write_text('[include]\n\tpath = "pipe" \n')
    with (git.root / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("[Include] Path=../more\n")
    _replace(git.root / "pipe")
    return git.root


@pytest.mark.parametrize("make", [_worktree, _alternate, _whole_folder, _settings], ids=lambda make: make.__name__.strip("_"))
def test_a_pipe_where_another_folder_is_named(make: Callable[[Git], Path], tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    found = _run(make(_repository(tmp_path / "repo")), "diff", "HEAD")
    assert (found.code, found.err.count("\n")) == (2, 1) and "git would wait for it" in found.err


def test_what_git_does_not_read_may_be_a_pipe(tmp_path: Path) -> None:
    git = _repository(tmp_path)
    _replace(git.root / ".git" / "hooks" / "pre-commit")
    _replace(git.root / "pipe")
    git.run("config", "mine.pathname", "../pipe")
    git.run("config", "include.path", "/dev/null")
    assert _run(tmp_path, "diff", "HEAD").code == 0


@pytest.mark.parametrize("name", OWN)
def test_a_file_of_the_tree_that_is_a_pipe(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"recipe.yaml": GOOD})
    os.mkfifo(tmp_path / name)
    for command in (("check", "."), ("show", "."), ("report", "."), ("check", "--baseline", name, "."), ("check", "--config", name, ".")):
        assert _run(tmp_path, *command).code in (0, 2)
