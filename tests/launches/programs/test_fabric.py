"""Lightning Fabric's command: nodes times devices, one of each unless it asks for more."""

import pytest

from tests.launches.programs.starting import start_of, starts, world


@pytest.mark.parametrize(
    "text", ["fabric run --devices 8", "fabric consolidate --devices 8 x.py", "lightning run app app.py", 'echo "fabric run train.py"']
)
def test_what_runs_no_program_starts_nothing(text: str) -> None:
    assert [start for _, start in starts(text) if start.name == "fabric run" and start.program[0].text == "train.py"] == []
    assert world(start_of("fabric run model --devices $N train.py")) == "interpolated"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ("--devices auto", "auto"),
        ("--devices=$N", "interpolated"),
        ("--num_nodes $N --devices 8", "interpolated"),
        ("$(options)", "interpolated"),
    ],
)
def test_a_world_that_is_not_said_is_unknown(options: str, reason: str) -> None:
    assert world(start_of(f"fabric run {options} train.py")) == reason


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", 1),
        ("--devices 4", 4),
        ("--devices=0,1,5", 3),
        ("--node-rank=0 --main-address=10.0.0.1 --accelerator=cuda --devices=8 --num-nodes=2", 16),
        ("--num_nodes 2 --devices 2 --strategy ddp --precision bf16-mixed", 4),
    ],
)
@pytest.mark.parametrize("command", ["fabric run", "lightning run model", "fabric run model"])
def test_processes_are_those_of_all_nodes(command: str, options: str, expected: int) -> None:
    start = start_of(f"{command} {options} pretrain/train.py --devices 3")
    assert world(start) == expected
    assert start.program[0].text == "pretrain/train.py"
