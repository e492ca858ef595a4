"""Programs that submit the command behind their `--`: its launcher counts, and the nodes that the program adds."""

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.programs.starting import program, sizes, start_of, starts, world

MASON = "python mason.py --cluster x --num_nodes {} --gpus 8 -- {}"


@pytest.mark.parametrize("text", ["python mason.py --num_nodes 2 -- bash -c 'ls'", "ls -- torchrun train.py", "git checkout -- train.py"])
def test_what_hands_on_no_launcher_is_left_alone(text: str) -> None:
    assert [start.name for _, start in starts(text) if start.name != "python"] == []


UNKNOWN = {
    "nodes of another program": "python submit.py --nodes 2 -- accelerate launch --num_processes 8 train.py",
    "nodes of the environment": MASON.format("$N", "accelerate launch --num_processes 8 train.py"),
    "torchrun without nodes": MASON.format(2, "torchrun --nproc_per_node 8 train.py"),
    "plain Python": MASON.format(2, "python train.py"),
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_processes_are_unknown_if_the_program_may_add_nodes(text: str) -> None:
    assert isinstance(world(start_of(text)), str)


KNOWN = {
    "one node": (MASON.format(1, "accelerate launch --num_processes 8 train.py"), {Name.WORLD_SIZE: 8}),
    "no nodes": ("python submit.py -- torchrun --nproc_per_node 4 train.py", {Name.WORLD_SIZE: 4, Name.NUM_NODES: 1}),
    "nodes of torchrun": (MASON.format(2, "torchrun --nnodes 2 --nproc_per_node 8 train.py"), {Name.WORLD_SIZE: 16, Name.NUM_NODES: 2}),
    "times the nodes": (
        MASON.format(4, "accelerate launch --num_machines 4 --num_processes 8 train.py"),
        {Name.WORLD_SIZE: 32, Name.NUM_NODES: 4, Name.GPUS_PER_NODE: 8},
    ),
    "behind another command": (MASON.format(2, r"source x.sh \&\& accelerate launch --num_processes 8 train.py"), {Name.WORLD_SIZE: 16}),
    "run by uv": (f"uv run {MASON.format(2, 'accelerate launch --num_processes 8 train.py')}", {Name.WORLD_SIZE: 16}),
}


@pytest.mark.parametrize(("text", "expected"), KNOWN.values(), ids=KNOWN)
def test_processes_are_those_of_the_launcher_on_all_nodes(text: str, expected: dict[str, int]) -> None:
    assert sizes(start_of(text)).items() >= expected.items()


def test_the_program_ends_where_the_next_command_begins() -> None:
    assert program(start_of(r"python mason.py -- accelerate launch train.py --lr 1 \&\& python eval.py")) == ["train.py", "--lr", "1"]
