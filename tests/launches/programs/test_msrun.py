"""MindSpore's msrun: as many processes as workers in all, 8 unless it asks for more."""

import pytest

from tests.launches.programs.starting import start_of, starts, world


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", 8),
        ("--bind_core=True --worker_num 4", 4),
        ("--worker_num=16 --local_worker_num=8 --master_addr=10.0.0.1 --node_rank=1 --join=True", 16),
        ("--local_worker_num=8 --worker_num=$N", "interpolated"),
        ("$(options)", "interpolated"),
    ],
)
def test_processes_are_the_workers_of_all_machines(options: str, expected: int | str) -> None:
    for program in ("train.py", "python train.py"):
        start = start_of(f"msrun {options} {program} --config a.yaml --worker_num 2")
        assert world(start) == expected
        assert any(word.text == "train.py" for word in start.program)


@pytest.mark.parametrize("text", ["msrun --worker_num 8", "msrun --help", 'echo "msrun --worker_num 8 train.py"'])
def test_what_runs_no_program_starts_nothing(text: str) -> None:
    assert [start for _, start in starts(text) if start.name == "msrun"] == []
