"""Which launches a check looks into."""

from pathlib import Path

import pytest

from pytest_gbs import Settings
from pytest_gbs.checking.launch_index import index_launches
from pytest_gbs.checking.repository import Repository
from pytest_gbs.files.worktree import WorkTree
from tests.cli.support import write
from tests.launches.building import TRAINS, checked, codes, recipe

LOOP = "for seed in 1 2 3; do accelerate launch --num_processes 8 train.py --config sft.yaml {}; done\n"


@pytest.mark.parametrize(
    ("words", "number"),
    [
        pytest.param("--gradient_accumulation_steps $seed", 3, id="each-turn-another-batch"),
        pytest.param("--seed $seed", 3, id="each-turn-another-word"),
        # locuslab/open-unlearning: 665 launches, of which 253 differ from each other.
        pytest.param("", 1, id="all-turns-alike"),
    ],
)
def test_turns_of_a_loop_that_are_alike_in_all_are_one_launch(tmp_path: Path, words: str, number: int) -> None:
    write(tmp_path, {"sft.yaml": recipe(), "train.py": "", "run.sh": LOOP.format(words)})
    index = index_launches(Repository(WorkTree(str(tmp_path)), Settings()))
    assert index is not None
    assert len(index.of_recipe["sft.yaml"]) == number


# 2 on each of 8 GPUs, 4 times: 64.
LAUNCH = "torchrun --nproc_per_node 8 train.py --output_dir o --per_device_train_batch_size 2 --gradient_accumulation_steps 4\n"


def _commented(folder: Path, claimed: int, before: str) -> list[str]:
    """What is found in a script whose comment claims a batch, and which runs `before` the training."""
    script = f"#!/bin/bash\n# Trains with global batch size {claimed}.\nset -e\n{before}\n{LAUNCH}"
    return codes(checked(folder, {"train.py": TRAINS, "run.sh": script}))


GETS_READY = [
    "python -m pip install --user trl",
    "python -m json.tool config.json",
    "python prepare_data.py --out data",
    "python scripts/download_model.py",
    "python -m tools.preprocess_corpus",
    "python build_dataset.py",
]


@pytest.mark.parametrize("before", ["", *GETS_READY])
def test_a_script_that_gets_something_ready_is_about_its_training(tmp_path: Path, before: str) -> None:
    assert _commented(tmp_path, 64, before) == []
    assert _commented(tmp_path, 128, before) == ["GBS301"]


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("python warm_up.py", id="another program"),
        pytest.param("python train_tokenizer.py", id="a training by its name"),
        pytest.param("python prepare_and_finetune.py", id="both by its name"),
        pytest.param("python -m code.run", id="a package with a name of the standard library"),
        pytest.param("python data.py", id="a program by the name of its data"),
        pytest.param(f"{LAUNCH.strip()} --num_train_epochs 2", id="two trainings"),
    ],
)
def test_a_comment_of_a_script_with_another_program_is_about_neither(tmp_path: Path, before: str) -> None:
    assert _commented(tmp_path, 128, before) == []
