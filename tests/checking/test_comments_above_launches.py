"""Comments of scripts with several launches: one counts for the launch below it if only lines that set variables are between."""

from pathlib import Path

import pytest

from tests.launches.building import TRAINS, checked, codes

LAUNCH = "torchrun --nproc_per_node 4 train.py --per_device_train_batch_size 2 --gradient_accumulation_steps {} --output_dir out\n"


def _found(between: str, folder: Path, said: int) -> list[str]:
    # 2 on each of 4 GPUs: 8 x accumulation.
    script = f"#!/bin/bash\nset -e\n{LAUNCH.format(2)}\n# Second stage: effective batch size {said}\n{between}{LAUNCH.format(8)}"
    return codes(checked(folder, {"train.py": TRAINS, "run.sh": script}))


SETS_UP = [
    pytest.param("", id="right above"),
    pytest.param("export CUDA_VISIBLE_DEVICES=0,1,2,3\n", id="GPUs"),
    pytest.param('export CUDA_VISIBLE_DEVICES=0,1,2,3 NCCL_DEBUG=INFO\nOUT="runs/second stage"\n\nmkdir -p runs\n', id="several"),
    pytest.param("RUN='b' # its name\n# 3 epochs\necho started\n", id="comments"),
]


@pytest.mark.parametrize("between", SETS_UP)
def test_the_batch_that_is_stated(between: str, tmp_path: Path) -> None:
    assert _found(between, tmp_path, 64) == []


@pytest.mark.parametrize("between", SETS_UP)
def test_another_batch_than_is_stated(between: str, tmp_path: Path) -> None:
    assert _found(between, tmp_path, 32) == ["GBS301"]


@pytest.mark.parametrize(
    "between",
    [
        pytest.param("python prepare.py --out data\n", id="another program"),
        pytest.param("OUT=$(python prepare.py)\n", id="what a program prints"),
        pytest.param("GPUS=4 python prepare.py\n", id="variables of another program"),
        pytest.param("if [ -n $DEBUG ]; then\n  exit\nfi\n", id="a branch"),
        pytest.param("cd other && python train.py\n", id="two commands"),
        pytest.param("".join(f"A{number}={number}\n" for number in range(9)), id="far away"),
    ],
)
def test_what_else_is_between(between: str, tmp_path: Path) -> None:
    assert [code for code in _found(between, tmp_path, 32) if code == "GBS301"] == []


def test_a_comment_is_about_no_other_launch(tmp_path: Path) -> None:
    first = LAUNCH.format(8)
    script = f"#!/bin/bash\nset -e\n# effective batch size 64\nA=1\n{first}\n{LAUNCH.format(2)}"
    assert codes(checked(tmp_path, {"train.py": TRAINS, "run.sh": script})) == []
    script = f"#!/bin/bash\n# effective batch size 64\nA=1\n{LAUNCH.format(2)}\n{first}"
    assert codes(checked(tmp_path, {"train.py": TRAINS, "run.sh": script})) == []
