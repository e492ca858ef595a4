"""Standard streams that are closed, full or broken: no traceback, and an exit code that says what happened."""

import os
import shlex
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from pytest_gbs.cli._output import emit
from tests.cli.support import GOOD, STALE, write
from tests.support import PYTHON

pytestmark = pytest.mark.skipif(os.name == "nt" or not Path("/dev/full").exists(), reason="needs /dev/full and a POSIX shell")


class Ended(NamedTuple):
    """How a process came to its end."""

    code: int
    out: str
    err: str


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    (tmp_path / ".git").mkdir()
    write(tmp_path, {"good.yaml": GOOD, "stale.yaml": STALE, "odd.json": '{"train_batch_size": 64}'})
    return tmp_path


def gbs(folder: Path, arguments: str, data: str | None = None) -> Ended:
    """Run `gbs` through a shell, so that its streams can be closed."""
    line = f"{shlex.join(PYTHON)} -m pytest_gbs {arguments}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, input=data, capture_output=True, text=True, timeout=60, check=False)
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert "internal error" not in done.stderr
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param("check good.yaml > /dev/null", 0, id="nowhere"),
        pytest.param("check good.yaml < /dev/null", 0, id="an empty input"),
        pytest.param("check good.yaml <&-", 0, id="no input, and none is needed"),
        pytest.param("check good.yaml 2>&-", 0, id="no place for complaints"),
        pytest.param("check good.yaml 2> /dev/full", 0, id="no room for complaints, and there are none"),
        pytest.param("check -q good.yaml > /dev/full", 0, id="no room, and nothing to say"),
        pytest.param("check -q good.yaml >&-", 0, id="no output, and nothing to say"),
        pytest.param("check --output-file out.txt good.yaml >&-", 0, id="no output, and the report goes elsewhere"),
        pytest.param("check stale.yaml 2>&-", 1, id="a finding, and no place for complaints"),
        pytest.param("check good.yaml --require-verified 2 2> /dev/full", 1, id="a complaint that finds no room"),
        pytest.param("check nowhere 2> /dev/full", 2, id="a wrong call and no room"),
        pytest.param("check nowhere 2>&-", 2, id="a wrong call and no place"),
        pytest.param("check --format 2> /dev/full", 2, id="a wrong flag and no room"),
        pytest.param("nothing 2>&-", 2, id="no command and no place"),
        pytest.param("check stale.yaml > /dev/full 2>&1", 2, id="no room at all"),
        pytest.param("check stale.yaml <&- >&- 2>&-", 2, id="nothing is open"),
    ],
)
def test_the_exit_code_says_what_happened(arguments: str, code: int, repo: Path) -> None:
    assert gbs(repo, arguments).code == code


@pytest.mark.parametrize(
    "arguments",
    [
        "--help",
        "--version",
        "check good.yaml",
        "check stale.yaml",
        "check --help",
        "check --format json stale.yaml",
        "check --show-files",
        "show good.yaml",
        "fix --fix-settings --diff stale.yaml",
        "lock",
        "plan --global-batch-size 64 --world-size 8",
        "scale --world-size 8 --diff good.yaml",
        "rule GBS101",
        "rules",
        "frameworks --format json",
        "schema report",
        "init --dry-run",
    ],
)
def test_a_report_that_can_not_be_written_is_one_line(arguments: str, repo: Path) -> None:
    for place, why in ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")):
        assert gbs(repo, f"{arguments} {place}") == (2, "", f"gbs: can't write to standard output: {why}\n")


def test_a_reader_that_has_seen_enough_is_not_an_error(repo: Path) -> None:
    write(repo, {f"{number}.yaml": STALE for number in range(200)})
    assert gbs(repo, "check | head -c 10; true").err == ""
    assert gbs(repo, "rules --format json | head -c 10; true").err == ""
    assert gbs(repo, "check --help | head -c 10; true").err == ""


@pytest.mark.parametrize("name", ["stdout", "stderr"])
def test_a_closed_pipe_does_not_change_the_exit_code(name: str, repo: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, name: writing}
    command = [*PYTHON, "-m", "pytest_gbs", "check", "stale.yaml", "--require-verified", "2"]
    done = subprocess.run(command, cwd=repo, timeout=60, check=False, **streams)  # type: ignore[call-overload]
    os.close(writing)
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param("check - <&-", "Bad file descriptor", id="closed"),
        pytest.param("check - 0> /dev/null", "Bad file descriptor", id="only to be written to"),
    ],
)
def test_standard_input_that_can_not_be_read_is_one_line(arguments: str, words: str, repo: Path) -> None:
    assert gbs(repo, arguments) == (2, "", f"gbs: can't read standard input: {words}\n")


def test_no_file_takes_the_number_of_a_closed_stream(repo: Path) -> None:
    before = {path.name: path.read_bytes() for path in repo.glob("*.*") if path.is_file()}
    assert gbs(repo, "check <&- >&- 2>&-").code == 2
    assert gbs(repo, "check nowhere --jobs 4 <&- >&- 2>&-").code == 2
    assert {path.name: path.read_bytes() for path in repo.glob("*.*") if path.is_file()} == before


def test_megabytes_are_written_as_they_are_and_no_line_of_them_is_a_command(capfd: pytest.CaptureFixture[str]) -> None:
    lines = ["é" * 1_000_000, "::error::a", "x" * 1_100_000, "", "b"]
    emit("\n".join(lines))
    lines[1] = r"\x3a:error::a"
    assert capfd.readouterr().out == "\n".join(lines)
