"""The exit code of every kind of call, and the one line that says why."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import GOOD, OPEN, STALE, UNCLAIMED, Gbs, write

FILES = {
    "good/sft.yaml": GOOD,
    "stale/sft.yaml": STALE,
    "unclaimed/sft.yaml": UNCLAIMED,
    "open/sft.yaml": OPEN,
    "none/values.yaml": "a: 1\n",
    "none/empty.sh": "echo hello\n",
    "none/acc.yaml": "distributed_type: MULTI_GPU\nnum_processes: 8\nmixed_precision: bf16\n",
    "launched/run.sh": "trl sft --model_name_or_path m --dataset_name d --per_device_train_batch_size 4\n",
    "broken/sft.yaml": "model_name_or_path: m\ndataset_name: d\nper_device_train_batch_size: [\n",
}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param("check good", 0, id="clean"),
        pytest.param("check good/sft.yaml unclaimed", 0, id="verified and unclaimed"),
        pytest.param("check open", 0, id="undetermined"),
        pytest.param("check unclaimed --require-verified 0", 0, id="none required"),
        pytest.param("check good --require-verified 1", 0, id="enough verified"),
        pytest.param("check stale --exit-zero", 0, id="exit zero"),
        pytest.param("check stale --ignore GBS101", 0, id="ignored"),
        pytest.param("check good --strict=all", 0, id="strict and good"),
        pytest.param("check none/values.yaml", 3, id="a file that is not a recipe"),
        pytest.param("check none/empty.sh", 3, id="a script without a launch"),
        pytest.param("check launched", 0, id="launches without a recipe"),
        pytest.param("show launched", 0, id="show of launches without a recipe"),
        pytest.param("check none/acc.yaml", 0, id="a launcher file"),
        pytest.param("check --hook none/values.yaml", 0, id="the hook and no recipe"),
        pytest.param("show none/values.yaml", 3, id="show of no recipe"),
        pytest.param("check stale", 1, id="a finding"),
        pytest.param("check", 1, id="a finding somewhere"),
        pytest.param("check --strict open", 1, id="strict and undetermined"),
        pytest.param("check --strict=all unclaimed", 1, id="strict and unclaimed"),
        pytest.param("check good --require-verified 2", 1, id="too few verified"),
        pytest.param("check --hook stale/sft.yaml", 1, id="the hook and a finding"),
        pytest.param("check broken/sft.yaml", 1, id="unreadable and named"),
        pytest.param("show broken/sft.yaml", 1, id="show of an unreadable file"),
        pytest.param("check none", 3, id="no recipe in a folder"),
        pytest.param("show none", 3, id="show of a folder without"),
    ],
)
def test_exit_code(arguments: str, code: int, repo: Path, gbs: Gbs) -> None:
    write(repo, FILES)
    assert gbs(*arguments.split()).code == code


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        pytest.param("good", "gbs: no command 'good'; did you mean: gbs check good", id="a path for a command"),
        pytest.param("explain", "gbs: no command 'explain'; gbs --help lists the commands", id="a word of another tool"),
        pytest.param("chekc", "gbs: no command 'chekc'; did you mean: gbs check", id="a slip"),
        pytest.param("--strict", "gbs: no option '--strict'; gbs --help lists the commands", id="an option for a command"),
        pytest.param("check nowhere", "gbs: no such file or folder: nowhere", id="no such path"),
        pytest.param("check --format", "gbs check: argument --format: expected one argument", id="an argument is missing"),
        pytest.param("check --format pdf", "gbs: no format 'pdf'; the formats are azure, concise", id="no such format"),
        pytest.param("show --format sarif", "gbs: gbs show has no format 'sarif'", id="no such format of show"),
        pytest.param("check --select GBS999", "gbs: no rule is called GBS999", id="no such rule"),
        pytest.param("check --nodes 0", "gbs check: argument --nodes: '0' is not a whole number from 1 to 65,536", id="no nodes"),
        pytest.param("check --world-size 1e3", "gbs check: argument --world-size: '1e3' is not a whole number", id="no number"),
        pytest.param(
            "check --nodes 2 --gpus-per-node 8 --world-size 8",
            "gbs: --nodes 2 x --gpus-per-node 8 is 16 GPUs, but --world-size is 8",
            id="hardware that contradicts itself",
        ),
        pytest.param(
            "check --nodes 3 --world-size 8", "gbs: --world-size 8 is not a multiple of --nodes 3", id="hardware that does not divide"
        ),
        pytest.param("check --launch good/sft.yaml", "gbs: good/sft.yaml is neither a launcher file", id="no launcher file"),
        pytest.param("check --config good/sft.yaml", "gbs: good/sft.yaml", id="settings that are no TOML"),
        pytest.param(
            "check --output-file nowhere/out.txt good",
            "gbs: can't write nowhere/out.txt: there is no such folder; nothing was written",
            id="nowhere to write",
        ),
        pytest.param("rule", "gbs: which rule? gbs rule GBS101, or gbs rules for a list", id="which rule"),
        pytest.param("rule GBS999", "gbs: no rule is called GBS999", id="no manual"),
        pytest.param("rule 101", "gbs: no rule is called 101; did you mean GBS101? gbs rules", id="the number of a rule"),
        pytest.param(
            "check --select stale",
            "gbs: no rule is called stale; did you mean stale-declaration, stale-factor or stale-output? gbs rules",
            id="a part of a name",
        ),
        pytest.param("frameworks llama", "gbs: no framework is called llama; did you mean llama-", id="a part of a framework"),
        pytest.param("help chekc", "gbs: no command 'chekc'; did you mean: gbs check", id="help with a slip"),
        pytest.param("schema nothing", "gbs: no schema 'nothing'; gbs schema lists them", id="no such schema"),
    ],
)
def test_a_wrong_call_is_one_line_and_two(arguments: str, line: str, repo: Path, gbs: Gbs) -> None:
    write(repo, FILES)
    said = gbs(*arguments.split())
    assert said.code == 2
    assert said.err.startswith(line)
    assert said.err.count("\n") == 1
    assert said.out == ""


def test_nothing_found_says_how_much_was_looked_for(repo: Path, gbs: Gbs) -> None:
    write(repo, {"none/values.yaml": "a: 1\n"})
    said = gbs("check", "none")
    assert said.err.startswith("gbs: no recipe in 1 file below none: none belongs to the ")
    assert said.out == "no recipe in 1 file\n"
    write(repo, {"pictures/plot.png": "", "scripts/a.sh": "echo hi\n", "setup.py": "print(1)\n"})
    for folder in ("pictures", "scripts"):
        assert gbs("check", folder).err.startswith(f"gbs: no recipe below {folder}: no file there holds settings or a launch")
    assert gbs("check", "setup.py").err.startswith("gbs: setup.py holds no recipe and no launch of a framework")


def test_help_describes_a_command_in_both_orders(gbs: Gbs) -> None:
    assert gbs("help", "plan").out == gbs("plan", "--help").out
    assert gbs("help").out == gbs("--help").out


def test_a_page_is_not_written_to_a_terminal(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, FILES)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert gbs("report").err == "gbs: gbs report writes an HTML page: gbs report -o report.html\n"
    assert gbs("report", "-o", "report.html").code == 0


def test_files_that_only_stand_beside_a_recipe_are_named(repo: Path, gbs: Gbs) -> None:
    engine = '{"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto", "zero_optimization": {"stage": 2}}'
    launcher = "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\nnum_machines: 1\nnum_processes: 2\n"
    write(repo, {"zero2.json": engine, "ds.yaml": launcher})
    said = gbs("check")
    beside = "1 launcher file and 1 engine settings file, but no recipe and no script that starts a training with them"
    assert (said.code, said.err) == (3, f"gbs: no recipe in 2 files below .: {beside}\n")


def test_broken_settings_are_reported_and_stop(repo: Path, gbs: Gbs) -> None:
    write(repo, {"gbs.toml": "gpus-per-node = 'eight'\nnodez = 1\n", "sft.yaml": GOOD})
    said = gbs("check")
    assert (said.code, said.out) == (2, "")
    assert said.err.count("gbs: gbs.toml") == 2


def test_a_reader_who_left_is_not_an_error(repo: Path) -> None:
    write(repo, {f"r{number}/sft.yaml": STALE for number in range(300)})
    command = f"{sys.executable} -m pytest_gbs check . | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("r0/sft.yaml:1:")


@pytest.mark.skipif(sys.platform == "win32", reason="a current folder can't be removed")
@pytest.mark.parametrize("command", ["check", "show", "lock", "fix", "diff main", "init"])
def test_a_current_folder_that_is_gone_is_one_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gbs: Gbs) -> None:
    here = tmp_path / "gone"
    here.mkdir()
    monkeypatch.chdir(here)
    here.rmdir()
    said = gbs(*command.split())
    assert (said.code, said.err) == (2, "gbs: the current folder is gone; change to one that exists\n")
