"""Files of plain names that nanoGPT's train.py executes over its own: micro batches of all processes, or of each in older copies."""

import json
from pathlib import Path

import pytest

from tests.launches.building import batches as launched_batches
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
SAMPLES = "start = 0\nexec(open('configurator.py').read())\n"
SMALL = "batch_size = 4\ngradient_accumulation_steps = 16\n"


def batches(folder: Path, trains: str, config: str, path: str = "config/small.py") -> list[tuple[int | None, int | None]]:
    """The global batch and the tokens per step of each recipe in a repository with a program and a file of names."""
    report = checked(folder, {"train.py": trains, path: config})
    runs = [run for file in report.files for run in file.runs if run.path == path]
    return [(run.geometry.value("global_batch_size"), run.geometry.value("tokens_per_step")) for run in runs]


def test_the_cells_of_a_notebook_are_executed_by_no_program(tmp_path: Path) -> None:
    # `batch_size = 20 * 5` in a notebook of nanoGPT was multiplied by the accumulation of train.py.
    cell = {"cell_type": "code", "source": SMALL, "outputs": [], "metadata": {}}
    text = json.dumps({"cells": [cell], "nbformat": 4, "metadata": {}})
    assert batches(tmp_path, TRAINS, text, "small.ipynb") == []
    assert batches(tmp_path, TRAINS, SMALL, "small.py") != []


@pytest.mark.parametrize("path", ["config/large/deep/small.py", "my/config/large/small.py"])
def test_folders_of_configurations_may_be_deep(tmp_path: Path, path: str) -> None:
    assert batches(tmp_path, TRAINS, SMALL, path) == batches(tmp_path, TRAINS, SMALL, "config/small.py") != []


@pytest.mark.parametrize(
    ("trains", "config", "path"),
    [
        pytest.param(TRAINS.replace("configurator.py", "other.py"), SMALL, "config/small.py", id="a program that executes another file"),
        pytest.param("import torch\n", SMALL, "config/small.py", id="a program that executes none"),
        pytest.param(TRAINS, SMALL, "some/where/else/small.py", id="a file elsewhere"),
        pytest.param(TRAINS, SMALL, "some/where/config.py", id="a file of that name elsewhere"),
        pytest.param(TRAINS, f"import torch\n{SMALL}", "config/small.py", id="a program of its own"),
        pytest.param(f"def f():\n    {TRAINS.splitlines()[5]}\n", SMALL, "config/small.py", id="executed in a function"),
        pytest.param("configurator.py (\n", SMALL, "config/small.py", id="no Python"),
    ],
)
def test_names_that_no_program_executes_are_not_a_recipe(tmp_path: Path, trains: str, config: str, path: str) -> None:
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
        # 64 rows of 256 tokens are full: fewer tokens are another number.
        ("# 1 node of 8 GPUs: 16,384 tokens per step\n", []),
        ("# 1 node of 8 GPUs: 8,192 tokens per step\n", ["GBS101"]),
        ("# on 3 GPUs\n", ["GBS202"]),  # 16 micro batches are not shared by three
    ],
)
def test_comments_and_processes_are_checked_against_it(tmp_path: Path, comment: str, found: list[str]) -> None:
    assert codes(checked(tmp_path, {"train.py": TRAINS, "config/small.py": comment + SMALL})) == found


@pytest.mark.parametrize(
    ("files", "batch"),
    [
        pytest.param({"train_gpt2.py": TRAINS}, (64, 16_384), id="another name"),
        pytest.param({"config/train_small.py": TRAINS}, (64, 16_384), id="beside the file"),
        pytest.param({"train_a.py": TRAINS, "train_b.py": TRAINS}, (64, 16_384), id="two that agree"),
        pytest.param({"train_a.py": TRAINS, "train_b.py": TRAINS.replace("256", "512")}, (64, None), id="two rows"),
        pytest.param(
            {"train_a.py": TRAINS, "sample.py": "start = 0\nexec(open('configurator.py').read())\n"}, (64, 16_384), id="one samples"
        ),
    ],
)
def test_a_program_is_known_by_what_it_executes(tmp_path: Path, files: dict[str, str], batch: tuple[int | None, int | None]) -> None:
    report = checked(tmp_path, {**files, "config/small.py": SMALL})
    runs = [run for file in report.files for run in file.runs if run.path == "config/small.py"]
    assert [(run.geometry.value("global_batch_size"), run.geometry.value("tokens_per_step")) for run in runs] == [batch]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({"deep/er/train_gpt2.py": TRAINS}, id="elsewhere"),
        pytest.param({"sample.py": SAMPLES}, id="one that only samples"),
        pytest.param({"notes.py": "# configurator.py sets gradient_accumulation_steps\n"}, id="one that only speaks of it"),
    ],
)
def test_programs_that_do_not_execute_it_are_none(tmp_path: Path, files: dict[str, str]) -> None:
    report = checked(tmp_path, {**files, "config/small.py": SMALL})
    assert [run for file in report.files for run in file.runs if run.path == "config/small.py"] == []


SOME = "# 8 batch size * 1024 block size * 6 gradaccum * 10 GPUs = 491,520\n"


@pytest.mark.parametrize(
    "config",
    [
        # 60 x 8 x 1,024 is the total, and 8 can't be shared by 10 GPUs: these are another recipe's.
        pytest.param("batch_size = 60\nblock_size = 1024\ngradient_accumulation_steps = 8\n", id="the total of other factors"),
        pytest.param("batch_size = 12\nblock_size = 1024\ngradient_accumulation_steps = 16\n", id="neither is the setting"),
    ],
)
def test_hardware_of_a_product_for_other_settings_is_none(tmp_path: Path, config: str) -> None:
    report = checked(tmp_path, {"train.py": TRAINS, "config/small.py": SOME + config})
    assert "GBS202" not in codes(report)


def test_hardware_of_a_product_that_names_the_settings_counts(tmp_path: Path) -> None:
    """8 a micro batch, as said: 16 micro batches can't be shared by 10 GPUs."""
    config = "batch_size = 8\nblock_size = 1024\ngradient_accumulation_steps = 16\n"
    assert "GBS202" in codes(checked(tmp_path, {"train.py": TRAINS, "config/small.py": SOME + config}))


# What configurator.py does, written into the program: AGI-Arena/MARS, MARS/train_adamw.py (4831e28), which multiplies for one process too.
INLINE = """\
for arg in sys.argv[1:]:
    if '=' not in arg:
        config_file = arg
        exec(open(config_file).read())
    else:
        key, val = arg.split('=')
        globals()[key[2:]] = val
"""
WRITTEN_IN = OLDER.replace("exec(open('configurator.py').read())\n", INLINE)
SIMULATES = WRITTEN_IN + "if world == 1:\n    gradient_accumulation_steps *= 8\n"
ON_8 = "torchrun --standalone --nproc_per_node=8 train.py"


@pytest.mark.parametrize(
    ("trains", "command"),
    [
        pytest.param(TRAINS, f"{ON_8} config/gone.py", id="a file that is not there"),
        pytest.param(TRAINS, f"{ON_8} $CONFIG.py", id="a file that a variable names"),
        pytest.param(TRAINS.replace("configurator.py", "other.py"), f"{ON_8} config/small.py", id="a program that executes another file"),
        pytest.param(TRAINS, f"{ON_8} $CONFIG", id="a file that only a variable names"),
        pytest.param(SIMULATES, "CUDA_VISIBLE_DEVICES=0 python train.py config/small.py", id="one process that accumulates as eight do"),
        pytest.param(OLDER, "srun -N 1 -n 8 python train.py config/small.py", id="eight processes that know nothing of each other"),
    ],
)
def test_launches_that_leave_something_open_have_no_batch(trains: str, command: str, tmp_path: Path) -> None:
    files = {"train.py": trains, "config/small.py": SMALL, "run.sh": f"{command}\n"}
    assert launched_batches(checked(tmp_path, files)) in ([], [None])


@pytest.mark.parametrize(
    ("trains", "command", "batch"),
    [
        pytest.param(TRAINS, f"{ON_8} config/small.py", 64, id="4 x 16, shared by 8"),
        pytest.param(TRAINS, f"{ON_8} config/small.py --batch_size=2", 32, id="2 x 16: the flag behind the file"),
        pytest.param(TRAINS, f"{ON_8} --batch_size=2", 80, id="2 x 40: no file"),
        pytest.param(TRAINS, "python train.py", 480, id="12 x 40"),
        pytest.param(OLDER, f"{ON_8} config/small.py", 512, id="4 x 16 x 8: each accumulates"),
        pytest.param(WRITTEN_IN, f"{ON_8} config/small.py --gradient_accumulation_steps=2", 64, id="4 x 2 x 8: written in"),
        pytest.param(SIMULATES, f"{ON_8} config/small.py", 512, id="4 x 16 x 8: a group is not multiplied"),
        pytest.param(TRAINS + "import deepspeed\ndeepspeed.initialize(config={})\n", f"{ON_8} config/small.py", 64, id="DeepSpeed inside"),
    ],
)
def test_a_launch_executes_its_file_over_the_program_s_names(trains: str, command: str, batch: int, tmp_path: Path) -> None:
    files = {"train.py": trains, "config/small.py": SMALL, "run.sh": f"{command}\n"}
    assert launched_batches(checked(tmp_path, files)) == [batch]


def test_the_names_are_those_of_the_program_that_is_launched(tmp_path: Path) -> None:
    other = TRAINS.replace("batch_size = 12", "batch_size = 3")
    files = {"train.py": TRAINS, "train_b.py": other, "config/few.py": "gradient_accumulation_steps = 16\n"}
    run = f"{ON_8} config/few.py\n".replace("train.py", "train_b.py")
    assert launched_batches(checked(tmp_path, {**files, "run.sh": run})) == [48]


def test_a_file_may_lie_where_no_program_is_beside_it(tmp_path: Path) -> None:
    # AGI-Arena/MARS, scripts/run_adamw_small.sh (4831e28): MARS/train_adamw.py executes config/train_gpt2_small_adamw.py.
    files = {
        "acme/train.py": WRITTEN_IN,
        "config/small.py": SMALL,
        "run.sh": f"{ON_8} config/small.py\n".replace("train.py", "acme/train.py"),
    }
    assert launched_batches(checked(tmp_path, files)) == [512]
