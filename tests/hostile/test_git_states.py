"""Whatever state a git repository is in: only git is started, nothing is written, and every command ends."""

import os
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from tests.git import Git
from tests.hostile.watched import GOOD, Watched, run

pytestmark = pytest.mark.skipif(sys.platform == "win32" or shutil.which("git") is None, reason="no getrusage, or no git")

CHANGED = GOOD.replace("accumulation_steps: 4", "accumulation_steps: 8")
COMMANDS = (("check", "."), ("check", "--changed-since", "HEAD~1", "."), ("diff", "HEAD~1"))


def _as_it_is(_: Git) -> None:
    """Two commits, and an edit that is not committed."""


def _merging(git: Git) -> None:
    git.run("checkout", "-q", "-f", "-b", "other", "HEAD~1")
    git.commit({"recipe.yaml": GOOD.replace("accumulation_steps: 4", "accumulation_steps: 2")})
    with pytest.raises(Exception, match="merge"):
        git.run("merge", "-q", "main")


def _detached(git: Git) -> None:
    git.run("checkout", "-q", "-f", "HEAD~0")


def _unborn(git: Git) -> None:
    git.run("checkout", "-q", "-f", "--orphan", "new")


def _index_broken(git: Git) -> None:
    (git.root / ".git" / "index").write_bytes(b"DIRC\0\0\0\2\xff\xff\xff\xff")


def _head_broken(git: Git) -> None:
    (git.root / ".git" / "HEAD").write_text("ref: refs/heads/../../../../etc/passwd\n")


def _objects_gone(git: Git) -> None:
    for path in (git.root / ".git" / "objects").glob("[0-9a-f][0-9a-f]/*"):
        path.chmod(0o644)
        path.write_bytes(b"")


def _no_git_folder(git: Git) -> None:
    shutil.rmtree(git.root / ".git")
    (git.root / ".git").write_text("gitdir: ../../nowhere\n")


def _names(git: Git) -> None:
    git.commit(dict.fromkeys(("--output=x.yaml", "a\nb.yaml", ":(top)c.yaml", "d e.yaml", "é.yaml"), GOOD))
    git.write({"--output=x.yaml": CHANGED, ":(top)c.yaml": CHANGED})


def _programs(git: Git) -> None:
    program = git.root.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {git.root.parent / 'ran'}\ncat\n")
    program.chmod(0o755)
    git.commit({".gitattributes": "* filter=f diff=f merge=f\n", "recipe.yaml": GOOD})
    for key in ("core.fsmonitor", "core.pager", "filter.f.clean", "filter.f.smudge", "diff.f.textconv", "diff.external", "core.editor"):
        git.run("config", key, str(program))
    git.write({"recipe.yaml": CHANGED})


def _index_of_a_gigabyte(git: Git) -> None:
    os.truncate(git.root / ".git" / "index", 2**30)


def _settings_in_a_circle(git: Git) -> None:
    with (git.root / ".git" / "config").open("a", encoding="utf-8") as file:
        file.write("[include]\n\tpath = config\n")


def _settings_of_devices(git: Git) -> None:
    git.run("config", "core.excludesFile", "/dev/zero")
    git.run("config", "core.attributesFile", "/dev/zero")


def _another_folder(git: Git) -> None:
    git.run("config", "core.worktree", "/etc")


def _branches_in_a_circle(git: Git) -> None:
    for name, target in (("HEAD", "x"), ("refs/heads/x", "y"), ("refs/heads/y", "x")):
        (git.root / ".git" / name).write_text(f"ref: refs/heads/{target}\n")


def _objects_from_a_program(git: Git) -> None:
    ran = git.root.parent / "ran"
    settings = {"extensions.partialClone": "origin", "remote.origin.promisor": "true", "protocol.ext.allow": "always"}
    for key, value in {**settings, "remote.origin.url": f"ext::sh -c 'touch {ran}'"}.items():
        git.run("config", key, value)
    _objects_gone(git)


STATES: tuple[Callable[[Git], None], ...] = (
    *(_as_it_is, _merging, _detached, _unborn, _index_broken),
    *(_head_broken, _objects_gone, _no_git_folder, _names, _programs),
    *(_index_of_a_gigabyte, _settings_in_a_circle, _settings_of_devices, _another_folder, _branches_in_a_circle, _objects_from_a_program),
)


def _state(folder: Path) -> dict[str, tuple[int, str]]:
    """When each file below `folder` was written, and what it holds."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {str(path): (path.stat().st_mtime_ns, sha256(path.read_bytes()).hexdigest()) for path in files}


def _does_nothing_but_ask_git(found: Watched) -> bool:
    others = [deed for deed in found.deeds if not deed.startswith("subprocess.Popen ") or Path(deed.split(" ", 1)[1]).name != "git"]
    return found._replace(deeds=tuple(others)).is_calm()


@pytest.mark.parametrize("make", STATES, ids=lambda make: make.__name__.strip("_"))
def test_only_git_is_started_and_nothing_is_written(make: Callable[[Git], None], tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    git = Git(root).init()
    git.commit({"recipe.yaml": GOOD})
    git.commit({"recipe.yaml": CHANGED})
    git.write({"recipe.yaml": GOOD})
    make(git)
    before = _state(tmp_path)
    for command in COMMANDS:
        found = run(root, *command)
        assert _does_nothing_but_ask_git(found), (command, found)
    assert _state(tmp_path) == before
