"""`gbs check --watch`: each change of a file is checked, nothing else is, and Ctrl-C stops it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import sleep
from typing import IO

import pytest

from pytest_gbs.files.stamps import stamps
from pytest_gbs.files.worktree import WorkTree
from tests.cli.support import GOOD, STALE, Gbs, write

SUMMARY = {GOOD: "1 recipe in 2 files: 1 verified\n", STALE: "1 recipe in 2 files: 1 violated; 1 error\n"}


pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def _heeds_ctrl_c() -> None:
    """Undo what shells do to programs that they start in the background: they ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Watcher:
    """A running `gbs check --watch`, whose two outputs are read as one."""

    def __init__(self, root: Path, *flags: str) -> None:
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", "pytest_gbs", "check", "--watch", *flags]
        self.process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            preexec_fn=_heeds_ctrl_c,  # noqa: PLW1509
        )
        assert self.process.stdout is not None
        self.out: IO[str] = self.process.stdout

    def round(self) -> list[str]:
        """The lines of one check, up to the one that says that changes are awaited; without the times in front."""
        found: list[str] = []
        for line in self.out:
            found.append(line.partition("] ")[2] if line.startswith("[") else line)
            if "Ctrl-C stops" in line:
                return found
        raise AssertionError("ended: " + "".join(found))


def _put(path: Path, text: str) -> None:
    """Write a file in one go, so that it is never seen half written."""
    made = path.with_name(f".{path.name}")
    made.write_text(text, encoding="utf-8")
    made.replace(path)


@pytest.fixture
def watched(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, Watcher]]:
    """A repository with one recipe, watched."""
    write(tmp_path, {"gbs.toml": "gpus-per-node = 8\n", "a.yaml": GOOD})
    watcher = Watcher(tmp_path, *getattr(request, "param", ()))
    yield tmp_path, watcher
    watcher.process.kill()
    watcher.process.wait()
    watcher.out.close()


def test_a_file_that_did_not_change_has_the_same_stamp(tmp_path: Path) -> None:
    write(tmp_path, {"a.yaml": GOOD, "sub/b.yaml": GOOD, ".hidden/c.yaml": GOOD})
    tree = WorkTree(str(tmp_path))
    before = stamps(tree)
    assert sorted(before) == [str(tmp_path / "a.yaml"), str(tmp_path / "sub/b.yaml")]
    assert stamps(tree) == before
    write(tmp_path, {".hidden/c.yaml": STALE})
    assert stamps(tree) == before
    (tmp_path / "a.yaml").write_text(STALE + "# longer\n")
    assert {path for path, stamp in stamps(tree).items() if before.get(path) != stamp} == {str(tmp_path / "a.yaml")}


def test_a_file_outside_of_the_tree_is_watched_if_asked_for(tmp_path: Path) -> None:
    write(tmp_path, {"tree/a.yaml": GOOD, "gbs.toml": ""})
    tree = WorkTree(str(tmp_path / "tree"))
    outside = str(tmp_path / "gbs.toml")
    assert outside in stamps(tree, [outside])
    assert str(tmp_path / "gone") not in stamps(tree, [str(tmp_path / "gone")])


@pytest.mark.parametrize("flags", [("-",), ("--diff",), ("--write-baseline", "b.json"), ("--show-files",)])
def test_what_is_done_once_cannot_be_watched(tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    said = gbs("check", "--watch", *flags)
    assert (said.code, said.out) == (2, "")
    assert said.err == f"gbs: --watch can't be used with {'standard input' if flags == ('-',) else flags[0]}\n"


def test_settings_that_are_broken_from_the_start_end_it(tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"gbs.toml": "gpus-per-node = 'eight'\n", "a.yaml": GOOD})
    monkeypatch.chdir(tmp_path)
    assert gbs("check", "--watch").code == 2


def test_each_change_is_checked_and_ctrl_c_stops(watched: tuple[Path, Watcher]) -> None:
    root, watcher = watched
    assert watcher.round() == ["checking now\n", SUMMARY[GOOD], "watching 2 files for changes; Ctrl-C stops\n"]
    _put(root / "a.yaml", STALE)
    lines = watcher.round()
    assert lines[:2] == ["a.yaml changed\n", "a.yaml:1:44  error GBS101 stale-declaration\n"]
    assert lines[-2] == SUMMARY[STALE]
    _put(root / "gbs.toml", "gpus-per-node = 'eight'\n")
    lines = watcher.round()
    assert lines[0] == "gbs.toml changed\n"
    assert lines[1].startswith("gbs: ")
    _put(root / "gbs.toml", "gpus-per-node = 8\n")
    assert watcher.round()[-2] == SUMMARY[STALE]
    _put(root / "a.yaml", GOOD)
    assert watcher.round()[1] == SUMMARY[GOOD]
    watcher.process.send_signal(signal.SIGINT)
    assert watcher.process.wait(timeout=10) == 130
    assert watcher.out.read() == ""


@pytest.mark.parametrize("watched", [("--output", "json:out.json", "--output-file", "out.txt")], indirect=True)
def test_what_it_writes_itself_is_not_a_change(watched: tuple[Path, Watcher]) -> None:
    root, watcher = watched
    watcher.round()
    assert (root / "out.json").is_file()
    _put(root / "a.yaml", STALE)
    assert watcher.round()[0] == "a.yaml changed\n"


@pytest.mark.parametrize("watched", [("--fix-declarations", "-q")], indirect=True)
def test_a_quiet_watch_shows_findings_only(watched: tuple[Path, Watcher]) -> None:
    root, watcher = watched
    write(root, {"b.yaml": STALE.replace("128", "64")})
    while "GBS 256" not in (root / "b.yaml").read_text():
        assert watcher.process.poll() is None
        sleep(0.05)
    watcher.process.send_signal(signal.SIGINT)
    assert watcher.process.wait(timeout=10) == 130
    assert "watching" not in watcher.out.read()
