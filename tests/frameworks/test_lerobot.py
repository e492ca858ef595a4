"""LeRobot: `lerobot-train` by itself, under torchrun and as a module, and the file that a run saves; numbers worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, launched

from .building import sizes, title

DATA = "--dataset.repo_id=me/cubes --policy.type=act"
SAVED = '{"dataset": {"repo_id": "me/cubes"}, "policy": {"type": "act"}, "batch_size": 16, "steps": 1000%s}'


def trained(folder: Path, command: str) -> list[tuple[str, int | None, int | None]]:
    """The framework, the micro batch and the global batch of each launch of a script that holds `command`."""
    report = checked(folder, {"run.sh": f"{command}\n"})
    found = [(run.framework.title, run.geometry) for run in launched(report)]
    return [(name, geometry.value(Name.MICRO_BATCH_SIZE), geometry.global_batch_size) for name, geometry in found]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("lerobot-eval --policy.path=me/act --eval.batch_size=10", id="an evaluation"),
        pytest.param("lerobot-record --dataset.repo_id=me/cubes --batch_size=8", id="recording"),
        pytest.param("python train.py --dataset.repo_id=me/cubes --policy.type=act --batch_size=8", id="a program of somebody's own"),
        pytest.param("lerobot-train-tokenizer --dataset.repo_id=me/cubes --batch_size=8", id="a tokenizer"),
        pytest.param("lerobot-train --policy.type=act --batch_size=8", id="no data"),
    ],
)
def test_what_is_not_training_of_lerobot_says_nothing(tmp_path: Path, command: str) -> None:
    assert not any(name == "LeRobot" for name, *_ in trained(tmp_path, command))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"repo_id": "me/cubes", "batch_size": 8}', id="a data set"),
        pytest.param('{"dataset": {"repo_id": "me/cubes"}, "num_episodes": 50}', id="a recording"),
    ],
)
def test_files_that_train_nothing_say_nothing(text: str) -> None:
    assert title(text, "config.json") is None


@pytest.mark.parametrize(
    ("command", "micro", "batch"),
    [
        pytest.param(f"torchrun --nproc-per-node=2 $(program) {DATA} --batch_size=32", None, None, id="a word that a command gives"),
        pytest.param(f"torchrun --nproc-per-node=2 $(which lerobot-train) {DATA} --batch_size=32", 32, 64, id="a program looked up"),
        pytest.param(f"torchrun --nproc-per-node=2 -m lerobot.scripts.lerobot_train {DATA} --batch_size=32", 32, 64, id="32 x 2"),
        pytest.param(f"torchrun --nproc-per-node=2 -m lerobot.scripts.lerobot_train {DATA} --steps=10", 8, 16, id="the default of 8"),
        pytest.param(
            f"accelerate launch --multi_gpu --num_processes=4 src/lerobot/scripts/lerobot_train.py {DATA} --batch_size=4 "
            "--accelerator.gradient_accumulation.steps=3",
            4,
            48,
            id="4 x 3 x 4",
        ),
        pytest.param(f"CUDA_VISIBLE_DEVICES=0 lerobot-train {DATA} --batch_size=64", 64, 64, id="one GPU"),
        pytest.param(f"lerobot-train {DATA} --batch_size=64", 64, None, id="how many GPUs it sees is not known"),
    ],
)
def test_the_batch_of_a_command(tmp_path: Path, command: str, micro: int | None, batch: int | None) -> None:
    found = [each for each in trained(tmp_path, command) if each[0] == "LeRobot"]
    assert found == ([] if micro is None else [("LeRobot", micro, batch)])


def test_the_file_that_a_run_saves() -> None:
    path = "train_config.json"
    assert title(SAVED % "", path) == "LeRobot"
    more = ', "accelerator": {"gradient_accumulation": {"steps": 2}}'
    assert [sizes(SAVED % each, path, world_size=4).value(Name.GLOBAL_BATCH_SIZE) for each in ("", more)] == [64, 128]
