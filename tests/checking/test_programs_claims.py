"""What the comments of a program claim of the batch that it sets itself holds for the scripts that start it as it is."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, only

# 2 on each GPU, 8 times: 16 for each GPU.
PROGRAM = """\
from transformers import Trainer, TrainingArguments

# {comment}
args = TrainingArguments(output_dir="o", per_device_train_batch_size=2, gradient_accumulation_steps=8)
Trainer(args=args).train()
"""
OTHER = """
more = TrainingArguments(output_dir="p", per_device_train_batch_size=4)
"""
FLAGS = """\
import argparse
from transformers import Trainer, TrainingArguments

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, default=2)
opts = parser.parse_args()
# effective batch size 2 x 8 x 8 GPUs = 128
args = TrainingArguments(output_dir="o", per_device_train_batch_size=opts.batch_size, gradient_accumulation_steps=8)
Trainer(args=args).train()
"""
CLAIM = "effective batch size: 2 x 8 x 8 GPUs = 128"


def _found(folder: Path, program: str, command: str, script: str = "run.sh") -> list[str]:
    text = f"```bash\n{command}\n```\n" if script.endswith(".md") else f"#!/bin/bash\n{command}\n"
    return codes(checked(folder, {"train.py": program, script: text}))


@pytest.mark.parametrize(
    ("comment", "command"),
    [
        pytest.param(CLAIM, "torchrun --nproc_per_node=8 train.py", id="its batch"),
        pytest.param(CLAIM, "torchrun --nproc_per_node=$GPUS train.py", id="any number of GPUs"),
        pytest.param(CLAIM, "python train.py", id="what the machine has"),
        pytest.param("runs on 8 GPUs", "torchrun --nproc_per_node=4 train.py", id="no batch"),
        pytest.param("in the paper the global batch size was 128", "torchrun --nproc_per_node=4 train.py", id="history"),
        pytest.param("evaluation batch size 128", "torchrun --nproc_per_node=4 train.py", id="evaluation"),
    ],
)
def test_a_launch_in_order_is_silent(comment: str, command: str, tmp_path: Path) -> None:
    assert _found(tmp_path, PROGRAM.format(comment=comment), command) == []


def test_a_document_may_start_a_program_on_other_gpus(tmp_path: Path) -> None:
    assert _found(tmp_path, PROGRAM.format(comment=CLAIM), "torchrun --nproc_per_node=4 train.py", "README.md") == []


def test_one_of_several_trainings_is_not_compared(tmp_path: Path) -> None:
    assert _found(tmp_path, PROGRAM.format(comment=CLAIM) + OTHER, "torchrun --nproc_per_node=4 train.py") == []


def test_a_batch_that_the_script_gives_is_its_own(tmp_path: Path) -> None:
    assert _found(tmp_path, FLAGS, "torchrun --nproc_per_node=4 train.py --batch_size 2") == []


@pytest.mark.parametrize(
    ("program", "gpus", "message"),
    [
        # 2 x 8 x 4 = 64.
        pytest.param(PROGRAM.format(comment=CLAIM), 4, "this launch gives 64, but train.py claims 128", id="fewer GPUs"),
        pytest.param(PROGRAM.format(comment="global batch size 128"), 16, "this launch gives 256, but train.py claims 128", id="more GPUs"),
        pytest.param(FLAGS, 4, "this launch gives 64, but train.py claims 128", id="a default"),
    ],
)
def test_another_batch_than_the_program_says_is_found(program: str, gpus: int, message: str, tmp_path: Path) -> None:
    script = f"#!/bin/bash\ntorchrun --nproc_per_node={gpus} train.py\n"
    finding = only(checked(tmp_path, {"train.py": program, "run.sh": script}))
    assert (finding.code, finding.severity, finding.message) == ("GBS301", "error", message)
