"""colossalai run: so many processes on each of its hosts."""

import pytest

from tests.launches.programs.starting import start_of, starts, world


@pytest.mark.parametrize(
    "text", ["colossalai check -i", "colossalai run", "colossalai run --nproc_per_node 8", "colossalai benchmark --gpus 8"]
)
def test_what_does_not_train_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("colossalai run train.py", "missing"),
        ("colossalai run --nproc_per_node $GPUS train.py", "interpolated"),
        ("colossalai run --nproc_per_node 8 --host $HOSTS train.py", "interpolated"),
        ("colossalai run --nproc_per_node 8 --hostfile ./hosts train.py", "missing"),
        ("colossalai run --nproc_per_node YOUR_GPUS train.py", "placeholder"),
    ],
)
def test_hosts_that_are_not_in_the_tree_are_unknown(text: str, reason: str) -> None:
    assert world(start_of(text)) == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("colossalai run --nproc_per_node 4 train.py --batch_size 8", 4),
        ("colossalai run --nproc_per_node=4 --master_port 29500 train.py", 4),
        ("colossalai run --host a,b --nproc_per_node 8 --ssh-port 22 train.py", 16),
        ("colossalai run -H a,b,c --nproc_per_node 8 --master_addr a train.py", 24),
        ("colossalai run --nproc_per_node 2 -m pack.train --lr 1", 2),
    ],
)
def test_processes_are_those_of_all_hosts(text: str, expected: int) -> None:
    assert world(start_of(text)) == expected
