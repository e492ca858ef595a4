"""Plain Python, Ray and Composer: one process, a cluster's own number, and so many as `-n` says."""

import pytest

from pytest_gbs.launches.programs import command_words, launchers
from pytest_gbs.model.launch import Launcher
from pytest_gbs.model.quantity import Name
from tests.launches.programs.starting import program, sizes, start_of, starts, world

NOTHING = {
    "code": "python -c 'import torch'",
    "version": "python --version",
    "debugger": "python -m debugpy --listen 5678",
    "standard-input": "python - < x.py",
    "pip": "pip install -r requirements.txt",
    "config": "python3-config --includes",
    "php": "composer install",
    "ray-cluster": "ray start --head --num-gpus 8",
    "ray-without-program": "ray job submit --address x",
    "ray-with-variables-alone": "ray job submit --address x -- A=1",
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_what_runs_no_program_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


PYTHON = {
    "nothing-said": ("python train.py", "missing"),
    "devices": ("CUDA_VISIBLE_DEVICES=0,1 python train.py", "missing"),
    "no-device": ("CUDA_VISIBLE_DEVICES= python train.py", "missing"),
    "minus-one": ("CUDA_VISIBLE_DEVICES=-1 python train.py", "missing"),
    "environment": ("CUDA_VISIBLE_DEVICES=$GPU python train.py", "interpolated"),
    "one-device": ("CUDA_VISIBLE_DEVICES=3 python train.py", 1),
    "exported": ("export CUDA_VISIBLE_DEVICES=0\npython3.11 -u train.py", 1),
    "module": ("CUDA_VISIBLE_DEVICES=0 python -m pkg.train", 1),
    "by-its-name": ("CUDA_VISIBLE_DEVICES=GPU-1a2b python train.py", 1),
    "wrapped": ("CUDA_VISIBLE_DEVICES=0 uv run python train.py", 1),
}


@pytest.mark.parametrize(("text", "expected"), PYTHON.values(), ids=PYTHON)
def test_one_process_is_known_where_it_sees_one_device(text: str, expected: int | str) -> None:
    start = start_of(text)
    assert (start.name, sizes(start)) == ("python", {Name.WORLD_SIZE: expected})


def test_the_program_of_python_is_behind_its_options() -> None:
    assert program(start_of("python -u -W ignore train.py --config x.yaml")) == ["train.py", "--config", "x.yaml"]
    assert program(start_of("python -O -m pkg.train x.yaml")) == ["-m", "pkg.train", "x.yaml"]
    debugged = start_of("python -m debugpy --listen 5678 --wait-for-client train.py --config x.yaml")
    assert program(debugged) == ["train.py", "--config", "x.yaml"]
    assert program(start_of("python -m cProfile -o out.prof -m pkg.train x.yaml")) == ["-m", "pkg.train", "x.yaml"]
    assert program(start_of("python -m ipdb train.py --config x.yaml")) == ["train.py", "--config", "x.yaml"]


# With variables: scripts/train/deepmath-zero-7b.sh of zwhe99/DeepMath at 0d97187.
@pytest.mark.parametrize("variables", ["", "PYTHONUNBUFFERED=1 ", "A=1 B='2 3' "])
def test_a_cluster_of_ray_is_unknown(variables: str) -> None:
    start = start_of(f"ray job submit --address=http://x --runtime-env-json='{{}}' -- {variables}python3 -m pkg.train a=1")
    assert (start.name, world(start), program(start)) == ("ray job submit", "missing", ["-m", "pkg.train", "a=1"])


COMPOSER = {
    "nothing-said": ("composer train.py x.yaml", "auto"),
    "environment": ("composer -n $N train.py x.yaml", "interpolated"),
    "processes": ("composer -n 8 train.py x.yaml", 8),
    "glued": ("composer -n8 train.py x.yaml", 8),
    "long": ("composer --nproc=4 -v train.py x.yaml", 4),
    "world": ("composer --world_size 16 -n 8 --node_rank 0 --master_addr a --master_port 1 train.py x.yaml", 16),
    "variable": ("LOCAL_WORLD_SIZE=2 composer train.py x.yaml", 2),
}


@pytest.mark.parametrize(("text", "expected"), COMPOSER.values(), ids=COMPOSER)
def test_composer_starts_so_many(text: str, expected: int | str) -> None:
    start = start_of(text)
    assert (world(start), program(start)[-1]) == (expected, "x.yaml")


COMMANDS = {
    "accelerate": "accelerate launch train.py",
    "torchrun": "torchrun train.py",
    "torchrun as a module": "python -m torch.distributed.run train.py",
    "deepspeed": "deepspeed train.py",
    "trl": "trl sft",
    "llamafactory": "llamafactory-cli train x.yaml",
    "axolotl": "axolotl train x.yml",
    "tune": "tune run full_finetune_distributed",
    "swift": "swift sft",
    "megatron": "megatron sft",
    "xtuner": "xtuner train a.py",
    "composer": "composer train.py",
    "ray": "ray job submit -- python x.py",
    "srun": "srun python x.py",
    "python": "python x.py",
}


# scripts/train/example_multinode_rl_qwen2.5_32b_base_fsdp.sh of LLM360/Reasoning360 at 13158341.
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("$WHICH", []),
        ("${WHICH}python", []),
        ("${CONDA_BIN_PATH}x", []),
        ("${CONDA_BIN_PATH}python", ["python"]),
        ("${BIN_DIR}torchrun", ["torchrun"]),
        ("$BIN_DIR/python3", ["python"]),
    ],
)
def test_a_variable_for_the_folder_of_a_program(name: str, expected: list[str]) -> None:
    assert [start.name for _, start in starts(f'"{name}" train.py --lr 1\n')] == expected


@pytest.mark.parametrize("text", COMMANDS.values(), ids=COMMANDS)
def test_a_script_with_a_launch_holds_one_of_the_words(text: str) -> None:
    assert any(word in text for word in command_words())
    assert len(list(starts(text))) == 1


@pytest.mark.parametrize("launcher", [each for each in launchers() if each.start], ids=lambda each: each.name)
def test_a_launcher_with_commands_has_words(launcher: Launcher) -> None:
    assert launcher.words
    assert launcher.summary
    assert launcher.start is not None


HOSTILE = ["accelerate launch", "accelerate launch --", "torchrun --", "torchrun -", "deepspeed --include", "deepspeed --include @@: x.py"]
HOSTILE += ["trl sft --config", "trl sft --accelerate_config", "tune run", "tune run --config", "axolotl train --", "axolotl train -- --"]
HOSTILE += [
    "srun",
    "srun -n",
    "python -m",
    "python",
    "ray job submit --",
    'torchrun "$@"',
    "accelerate launch $*",
    "llamafactory-cli train",
]
HOSTILE += ["torchrun --nproc_per_node 99999999999999999999 x.py", "torchrun --nnodes ::: x.py", "torchrun --nnodes 1:1:1 x.py", '"" x']
HOSTILE += [
    "deepspeed --num_gpus ٣ x.py",
    "composer -n x.py",
    "CUDA_VISIBLE_DEVICES=,, python x.py",
    "swift sft '' ",
    "NPROC_PER_NODE=٣ xtuner train ''",
    "srun -N ٣ python x.py",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_broken_commands_give_no_number(text: str) -> None:
    for _, start in starts(text):
        assert not isinstance(world(start), int)
