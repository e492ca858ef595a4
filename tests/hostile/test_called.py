"""How gbs is called: odd arguments, streams that can't be written, folders that are gone, and files that it must not replace."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs.cli import main
from tests.cli.support import write
from tests.hostile.watched import GOOD
from tests.support import PYTHON

BAD = GOOD + "# global batch size 999 on 8 GPUs\n"
LONGEST_LINE = 2_200
WRONG = {
    "an empty path": ("check", ""),
    "a lone surrogate": ("check", "\udcff.yaml"),
    "a path of two lines": ("show", "a\nb.yaml"),
    "a path that colours": ("fix", "\x1b[31mred"),
    "a path too long": ("check", "a/" * 3_000),
    "a pattern": ("lock", "*"),
    "a folder of an unknown user": ("scale", "~nobody", "--world-size", "8"),
    "standard input for a lock": ("lock", "-"),
    "standard input twice over": ("scale", "-", "--world-size", "8"),
    "no command": ("\udcff",),
    "an empty command": ("",),
    "a dash": ("-",),
    "negative jobs": ("check", "--jobs", "-1"),
    "jobs without end": ("check", "--jobs", "9" * 5_000),
    "negative nodes": ("show", "--nodes", "-1"),
    "no nodes": ("check", "--nodes", "0"),
    "nodes in Arabic": ("plan", "--nodes", "\u0663"),
    "a fraction of a GPU": ("scale", "a.yaml", "--world-size", "8.5"),
    "underscores": ("check", "--gpus-per-node", "1_0"),
    "a negative requirement": ("check", "--require-verified=-1"),
    "a requirement without end": ("check", "--require-verified", "9" * 5_000),
    "a batch of nothing": ("plan", "--global-batch-size", "0", "--world-size", "8"),
    "an unknown flag": ("check", "--nope"),
    "an unknown rule": ("check", "--select", "GBS999"),
    "a rule that is a path": ("rule", "../../etc/passwd"),
    "an unknown format": ("check", "--format", "\x1b[2J"),
    "an empty format": ("check", "--format", ""),
    "an unknown schema": ("schema", "../x"),
    "a schema twice": ("schema", "framework", "framework"),
    "settings that are a device": ("check", "--config", "/dev/zero"),
    "settings that are a folder": ("check", "--config", "."),
    "no settings": ("check", "--config", ""),
    "a launch that is a device": ("check", "--launch", "/dev/zero", "a.yaml"),
    "an empty launch": ("check", "--launch", "", "a.yaml"),
    "a baseline that is a device": ("check", "--baseline", "/dev/zero"),
    "a baseline that is a folder": ("check", "--write-baseline", "."),
    "a revision that is an option": ("diff", "--output=evil"),
    "a report on a full disk": ("check", "--output-file", "/dev/full"),
    "a report in no folder": ("check", "--output-file", "nope/x"),
    "a report that is a folder": ("check", "--output-file", "."),
    "a report over a recipe": ("check", "--output-file", "a.yaml"),
    "a report over a recipe by a link": ("check", "--output-file", "link.json"),
    "a report over a script": ("show", "--output-file", "run.sh", "."),
    "another report over a recipe": ("check", "--output", "sarif:a.yaml"),
    "a plan over a recipe": ("plan", "--world-size", "8", "--from", "a.yaml", "--output-file", "a.yaml"),
    "a scaling over a script": ("scale", "--world-size", "8", "a.yaml", "--output-file", "run.sh"),
    "a page over a recipe": ("report", "--output-file", "a.yaml"),
    "a list over a program": ("check", "--show-files", "--output-file", "train.py"),
    "a report by a link that leads away": ("check", "--output-file", "away.sarif"),
    "a report in a folder that leads away": ("check", "--output", "json:away/new.json"),
    "a baseline by a link that leads away": ("check", "--write-baseline", "away.sarif"),
    "a baseline over a recipe": ("check", "--write-baseline", "a.yaml"),
}
STREAMS = {
    "a full disk": ("check >/dev/full", 2, "can't write to standard output: No space left on device"),
    "a full disk for JSON": ("show --format json >/dev/full", 2, "No space left on device"),
    "a full disk for help": ("check --help >/dev/full", 2, "No space left on device"),
    "a full disk for the manual": ("rules >/dev/full", 2, "No space left on device"),
    "a full disk for errors": ("check nope 2>/dev/full", 2, ""),
    "no standard output": ("check >&-", 2, "can't write to standard output"),
    "no standard error": ("check nope 2>&-", 2, ""),
    "no stream": ("check <&- >&- 2>&-", 2, ""),
    "a reader that leaves": ("rules | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 0, ""),
    "no folder": ("check", 2, "the current folder is gone"),
    "no folder for a lock": ("lock", 2, "the current folder is gone"),
    "no folder for standard input": ("check - </dev/null", 2, "the current folder is gone"),
    "no folder for settings": ("init", 2, "the current folder is gone"),
    "few files": ("check a.yaml 2>&1 | tail -1 | grep -q error", 0, ""),
    "no room for a lock": ("lock", 2, "nothing was written"),
}
BEFORE = {"no folder": "mkdir gone; cd gone; rmdir ../gone; ", "few files": "ulimit -n 12; ", "no room": "ulimit -f 0; "}
ENVIRONMENT: dict[str, dict[str, str]] = {
    "no home": {"HOME": ""},
    "a home of two lines": {"HOME": "/nope\n"},
    "the C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "no such locale": {"LC_ALL": "xx_YY.KOI8"},
    "ASCII": {"PYTHONIOENCODING": "ascii:strict"},
    "no columns": {"COLUMNS": "0", "LINES": "0"},
    "columns without end": {"COLUMNS": "9" * 30},
    "a terminal of any version": {"VTE_VERSION": "9" * 5_000, "FORCE_COLOR": "1", "TERM": "xterm"},
    "no temporary folder": {"TMPDIR": "/nope"},
    "a summary on a full disk": {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_STEP_SUMMARY": "/dev/full"},
    "a date of no time": {"SOURCE_DATE_EPOCH": "x" * 99},
    "a git of another": {"GIT_DIR": "/dev/zero", "GIT_EXTERNAL_DIFF": "touch ran"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("called")
    launch = "accelerate launch --num_processes 8 train.py --config a.yaml\n"
    write(folder, {"gbs.toml": "", "a.yaml": BAD, "run.sh": launch, "train.py": ""})
    (folder / "link.json").symlink_to("a.yaml")
    away = tmp_path_factory.mktemp("away")
    (folder / "away").symlink_to(away)
    (folder / "away.sarif").symlink_to(away / "file")
    return folder


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.skipif(sys.platform != "linux", reason="devices are elsewhere")
@pytest.mark.parametrize("arguments", WRONG.values(), ids=WRONG)
def test_a_call_that_makes_no_sense_is_one_line_and_changes_nothing(
    arguments: tuple[str, ...], folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _contents(folder)
    monkeypatch.chdir(folder)
    code = main(list(arguments))
    out, said = capfd.readouterr()
    assert (code, out, said.count("\n")) == (2, "", 1), said
    assert said.strip().isprintable() and len(said) < LONGEST_LINE
    assert _contents(folder) == before


@pytest.mark.skipif(sys.platform != "linux", reason="devices are elsewhere")
@pytest.mark.parametrize(("name", "call"), STREAMS.items(), ids=STREAMS)
def test_streams_and_folders_that_are_not_there(name: str, call: tuple[str, int, str], folder: Path) -> None:
    command, code, says = call
    before = next((text for start, text in BEFORE.items() if name.startswith(start)), "")
    python = " ".join(map(str, PYTHON))
    done = subprocess.run(
        ["bash", "-c", f"{before}{python} -m pytest_gbs {command}"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    said = done.stderr.decode()
    assert done.returncode == code, said
    assert says in said and "Traceback" not in said and "internal error" not in said
    assert said.count("\n") <= 1
    assert not (folder / "gbs.lock").exists()


@pytest.mark.parametrize("environment", ENVIRONMENT.values(), ids=ENVIRONMENT)
def test_no_environment_changes_what_is_found(environment: dict[str, str], folder: Path) -> None:
    command = [*PYTHON, "-m", "pytest_gbs", "check", "a.yaml"]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **environment}, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"GBS101" in done.stdout and not (folder / "ran").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of Unix")
def test_a_terminal_whose_version_has_no_end_is_a_terminal(folder: Path) -> None:
    command = [*map(str, PYTHON), "-m", "pytest_gbs", "check", "a.yaml"]
    environment = {key: value for key, value in os.environ.items() if key not in ("CI", "TMUX", "STY", "NO_COLOR")}
    environment |= {"VTE_VERSION": "9" * 5_000, "TERM": "xterm"}
    spawn = [*PYTHON, "-c", f"import pty, sys; sys.exit(pty.spawn({command}) >> 8)"]
    done = subprocess.run(spawn, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert done.returncode == 1 and b"internal error" not in done.stdout and b"GBS101" in done.stdout
