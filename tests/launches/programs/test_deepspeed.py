"""deepspeed: what its options and a hostfile fix, and unknown for what the machine decides."""

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.programs.starting import problems, program, sizes, start_of, starts, world

NOTHING = ["deepspeed --help", "ds_report", "deepspeed --num_gpus 8", "pip install deepspeed"]


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_not_a_launch_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


UNKNOWN = {
    "nothing-said": ("deepspeed train.py --deepspeed ds.json", "missing"),
    "hostfile": ("deepspeed --hostfile hosts --num_gpus 8 train.py", "missing"),
    "nodes-only": ("deepspeed --num_nodes 2 train.py", "missing"),
    "all-of-a-host": ("deepspeed --include localhost train.py", "missing"),
    "exclude": ("deepspeed --exclude localhost:0 train.py", "missing"),
    "environment": ("deepspeed --num_gpus $N train.py", "interpolated"),
    "slots-of-the-environment": ("deepspeed --include localhost:$GPUS train.py", "interpolated"),
    "elastic": ("deepspeed --elastic_training --num_gpus 8 --master_addr host train.py", "elastic"),
    "minus-one": ("deepspeed --num_gpus -1 train.py", "missing"),
    "words-of-a-command": ("deepspeed $(options) train.py", "missing"),
    "devices-of-the-environment": ("CUDA_VISIBLE_DEVICES=$G deepspeed train.py", "interpolated"),
}


@pytest.mark.parametrize(("text", "reason"), UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_known_is_unknown(text: str, reason: str) -> None:
    assert world(start_of(text)) == reason


KNOWN = {
    "gpus": ("deepspeed --num_gpus=8 train.py", 1, 8),
    "accelerators": ("deepspeed --num_accelerators 4 train.py", 1, 4),
    "nodes": ("deepspeed --num_gpus=8 --num_nodes 2 train.py", 2, 8),
    "nodes-of-a-hostfile": ("deepspeed --hostfile hosts --num_gpus=8 --num_nodes 2 train.py", 2, 8),
    "slots": ("deepspeed --include localhost:0,1,2 train.py", 1, 3),
    "slots-of-hosts": ("deepspeed --include=a:0,1@b:4,5 train.py", 2, 2),
    "slots-twice": ("deepspeed -i localhost:0,0,1 train.py", 1, 2),
    "devices": ("CUDA_VISIBLE_DEVICES=2,3 deepspeed --master_port 29501 train.py", 1, 2),
    "options-beat-devices": ("CUDA_VISIBLE_DEVICES=2,3 deepspeed --num_gpus 4 train.py", 1, 4),
    "module": ("python -m deepspeed.launcher.runner --num_gpus 8 train.py", 1, 8),
}


@pytest.mark.parametrize(("text", "nodes", "each"), KNOWN.values(), ids=KNOWN)
def test_processes_are_read(text: str, nodes: int, each: int) -> None:
    assert sizes(start_of(text)) == {Name.WORLD_SIZE: nodes * each, Name.NUM_NODES: nodes, Name.GPUS_PER_NODE: each}


def test_hosts_with_unlike_slots_are_counted() -> None:
    assert sizes(start_of("deepspeed --include a:0,1@b:4 train.py")) == {Name.WORLD_SIZE: 3, Name.NUM_NODES: 2}


def test_switches_take_no_value() -> None:
    start = start_of("deepspeed --no_local_rank --num_gpus 8 --no_ssh train.py --num_gpus 2")
    assert (world(start), program(start)) == (8, ["train.py", "--num_gpus", "2"])
    assert program(start_of("deepspeed --num_gpus 8 --module pkg.train -x")) == ["-m", "pkg.train", "-x"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--num_gpus 8 --include localhost:0", "--num_gpus and --include can't be combined; deepspeed stops"),
        ("--include a:0 --exclude b:1", "--include and --exclude can't be combined; deepspeed stops"),
    ],
)
def test_what_deepspeed_refuses_is_reported(options: str, message: str) -> None:
    assert problems(start_of(f"deepspeed {options} train.py")) == [(message, True)]


def test_what_is_in_order_is_not_a_problem() -> None:
    assert problems(start_of("deepspeed --num_nodes 2 --num_gpus 8 train.py")) == []


HOSTS = "# the cluster\nworker-1 slots=8\n\nworker-2 slots=8 # spare\n"


@pytest.mark.parametrize(
    ("hosts", "options"),
    [
        pytest.param("worker-1\nworker-2 slots=8\n", "", id="a host without slots"),
        pytest.param("a slots=8\na slots=8\n", "", id="a host twice"),
        pytest.param("a slots=0\n", "", id="no slots"),
        pytest.param("", "", id="no host"),
        pytest.param("a slots=<N>\n", "", id="a placeholder"),
        pytest.param(HOSTS, "--include worker-1 ", id="all of a host"),
        pytest.param(HOSTS, "--num_nodes $N ", id="nodes of the environment"),
        pytest.param("a slots=1\n" * 20_000, "", id="too many"),
    ],
)
def test_a_hostfile_that_says_nothing_certain(hosts: str, options: str) -> None:
    assert isinstance(world(start_of(f"deepspeed --hostfile hosts {options}train.py", {"hosts": hosts})), str)


@pytest.mark.parametrize(
    ("options", "nodes", "each"), [("", 2, 8), ("--num_nodes 1 ", 1, 8), ("--num_gpus 4 ", 2, 4), ("--num_nodes=-1 --num_gpus=2 ", 2, 2)]
)
def test_the_slots_of_a_hostfile_are_processes(options: str, nodes: int, each: int) -> None:
    found = sizes(start_of(f"deepspeed {options}--hostfile=hosts train.py", {"hosts": HOSTS}))
    assert found == {Name.WORLD_SIZE: nodes * each, Name.NUM_NODES: nodes, Name.GPUS_PER_NODE: each}
