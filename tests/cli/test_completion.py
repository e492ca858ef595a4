"""Shells complete commands, flags, formats and files."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs.cli import commands
from tests.cli.support import Gbs

pytest.importorskip("shtab", reason='needs shtab: pip install -e ".[test]"')


@pytest.fixture
def script(tmp_path: Path, gbs: Gbs) -> Path:
    """The script for bash."""
    path = tmp_path / "gbs.bash"
    path.write_text(gbs("completion", "bash").out)
    return path


def _completed(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of `words`."""
    before = words[-2] if len(words) > 1 else "gbs"
    line = 'source "$1"; shift; COMP_WORDS=(gbs "${@:2}"); COMP_CWORD=$(($# - 1)); _shtab_gbs gbs "${!#}" "$1"; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", line, "bash", str(script), before, *words], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_what_is_left_out_of_the_help_is_not_offered(script: Path) -> None:
    assert _completed(script, "check", "--hoo") == []
    assert _completed(script, "check", "--write-base") == ["--write-baseline"]


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("sca",), ["scale"]),
        (("check", "--statis"), ["--statistics"]),
        (("check", "--format", "rd"), ["rdjson"]),
        (("show", "--format", "c"), ["csv"]),
        (("show", "--format", "sar"), []),
        (("init", "--ci", "git"), ["github", "gitlab"]),
    ],
)
def test_bash(words: tuple[str, ...], offered: list[str], script: Path) -> None:
    assert sorted(_completed(script, *words)) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_is_in_the_script(shell: str, gbs: Gbs) -> None:
    out = gbs("completion", shell).out
    assert [name for name in commands() if name not in out] == []
    if shutil.which(shell):
        assert subprocess.run([shell, "-n"], input=out, text=True, check=False).returncode == 0


def test_without_shtab_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "shtab.py").write_text("raise ModuleNotFoundError\n")
    command = [sys.executable, "-m", "pytest_gbs", "completion", "bash"]
    done = subprocess.run(command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, "gbs: gbs completion needs shtab: pip install 'pytest-gbs[completion]'\n")
