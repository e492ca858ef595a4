"""torchrun: nodes times processes on each, 1 for what is not said, unknown for what it counts itself."""

import pytest

from pytest_gbs.model.quantity import Name, Note, Noted, Origin, Quantity
from tests.launches.programs.starting import problems, program, size_of, sizes, start_of, starts, world, written

NOTHING = {
    "help": "torchrun --help",
    "no-program": "torchrun --nproc_per_node 8",
    "another-module": "python -m torch.distributed.something --nproc_per_node 8 train.py",
    "text": 'echo "torchrun --nproc_per_node 8 train.py"',
}


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_what_is_not_a_launch_starts_nothing(text: str) -> None:
    assert [start for _, start in starts(text) if start.name == "torchrun"] == []


UNKNOWN = {
    "devices": ("--nproc_per_node gpu", "auto"),
    "auto": ("--standalone --nproc-per-node=auto", "auto"),
    "elastic": ("--nnodes 1:4 --nproc_per_node 8", "elastic"),
    "environment": ("--nnodes $NNODES --nproc_per_node 8", "interpolated"),
    "processes-of-the-environment": ("--nnodes 2 --nproc_per_node $N", "interpolated"),
    "text": ("--nproc_per_node eight", "not-an-integer"),
    "zero": ("--nproc_per_node 0", "not-an-integer"),
    "words-of-a-command": ("$(options)", "interpolated"),
    "dots": ("--nproc-per-node ...", "placeholder"),
}


@pytest.mark.parametrize(("options", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_unknown(options: str, reason: str) -> None:
    assert world(start_of(f"torchrun {options} train.py")) == reason


KNOWN = {
    "nothing": ("", 1, 1),
    "processes": ("--nproc_per_node 8", 1, 8),
    "hyphens": ("--nproc-per-node=8 --nnodes=2", 2, 8),
    "abbreviated": ("--nproc 4 --nnode 2", 2, 4),
    "fixed-range": ("--nnodes=4:4 --nproc_per_node=8", 4, 8),
    "standalone": ("--standalone --nproc_per_node=8", 1, 8),
    "other-options": ("--rdzv_id 7 --rdzv_backend c10d --rdzv_endpoint host:29500 --nnodes 2 --nproc_per_node 8 --max-restarts 3", 2, 8),
    "rank-of-the-environment": ("--nnodes 2 --node_rank $RANK --nproc_per_node 8", 2, 8),
    "more-of-the-environment": ("--nproc_per_node 8 $EXTRA", 1, 8),
    "default": ("--nnodes ${NNODES:-2} --nproc_per_node 8", 2, 8),
}


@pytest.mark.parametrize(("options", "nodes", "each"), KNOWN.values(), ids=KNOWN)
@pytest.mark.parametrize(
    "launch", ["torchrun", "python -m torch.distributed.run", "python3 -m torch.distributed.launch", "/opt/env/bin/torchrun"]
)
def test_processes_are_multiplied(launch: str, options: str, nodes: int, each: int) -> None:
    start = start_of(f"{launch} {options} train.py --config x.yaml")
    assert sizes(start) == {Name.WORLD_SIZE: nodes * each, Name.NUM_NODES: nodes, Name.GPUS_PER_NODE: each}
    assert program(start)[0] in ("train.py", None)
    assert program(start)[-2:] == ["--config", "x.yaml"]


def test_options_of_the_program_are_its_own() -> None:
    start = start_of("torchrun --nproc_per_node 8 train.py --nnodes 4 --nproc_per_node 2")
    assert world(start) == 8
    assert program(start) == ["train.py", "--nnodes", "4", "--nproc_per_node", "2"]


def test_a_module_is_marked() -> None:
    assert program(start_of("torchrun --nproc_per_node=2 -m pkg.train --x y")) == ["-m", "pkg.train", "--x", "y"]
    assert program(start_of("torchrun --module --nproc_per_node=2 pkg.train")) == ["-m", "pkg.train"]


def test_the_environment_counts_where_no_option_does() -> None:
    assert world(start_of("PET_NNODES=2 PET_NPROC_PER_NODE=8 torchrun train.py")) == 16
    assert world(start_of("PET_NNODES=2 torchrun --nnodes 4 --nproc_per_node 8 train.py")) == 32


def test_no_processes_are_a_problem() -> None:
    assert problems(start_of("torchrun --nproc_per_node 0 train.py")) == [("0 processes on a node; torchrun stops", True)]
    assert problems(start_of("torchrun --nproc_per_node 8 train.py")) == []


@pytest.mark.parametrize("options", ["--nnodes 1", "--nnodes=1:4", "--nnodes $NODES", "--nnodes ${NODES:-1}", ""])
def test_a_group_of_one_machine_is_standalone(options: str) -> None:
    assert problems(start_of(f"torchrun --standalone {options} --nproc_per_node 8 train.py")) == []
    assert problems(start_of("torchrun --nnodes 8 --nproc_per_node 8 train.py --standalone")) == []


# jiaweizzhao/GaLore at 2cc66f8, scripts/benchmark_c4/llama_7b.sh
@pytest.mark.parametrize("options", ["--standalone --nnodes 8", "--nnodes=8:8 --standalone", "--standalone --nnodes ${NODES:-8}"])
def test_other_machines_cannot_join_one_that_is_standalone(options: str) -> None:
    (found,) = problems(start_of(f"torchrun {options} --nproc_per_node 8 train.py"))
    assert found == ("--standalone starts a group of one machine, in which torchrun waits for 8 machines until it gives up", True)


def test_the_world_is_located_where_the_processes_were_given() -> None:
    text = "GPUS=8\ntorchrun --nnodes 2 --nproc_per_node $GPUS train.py\n"
    start = start_of(text)
    size = size_of(start)
    assert isinstance(size, Quantity)
    assert (size.value, size.origin, size.key, size.note.words) == (16, Origin.LAUNCH, "--nproc_per_node", "2 nodes x 8")
    assert written(text, start) == "8"


def test_a_default_is_named() -> None:
    size = size_of(start_of("torchrun --nproc_per_node ${GPUS:-8} train.py"))
    assert isinstance(size, Quantity)
    assert size.note == Note("default of GPUS", Noted.DEFAULT, "GPUS")
    argument = size_of(start_of("torchrun --nproc_per_node ${1:-8} train.py"))
    assert isinstance(argument, Quantity)
    assert argument.note == Note("default of argument 1", Noted.DEFAULT, "1")


def test_a_default_of_torchrun_has_no_place() -> None:
    nodes = size_of(start_of("torchrun --nproc_per_node 8 train.py"), Name.NUM_NODES)
    assert isinstance(nodes, Quantity)
    assert (nodes.at, nodes.origin, nodes.note) == (None, Origin.DEFAULT, Note("default of torchrun", Noted.BUILT_IN))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("torchrun --nnodes 2 --nproc_per_node 4 bash run.sh", id="without the switch it takes a Python file"),
        pytest.param("torchrun --nnodes 2 --nproc_per_node 4 --no-python bash run.sh", id="a script that is not here"),
        pytest.param("torchrun --nnodes 2 --nproc_per_node 4 --no-python ./train", id="a program of its own"),
    ],
)
def test_any_command_that_is_not_python_starts_no_python(text: str) -> None:
    assert "train.py" not in [word for _, start in starts(text) for word in program(start)]


@pytest.mark.parametrize("switch", ["--no-python", "--no_python"])
def test_any_command_runs_in_each_process(switch: str) -> None:
    start = start_of(f"torchrun --nnodes 2 --nproc_per_node 4 {switch} bash -c 'nice -10 python train.py --lr 1'")
    assert (start.name, world(start), program(start)) == ("torchrun", 8, ["train.py", "--lr", "1"])


@pytest.mark.parametrize("command", ["python train.py", "bash -c 'python train.py'"])
def test_any_command_within_srun_runs_in_each_process(command: str) -> None:
    text = f"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\nsrun torchrun --nnodes 2 --nproc_per_node 4 --no-python {command}"
    start = start_of(text)
    assert (start.name, world(start), program(start)) == ("torchrun", 8, ["train.py"])


def test_each_process_has_a_rank() -> None:
    text = """torchrun --nproc_per_node 4 --no-python bash -c 'if [ -z "$RANK" ]; then python other.py; else python train.py; fi'"""
    ((command, start),) = starts(text)
    assert (world(start), program(start), command.conditional) == (4, ["train.py"], False)
