"""Frameworks with a program of their own: litgpt, whose processes its recipe tells, and GPT-NeoX, which reads several files as one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import batches, checked, codes, launched

LITGPT = """\
checkpoint_dir: checkpoints/my/model
out_dir: out
devices: 8
train: {global_batch_size: 64, micro_batch_size: 2, max_seq_length: 512}
"""
MODEL = """\
{
  "pipe-parallel-size": 1, "model-parallel-size": 4, "num-layers": 12, "hidden-size": 768,
  "lr-decay-style": cosine, "checkpoint-factor": 1000, "optimizer": {"type": Adam},
  "train-micro-batch-size-per-gpu": 2, "gradient-accumulation-steps": 4,
}
"""
SETUP = "data_path: data\nhostfile: hostfile\n"
HOSTS = "# two nodes\nworker-0 slots=8\nworker-1 slots=8\n"
TOGETHER = "python ./deepy.py train.py -d configs model.yml setup.yml\n"


def neox(script: str = TOGETHER, **others: str) -> dict[str, str]:
    """The files of a repository that launches GPT-NeoX."""
    files = {"configs/model.yml": MODEL, "configs/setup.yml": SETUP, "hostfile": HOSTS, "run.sh": script}
    return {**files, **{name.replace("_yml", ".yml").replace("configs_", "configs/"): text for name, text in others.items()}}


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(neox("python deepy.py generate.py -d configs model.yml setup.yml\n"), id="it generates"),
        pytest.param(neox("python deepy.py train.py -d configs model.yml other.yml\n"), id="a file is missing"),
        pytest.param(neox(configs_setup_yml=f"{SETUP}gradient_accumulation_steps: 8\n"), id="a key in both, and it stops"),
        pytest.param(neox(f"python deepy.py train.py -d configs model.yml setup.yml {'x ' * 49}\n"), id="too many files"),
        pytest.param({"a.yaml": LITGPT, "run.sh": "litgpt chat --config a.yaml\n"}, id="it talks"),
    ],
)
def test_nothing_is_launched(files: dict[str, str], tmp_path: Path) -> None:
    report = checked(tmp_path, files)
    assert (batches(report), codes(report)) == ([], [])


@pytest.mark.parametrize(
    "files",
    [
        pytest.param(neox(hostfile="worker-0 slots=8\nworker-1\n"), id="a host without slots"),
        pytest.param(neox(hostfile="worker-0 slots=0\n"), id="a host with no GPU"),
        pytest.param(neox(configs_setup_yml=f"{SETUP}num_gpus: 2\n"), id="some GPUs of each host"),
        pytest.param(neox(configs_setup_yml=SETUP.replace("hostfile: hostfile", "hostfile: /job/hostfile")), id="a hostfile elsewhere"),
    ],
)
def test_how_many_processes_there_are_is_left_open(files: dict[str, str], tmp_path: Path) -> None:
    report = checked(tmp_path, files)
    assert (batches(report), codes(report)) == ([None], [])


@pytest.mark.parametrize(
    ("files", "batch"),
    [
        pytest.param(neox(), 32, id="two files"),  # 2 x 4 x (16 / 4)
        pytest.param(neox("./deepy.py train.py configs/model configs/setup\n"), 32, id="without endings"),
        pytest.param(neox(configs_setup_yml=f"{SETUP}gradient-accumulation-steps: 8\n"), 64, id="with dashes, and the later one counts"),
        pytest.param({"a.yaml": LITGPT, "run.sh": "litgpt finetune_full --config a.yaml\n"}, 64, id="as it stands"),
        pytest.param(
            {"a.yaml": LITGPT, "run.sh": "litgpt finetune_full --config a.yaml --train.global_batch_size 96 --devices 4\n"},
            96,
            id="changed",
        ),
    ],
)
def test_the_batch_is_that_of_the_launch(files: dict[str, str], batch: int, tmp_path: Path) -> None:
    report = checked(tmp_path, files)
    assert (batches(report), codes(report)) == ([batch], [])


def test_what_one_file_lacks_another_gives(tmp_path: Path) -> None:
    model = MODEL.replace('"train-micro-batch-size-per-gpu": 2, ', "")
    report = checked(tmp_path, neox(configs_model_yml=model, configs_setup_yml=f"{SETUP}train_micro_batch_size_per_gpu: 3\n"))
    assert (batches(report), codes(report)) == ([48], [])  # 3 x 4 x (16 / 4)


def test_what_no_file_gives_is_missing(tmp_path: Path) -> None:
    model = MODEL.replace('"train-micro-batch-size-per-gpu": 2, ', "")
    assert codes(checked(tmp_path, neox(configs_model_yml=model))) == ["GBS209"]


def test_the_hostfile_says_how_many_processes_there_are(tmp_path: Path) -> None:
    (run,) = launched(checked(tmp_path, neox()))
    names = (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE, Name.DATA_PARALLEL_SIZE)
    assert [run.geometry.value(name) for name in names] == [16, 2, 8, 4]


def test_the_devices_of_the_command_line_beat_those_of_the_file(tmp_path: Path) -> None:
    script = "litgpt finetune_full --config a.yaml --devices 64\n"
    report = checked(tmp_path, {"a.yaml": LITGPT, "run.sh": script})
    (run,) = launched(report)
    assert run.geometry.value(Name.WORLD_SIZE) == 64
    assert codes(report) == ["GBS202"]  # 64 / 64 is one sample for each rank, of micro batches of 2
