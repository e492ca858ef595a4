"""Files of plain names that nanoGPT's train.py executes over its own: micro batches of all processes, or of each in older copies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launches.building import checked, codes

TRAINS = """\
import os
import torch
gradient_accumulation_steps = 5 * 8
batch_size = 12
block_size = 256
exec(open('configurator.py').read())
world = int(os.environ.get('WORLD_SIZE', 1))
assert gradient_accumulation_steps % world == 0
gradient_accumulation_steps //= world
"""
OLDER = TRAINS.replace("gradient_accumulation_steps //= world\n", "")
SMALL = "batch_size = 4\ngradient_accumulation_steps = 16\n"


def batches(folder: Path, trains: str, config: str, path: str = "config/small.py") -> list[tuple[int | None, int | None]]:
    """The global batch and the tokens per step of each recipe in a repository with a program and a file of names."""
    report = checked(folder, {"train.py": trains, path: config})
    runs = [run for file in report.files for run in file.runs if run.path == path]
    return [(run.geometry.value("global_batch_size"), run.geometry.value("tokens_per_step")) for run in runs]


@pytest.mark.parametrize(
    ("trains", "config", "path"),
    [
        pytest.param(TRAINS.replace("configurator.py", "other.py"), SMALL, "config/small.py", id="a program that executes another file"),
        pytest.param("import torch\n", SMALL, "config/small.py", id="a program that executes none"),
        pytest.param(TRAINS, SMALL, "some/where/else/small.py", id="a file elsewhere"),
        pytest.param(TRAINS, f"import torch\n{SMALL}", "config/small.py", id="a program of its own"),
        pytest.param(f"def f():\n    {TRAINS.splitlines()[5]}\n", SMALL, "config/small.py", id="executed in a function"),
        pytest.param("configurator.py (\n", SMALL, "config/small.py", id="no Python"),
    ],
)
def test_names_that_no_program_executes_are_no_recipe(tmp_path: Path, trains: str, config: str, path: str) -> None:
    assert batches(tmp_path, trains, config, path) == []


@pytest.mark.parametrize(
    ("trains", "config", "batch"),
    [
        pytest.param(TRAINS, SMALL, (64, 16_384), id="4 x 16, of 256 tokens as train.py has it"),
        pytest.param(TRAINS, f"import time\nname = str(time.time())\nblock_size = 8\n{SMALL}", (64, 512), id="4 x 16 x 8 tokens"),
        pytest.param(TRAINS, "gradient_accumulation_steps = 2\n", (24, 6_144), id="12 x 2: the micro batch of train.py"),
        pytest.param(TRAINS, f"{SMALL}batch_size = int(input())\n", (None, None), id="a batch that is read"),
        pytest.param(TRAINS.replace("256", "int(input())"), SMALL, (64, None), id="a row that is read"),
        pytest.param(OLDER, SMALL, (None, None), id="each process accumulates, on GPUs that nothing states"),
        pytest.param(OLDER, f"# on 1 node of 8 GPUs\n{SMALL}", (512, 131_072), id="4 x 16 x 8"),
    ],
)
def test_what_a_file_and_the_program_make_together(tmp_path: Path, trains: str, config: str, batch: tuple[int | None, int | None]) -> None:
    assert batches(tmp_path, trains, config) == [batch]


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("# 1 node of 8 GPUs: global batch size 64\n", []),
        ("# 1 node of 8 GPUs: global batch size 512\n", ["GBS101"]),
        ("# on 3 GPUs\n", ["GBS202"]),  # 16 micro batches are not shared by three
    ],
)
def test_comments_and_processes_are_held_against_it(tmp_path: Path, comment: str, found: list[str]) -> None:
    assert codes(checked(tmp_path, {"train.py": TRAINS, "config/small.py": comment + SMALL})) == found
