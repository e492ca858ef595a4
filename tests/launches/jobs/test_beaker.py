"""Experiments of Beaker as launches: each task on `replicas` machines of `gpuCount` GPUs."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched

PROGRAM = (
    "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"
    "(args,) = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()\n"
    "Trainer(args=args).train()\n"
)
FLAGS = "--per_device_train_batch_size 2\n      --gradient_accumulation_steps 8 --output_dir /out"
GPUS = "    envVars:\n      - {name: GPUS, "


def task(command: str, more: str = "") -> str:
    """A task that runs `command` in a shell."""
    return (
        "  - name: tune\n    image: {beaker: me/mine}\n    command: ['/bin/sh', '-c']\n"
        f"    arguments: ['{command}\n      {FLAGS}\n    ']\n{more}"
    )


def experiment(*tasks: str) -> str:
    """An experiment of several tasks."""
    return "version: v2\ndescription: tune\ntasks:\n" + "".join(tasks)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(experiment(task("deepspeed train.py", "    resources: {gpuCount: 4}\n")), [64], id="GPUs of the task"),
        pytest.param(experiment(task("accelerate launch --num_machines 2 --num_processes 8 train.py")), [128], id="flags"),
        pytest.param(experiment(task("torchrun --nproc_per_node $GPUS train.py", GPUS + "value: 2}\n")), [32], id="variable"),
        pytest.param(
            experiment(task("torchrun --nnodes 2 --nproc_per_node 8 train.py", "    replicas: 2\n    resources: {gpuCount: 8}\n")),
            [256],
            id="replicas",
        ),
        pytest.param(experiment(task("deepspeed --num_gpus 8 train.py"), task("deepspeed --num_gpus 1 train.py")), [128, 16], id="two"),
        pytest.param(experiment(task("torchrun --nproc_per_node $GPUS train.py", GPUS + "secret: N}\n")), [None], id="secret"),
    ],
)
def test_each_task_is_a_launch(tmp_path: Path, text: str, expected: list[int | None]) -> None:
    found = checked(tmp_path, {"train.py": PROGRAM, "beaker/tune.yaml": text})
    assert batches(found) == expected
    assert codes(found) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("tasks:\n  - name: eval\n    command: [deepspeed, train.py]\n", id="no image"),
        pytest.param("tasks: [gsm8k, mmlu]\n", id="names"),
        pytest.param("tasks:\n  - image: {beaker: me/mine}\n    arguments: [{a: 1}]\n", id="no words"),
        pytest.param("  tasks:\n    - image: {beaker: me/mine}\n      command: [deepspeed, train.py]\n", id="not at the top"),
    ],
)
def test_other_lists_of_tasks_are_none(tmp_path: Path, text: str) -> None:
    assert launched(checked(tmp_path, {"train.py": PROGRAM, "beaker/tune.yaml": text})) == []
