"""`gbs check --against-run` and `gbs diff --against-run`: a recipe against what a job trained on."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import UNCLAIMED, Gbs, write

LAUNCH = "accelerate launch --num_processes 64 train.py --config a.yaml\n"


def record(folder: Path, batch: int, ranks: int = 8, **more: object) -> None:
    """A recipe of 4 x 2 samples on each rank, and the record of a job of it."""
    found = {"version": 1, "recipe": "a.yaml", "global_batch_size": batch, "world_size": ranks, **more}
    write(folder, {"a.yaml": UNCLAIMED, "run.json": json.dumps(found)})


def test_a_recipe_that_gives_what_ran_is_verified(gbs: Gbs, repo: Path) -> None:
    record(repo, 64)
    said = gbs("check", "--against-run", "run.json")
    assert (said.code, said.out) == (0, "1 recipe in 1 file: 1 verified\n")


def test_another_launch_is_not_checked_against_it(gbs: Gbs, repo: Path) -> None:
    record(repo, 64)
    write(repo, {"run.sh": LAUNCH})
    assert gbs("check", "--against-run", "run.json", ".").code == 0


def test_a_recipe_that_changed_since_is_reported(gbs: Gbs, repo: Path) -> None:
    record(repo, 128)
    said = gbs("check", "--against-run", "run.json")
    assert said.code == 1
    assert "global batch size is 64, but run.json trained on 128" in said.out
    assert "run.json: 128 rows on 8 ranks" in said.out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("{}", "not a record of a running job", id="empty"),
        pytest.param("[" * 5000, "not a record of a running job", id="nested"),
        pytest.param('{"recipe": "a.yaml", "global_batch_size": true, "world_size": 8}', "not a record", id="bool"),
        pytest.param('{"recipe": null, "global_batch_size": 8, "world_size": 8}', "names no recipe", id="no recipe"),
        pytest.param('{"recipe": "gone.yaml", "global_batch_size": 8, "world_size": 8}', "no such file or folder: gone.yaml", id="gone"),
    ],
)
def test_what_is_not_a_record_is_refused(gbs: Gbs, repo: Path, text: str, message: str) -> None:
    write(repo, {"run.json": text})
    said = gbs("check", "--against-run", "run.json")
    assert said.code == 2
    assert message in said.err
    assert len(said.err.splitlines()) == 1


FACTORS: dict[str, Any] = {"rows": [16] * 8, "micro_batches": [4] * 8, "ranks_per_replica": 1}


def test_a_recipe_that_says_what_ran_has_not_changed(gbs: Gbs, repo: Path) -> None:
    record(repo, 64, rows=[8] * 8, micro_batches=[2] * 8, ranks_per_replica=1)
    said = gbs("diff", "--against-run", "run.json", "--fail-on", "changed")
    assert (said.code, said.out) == (0, "no batch changed; 1 recipe compared, run.json with the working tree\n")


def test_ranks_that_had_different_rows_tell_no_factor(gbs: Gbs, repo: Path) -> None:
    record(repo, 64, rows=[4, 12] * 4, micro_batches=[1, 3] * 4, ranks_per_replica=1)
    assert gbs("diff", "--against-run", "run.json").out.startswith("no batch changed")


@pytest.mark.parametrize("more", [{}, {"rows": "all", "micro_batches": [0], "ranks_per_replica": 3}, {"rows": [True], "micro_batches": []}])
def test_a_record_of_less_is_compared_as_far_as_it_goes(gbs: Gbs, repo: Path, more: dict[str, Any]) -> None:
    record(repo, 64, **more)
    assert gbs("diff", "--against-run", "run.json").out.startswith("no batch changed")


def test_a_diff_shows_the_factor_that_moved_and_where_it_is(gbs: Gbs, repo: Path) -> None:
    record(repo, 128, **FACTORS)
    said = gbs("diff", "--against-run", "run.json", "--fail-on", "changed")
    assert said.code == 1
    line = UNCLAIMED.splitlines().index("gradient_accumulation_steps: 2") + 1
    assert said.out.splitlines() == [
        "a.yaml",
        "  global batch size   128 → 64 samples",
        f"  why                 accumulation 4 → 2 (line {line})",
        "",
        "1 changed; 1 recipe compared, run.json with the working tree",
    ]


def test_other_factors_of_the_same_batch_are_reported(gbs: Gbs, repo: Path) -> None:
    record(repo, 64, rows=[8] * 8, micro_batches=[4] * 8, ranks_per_replica=1)
    said = gbs("diff", "--against-run", "run.json", "--fail-on", "changed")
    assert (said.code, "64 samples (same)" in said.out, "micro batch size 2 → 4" in said.out) == (0, True, True)


def test_hardware_that_is_given_is_what_the_recipe_runs_on_now(gbs: Gbs, repo: Path) -> None:
    record(repo, 64, rows=[8] * 8, micro_batches=[2] * 8, ranks_per_replica=1)
    said = gbs("diff", "--against-run", "run.json", "--world-size", "16")
    assert "64 → 128 samples" in said.out
    assert "data-parallel size 8 → 16" in said.out


def test_what_a_diff_can_not_compare_is_refused(gbs: Gbs, repo: Path) -> None:
    record(repo, 64)
    assert gbs("diff", "--against-run", "run.json", "main").err == (
        "gbs: gbs diff --against-run compares with the working tree, and takes no revision\n"
    )
    write(repo, {"a.yaml": "cake: true\n"})
    assert gbs("diff", "--against-run", "run.json").err == "gbs: a.yaml, which run.json names, is not a recipe that gbs knows\n"
