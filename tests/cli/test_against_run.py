"""`gbs check --against-run`: a recipe against what a job trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import UNCLAIMED, Gbs, write

LAUNCH = "accelerate launch --num_processes 64 train.py --config a.yaml\n"


def record(folder: Path, rows: int, ranks: int = 8, **more: object) -> None:
    """A recipe of 4 x 2 samples on each rank, and the record of a job of it."""
    found = {"version": 1, "recipe": "a.yaml", "global_batch_size": rows, "world_size": ranks, **more}
    write(folder, {"a.yaml": UNCLAIMED, "run.json": json.dumps(found)})


def test_a_recipe_that_gives_what_ran_is_verified(gbs: Gbs, repo: Path) -> None:
    record(repo, 64)
    said = gbs("check", "--against-run", "run.json")
    assert (said.code, said.out) == (0, "1 recipe in 1 file: 1 verified\n")


def test_another_launch_is_not_held_to_it(gbs: Gbs, repo: Path) -> None:
    record(repo, 64)
    write(repo, {"run.sh": LAUNCH})
    assert gbs("check", "--against-run", "run.json", ".").code == 0


def test_a_recipe_that_changed_since_is_told(gbs: Gbs, repo: Path) -> None:
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
def test_what_is_no_record_is_refused(gbs: Gbs, repo: Path, text: str, message: str) -> None:
    write(repo, {"run.json": text})
    said = gbs("check", "--against-run", "run.json")
    assert said.code == 2
    assert message in said.err
    assert len(said.err.splitlines()) == 1
