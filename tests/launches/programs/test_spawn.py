"""gaudi_spawn.py and xla_spawn.py: so many processes of a program on one machine."""

import pytest

from tests.launches.programs.starting import start_of, starts, world


@pytest.mark.parametrize(
    "text", ["python gaudi_spawn.py", "python gaudi_spawn.py --help", "cat gaudi_spawn.py", "python xla_spawn.py --num_cores 8"]
)
def test_what_names_no_program_starts_nothing(text: str) -> None:
    assert list(starts(text)) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("python gaudi_spawn.py --hostfile hosts --use_deepspeed run_clm.py", "missing"),
        ("python gaudi_spawn.py --world_size $CARDS --use_mpi run_clm.py", "interpolated"),
        ("python xla_spawn.py --num_cores NUM_CORES run_glue.py", "placeholder"),
        ("python gaudi_spawn.py $(cat options) run_clm.py", "interpolated"),
    ],
)
def test_a_world_that_is_not_said_is_unknown(text: str, reason: str) -> None:
    assert world(start_of(text)) == reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("python ../gaudi_spawn.py --world_size 8 --use_deepspeed run_clm.py --do_train", 8),
        ("PT_HPU_LAZY_MODE=1 python3 gaudi_spawn.py --use_mpi --world_size=2 grpo.py", 2),
        ("python gaudi_spawn.py run_clm.py --world_size 4", 1),
        ("python xla_spawn.py --num_cores 8 text-classification/run_glue.py --task_name mnli", 8),
        ("python examples/xla_spawn.py run_glue.py", 1),
    ],
)
def test_processes_are_those_of_the_machine(text: str, expected: int) -> None:
    start = start_of(text)
    assert world(start) == expected
    assert (start.program[0].text or "").endswith(".py")
