"""Flags that are short for those of a Trainer, as argparse has it; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import TRAINS, batches, checked, recipe

RUN = "torchrun --nproc_per_node 4 train.py --learning_rate 1e-5 --output_dir out"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param("--per_device_train_batch 3 --gradient_accumulation_steps 7", 84, id="the micro batch"),
        pytest.param("--per_device_train_batch_size 3 --gradient_accumulation 7", 84, id="the accumulation"),
        pytest.param("--per_device_train_batch_size=3 --gradient_accumulation_step=7", 84, id="a letter left out"),
        pytest.param("--per-device-train-batch_size 3 --gradient-accumulation 7", 84, id="dashes"),
        pytest.param(
            "--per_device_train_batch_size 3 --gradient_accumulation 7 --gradient_accumulation_steps 2", 24, id="the last one wins"
        ),
        pytest.param("--per_device_train_batch_size 3 --gradient 7", 12, id="others begin so"),
    ],
)
def test_what_begins_one_option_alone_is_that_option(flags: str, expected: int, tmp_path: Path) -> None:
    report = checked(tmp_path, {"train.py": TRAINS, "run.sh": f"{RUN} {flags}\n"})
    assert batches(report) == [expected]


def test_an_option_of_the_program_is_no_short_form(tmp_path: Path) -> None:
    own = "from dataclasses import dataclass\n\n@dataclass\nclass Own:\n    gradient_accumulation: int = 4\n"
    program = own + TRAINS.replace("(args,)", "args, own").replace("(TrainingArguments,)", "(TrainingArguments, Own)")
    flags = "--per_device_train_batch_size 3 --gradient_accumulation 7"
    assert batches(checked(tmp_path, {"train.py": program, "run.sh": f"{RUN} {flags}\n"})) == [12]


def test_a_flag_beside_a_recipe_may_be_short_too(tmp_path: Path) -> None:
    command = "torchrun --nproc_per_node 8 train.py sft.yaml --gradient_accumulation 8\n"
    report = checked(tmp_path, {"train.py": TRAINS, "sft.yaml": recipe(comment=""), "run.sh": command})
    assert batches(report) == [256]  # 4 x 8 x 8
