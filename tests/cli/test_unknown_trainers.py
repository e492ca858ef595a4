"""Files that train with a framework that gbs does not know are listed with -v, and `gbs init` offers a table for them."""

from pathlib import Path

import pytest

from pytest_gbs.files.toml import tomllib
from tests.cli.support import UNCLAIMED, Gbs, write

OWN = "train:\n  train_batch_size: 8\n  learning_rate: 1.0e-4\n"
SAID = "sets a batch size, framework unknown: "


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("sft.yaml", UNCLAIMED, id="a recipe that is known"),
        pytest.param("serve.yaml", "micro_batch_size: 8\nport: 8000\nmax_new_tokens: 64\n", id="it serves"),
        pytest.param("conf/eval/run.yaml", OWN, id="it evaluates"),
        pytest.param("run.yaml", "eval:\n  micro_batch_size: 8\noptimizer: adamw\n", id="a batch of an evaluation"),
        pytest.param("run.yaml", "validation_ds:\n  batch_size: 8\noptimizer: adamw\n", id="a batch of a validation"),
        pytest.param("run.yaml", "eval:\n- {batch_size: 8}\noptimizer: adamw\n", id="batches of evaluations"),
        pytest.param("run.yaml", "tasks: [[{batch_size: 8}]]\noptimizer: adamw\n", id="lists within lists"),
        pytest.param("run.yaml", "train_batch_size: 8\n", id="nothing that trains"),
        pytest.param("run.yaml", "batch_size: 8\nworkers: 4\n", id="any batch"),
        pytest.param("run.yaml", "train_batch_size: auto\nlr: 0.1\n", id="no number"),
        pytest.param("run.yaml", "train_batch_size: 0\nlr: 0.1\n", id="no sample"),
        pytest.param("run.yaml", "train_batch_size: {value: 8}\nlr: {value: 0.1}\n", id="what a tracker wrote"),
        pytest.param("trainer_state.json", '{"train_batch_size": 8, "log_history": [], "max_steps": 3}', id="the state of a run"),
        pytest.param("run.txt", OWN, id="no configuration"),
        pytest.param("run.yaml", "train_batch_size: 8\nlr: [0.1\n", id="no YAML"),
    ],
)
def test_look_alikes_are_not_listed(repo: Path, gbs: Gbs, path: str, text: str) -> None:
    write(repo, {path: text})
    assert SAID not in gbs("check", "-v").out


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        pytest.param("run.yaml", OWN, "train.train_batch_size 8, line 2", id="nested"),
        pytest.param("run.toml", "lr = 0.1\n\n[run]\nglobal_batch_size = 1024\n", "run.global_batch_size 1,024, line 4", id="TOML"),
        pytest.param("run.json", '{"optimizer": "adamw",\n "micro_batch_size": 2}', "micro_batch_size 2, line 2", id="JSON"),
        pytest.param("run.yaml", "train:\n  batch_size: 8\n  lr: 0.1\n", "train.batch_size 8, line 2", id="a batch of what trains"),
        pytest.param("run.yaml", f"a: 1\n---\n{OWN}", "train.train_batch_size 8, line 4", id="a later document"),
        pytest.param(
            "run.yaml",
            "adapters:\n- {lr: 0.1}\ntasks:\n- name: a\n  batch_size: 8\n",
            "tasks.*.batch_size 8, line 5",
            id="an item of a list",
        ),
    ],
)
def test_it_is_listed_with_its_key(repo: Path, gbs: Gbs, path: str, text: str, expected: str) -> None:
    write(repo, {path: text})
    assert f"{path}  {SAID}{expected}\n" in gbs("check", "-v").out.replace(" (document 2)", "")
    assert SAID not in gbs("check").out
    assert SAID not in gbs("check", "-v", "--format", "json").out


def test_a_folder_without_recipes_says_so(repo: Path, gbs: Gbs) -> None:
    write(repo, {"notes/a.yaml": "lr: high\n", "runs/b.yaml": OWN})
    start = f"{SAID}train.train_batch_size 8, line 2; gbs init prints a table to start from (https://pytest-gbs.readthedocs.io/en/stable/own-framework/)\n"
    said = gbs("check")
    assert (said.code, said.err) == (3, f"gbs: no recipe in 2 files below ., but runs/b.yaml {start}")
    assert gbs("check", "runs/b.yaml").err == f"gbs: runs/b.yaml {start}"
    assert SAID not in gbs("check", "notes").err
    write(repo, {"accelerate.yaml": "distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 8\n"})
    assert gbs("check").err == f"gbs: no recipe in 3 files below ., but runs/b.yaml {start}"


def test_a_folder_without_recipes_says_so_beside_findings(repo: Path, gbs: Gbs) -> None:
    """A launcher with findings hid that none of the recipes had been read."""
    script = "for size in 1b, 7b; do\n    torchrun train.py --config conf/$size.yaml\ndone\n"
    write(repo, {"conf/1b.yaml": OWN, "conf/7b.yaml": OWN, "train.py": "", "run.sh": script})
    found = gbs("check")
    assert (found.code, found.out.count("missing-file")) == (1, 1)
    assert found.err.startswith("gbs: no recipe in ") and f"conf/1b.yaml {SAID}train.train_batch_size 8" in found.err
    assert gbs("check", "--exit-zero").code == 0


def test_init_offers_a_table_that_works(repo: Path, gbs: Gbs) -> None:
    write(repo, {"run.yaml": OWN, "other.yaml": OWN})
    said = gbs("init", "--ci", "none").out
    assert f"next: other.yaml {SAID}train.train_batch_size 8, line 2 (and 1 other file); describe it in gbs.toml" in said
    table = "".join(line.removeprefix("      ") + "\n" for line in said.splitlines() if line.startswith("      "))
    accumulation = {"size": "gradient_accumulation_steps", "default": 1}
    expected = {"train.train_batch_size": "micro_batch_size", "accumulation": accumulation}
    assert tomllib.loads(table)["frameworks"]["mine"]["keys"] == expected
    write(repo, {"gbs.toml": table})
    assert "8 x GPUs" in gbs("show", "run.yaml").out
    assert SAID not in gbs("init", "--ci", "none").out
    assert gbs("lock").out.endswith("gbs.lock written: 2 recipes\n")


def offered(gbs: Gbs) -> str:
    """The table that `gbs init` prints."""
    return "".join(f"{line.strip()}\n" for line in gbs("init", "--ci", "none").out.splitlines() if line.startswith("      "))


def test_the_table_fits_files_with_and_without_accumulation(repo: Path, gbs: Gbs) -> None:
    """8 x 1 and 8 x 4 on each GPU; a file with another key for its batch is not counted."""
    other = OWN.replace("train_batch_size", "batch_size")
    write(repo, {"a.yaml": OWN, "b.yaml": f"{OWN}  grad_accum: 4\n", "c.yaml": other})
    assert "a.yaml sets" in (said := gbs("init", "--ci", "none").out)
    assert "(and 1 other file)" in said
    write(repo, {"gbs.toml": offered(gbs)})
    assert [gbs("show", path).out.splitlines()[1].split()[3:6] for path in ("a.yaml", "b.yaml")] == [
        ["8", "x", "GPUs"],
        ["32", "x", "GPUs"],
    ]


def test_a_global_batch_needs_no_accumulation(repo: Path, gbs: Gbs) -> None:
    write(repo, {"run.yaml": "global_batch_size: 64\nlr: 0.1\n"})
    write(repo, {"gbs.toml": offered(gbs)})
    assert "global batch size         64   global_batch_size, line 1" in gbs("show", "run.yaml").out


def test_the_table_holds_the_accumulation(repo: Path, gbs: Gbs) -> None:
    """2 x 4 x 4 GPUs are 32, not 64."""
    write(repo, {"run.yaml": "# effective batch size: 64 (4 GPUs)\ntrain:\n  batch_size: 2\n  grad_accum: 4\n  lr: 0.1\n"})
    write(repo, {"gbs.toml": offered(gbs)})
    assert "comment says 64, but the settings give 32" in gbs("check").out


@pytest.mark.parametrize("flag", ["--dry-run", "--diff"])
def test_init_offers_nothing_where_it_only_reports(repo: Path, gbs: Gbs, flag: str) -> None:
    write(repo, {"run.yaml": OWN})
    assert SAID not in gbs("init", flag).out


def test_the_table_holds_the_items_of_a_list(repo: Path, gbs: Gbs) -> None:
    write(repo, {"run.yaml": "tasks:\n- {batch_size: 2, grad_accum: 4, lr: 0.1}\n- {batch_size: 2, grad_accum: 4, lr: 0.2}\n"})
    write(repo, {"gbs.toml": offered(gbs)})
    assert "8 x GPUs" in gbs("show", "run.yaml").out


def test_files_are_named_as_seen_from_the_current_folder(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(repo, {"jobs/notes.yaml": "a: 1\n", "jobs/broken.yaml": "per_device_train_batch_size: [\n", "other/run.sh": "true\n"})
    monkeypatch.chdir(repo / "jobs")
    assert gbs("show", "notes.yaml").err.startswith("gbs: notes.yaml is not a recipe")
    assert gbs("show", "broken.yaml").err.startswith("gbs: broken.yaml: ")
    assert gbs("check", ".", "../other").err.startswith("gbs: no recipe in 2 files below . and ../other")
