"""Sizes that change while training runs: their stages, what follows from them, and what must hold in each."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.arithmetic.schedules import changing, ramp, read_stages, stages_of
from pytest_gbs.cli import main
from pytest_gbs.model.document import Mapping as MappingNode
from pytest_gbs.model.document import Node, Scalar
from pytest_gbs.model.document import Sequence as SequenceNode
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.quantity import Name, Origin, Quantity, Size

LEVANTER = """\
# global batch {claim}
data: {{id: my/data}}
model: {{type: llama}}
trainer:
  train_batch_size: {batch}
  per_device_parallelism: {micro}
  num_train_steps: 1000
"""
STAGES = "[{start: 0, value: 32}, {start: 100, value: 64}, {start: 200, value: 128}]"
NEMO = """\
name: megatron_gpt
trainer: {devices: 8, num_nodes: 1, max_steps: 10}
model: {micro_batch_size: 1, global_batch_size: 64, rampup_batch_size: [16, 16, 300]}
"""


def _whole(scalar: Scalar) -> int | None:
    return int(scalar.text) if scalar.text.isdecimal() else None


def _scalar(text: str) -> Scalar:
    return Scalar(0, len(text), text, True)


def _list(*values: str) -> Node:
    return SequenceNode(0, 1, tuple(MappingNode(0, 1, ((_scalar("value"), _scalar(value)),)) for value in values))


@pytest.mark.parametrize(
    "node",
    [
        pytest.param(None, id="nothing"),
        pytest.param(_list("8", "x"), id="a stage of no number"),
        pytest.param(SequenceNode(0, 1, (_scalar("8"),)), id="no mapping"),
        pytest.param(SequenceNode(0, 1, (MappingNode(0, 1, ((_scalar("start"), _scalar("8")),)),)), id="no value"),
        pytest.param(_list(*["8"] * 101), id="too many"),
        pytest.param(_scalar("64"), id="a number"),
        pytest.param(_scalar("0:64 later:128"), id="no threshold"),
        pytest.param(_scalar("0:6.5"), id="half a sample"),
        pytest.param(_scalar(""), id="empty"),
    ],
)
def test_what_is_not_understood_has_no_stages(node: Node | None) -> None:
    assert read_stages(node, _whole) == ()


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (_list("8", "16"), (8, 16)),
        (_scalar("0:768 250B:1536 500B:3072"), (768, 1536, 3072)),
        (_scalar("5B:640,2B:1280 0:320"), (320, 1280, 640)),  # by threshold
        (_scalar("0:1K 1.5M:2k"), (1000, 2000)),
    ],
    ids=["list", "text", "sorted", "suffixes"],
)
def test_stages_are_read_in_their_order(node: Node, expected: tuple[int, ...]) -> None:
    assert read_stages(node, _whole) == expected


@pytest.mark.parametrize("text", ["0:1 " * 50_000, "0:" * 50_000, "9" * 100_000, "1." * 50_000], ids=["pairs", "colons", "digits", "dots"])
def test_hostile_text_is_read_quickly(text: str) -> None:
    start = time.monotonic()
    read_stages(_scalar(text), _whole)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("numbers", [(64, 16, 64), (16, 5, 64), (16, 0, 64), (0, 8, 64), (1, 1, 1000)], ids=str)
def test_a_ramp_that_does_not_meet_its_end_has_no_stages(numbers: tuple[int, int, int]) -> None:
    assert ramp(*numbers) == ()


def test_a_ramp_is_its_steps() -> None:
    assert ramp(16, 16, 64) == (16, 32, 48, 64)
    assert ramp(1, 1, 4) == (1, 2, 3, 4)


EQUATIONS = (
    Equation(Name.GLOBAL_BATCH_SIZE, (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)),
    Equation(Name.TOKENS_PER_STEP, (Name.GLOBAL_BATCH_SIZE, Name.SEQUENCE_LENGTH)),
)


def _sizes() -> dict[str, Size]:
    batch = Quantity(Name.GLOBAL_BATCH_SIZE, 64, Origin.FILE, stages=(32, 64))
    micro, ranks = Quantity(Name.MICRO_BATCH_SIZE, 2, Origin.FILE), Quantity(Name.DATA_PARALLEL_SIZE, 8, Origin.GIVEN)
    steps = Quantity(Name.GRADIENT_ACCUMULATION_STEPS, 4, Origin.DERIVED, because=(batch, micro, ranks))
    return {size.name: size for size in (batch, micro, ranks, steps)}


def test_what_does_not_follow_from_a_schedule_does_not_change() -> None:
    assert stages_of(Name.MICRO_BATCH_SIZE, _sizes(), EQUATIONS) == ()
    assert changing({Name.MICRO_BATCH_SIZE: Quantity(Name.MICRO_BATCH_SIZE, 2, Origin.FILE)}) is None


def test_what_follows_from_a_schedule_changes_with_it() -> None:
    assert stages_of(Name.GLOBAL_BATCH_SIZE, _sizes(), EQUATIONS) == (32, 64)
    assert stages_of(Name.GRADIENT_ACCUMULATION_STEPS, _sizes(), EQUATIONS) == (2, 4)


# From end to end.


def _shown(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *flags: str) -> dict[str, Any]:
    (folder / "run.yaml").write_text(text)
    assert main(["show", "--format", "json", *flags, str(folder / "run.yaml")]) == 0
    quantities: dict[str, Any] = json.loads(capsys.readouterr().out)["recipes"][0]["quantities"]
    return quantities


def test_one_stage_is_a_number(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = LEVANTER.format(claim=32, batch="[{start: 0, value: 32}]", micro=4)
    shown = _shown(capsys, tmp_path, text, "--world-size", "8")
    assert (shown[Name.GLOBAL_BATCH_SIZE]["status"], shown[Name.GLOBAL_BATCH_SIZE]["value"]) == ("known", 32)


def test_a_schedule_is_shown_as_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = _shown(capsys, tmp_path, LEVANTER.format(claim=128, batch=STAGES, micro=4), "--world-size", "8")
    batch, steps = shown[Name.GLOBAL_BATCH_SIZE], shown[Name.GRADIENT_ACCUMULATION_STEPS]
    assert (batch["status"], batch["stages"], "value" in batch) == ("schedule", [32, 64, 128], False)
    assert (steps["status"], steps["stages"]) == ("schedule", [1, 2, 4])
    assert shown[Name.MICRO_BATCH_SIZE]["status"] == "known"


def test_a_ramp_up_is_shown_as_a_schedule(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    shown = _shown(capsys, tmp_path, NEMO)
    assert (shown[Name.GLOBAL_BATCH_SIZE]["stages"], shown[Name.GRADIENT_ACCUMULATION_STEPS]["stages"]) == ([16, 32, 48, 64], [2, 4, 6, 8])


def _codes(capsys: pytest.CaptureFixture[str], folder: Path, text: str, world: int) -> list[str]:
    (folder / "run.yaml").write_text(text)
    main(["check", "--format", "json", "--world-size", str(world), str(folder / "run.yaml")])
    return [finding["code"] for file in json.loads(capsys.readouterr().out)["files"] for finding in file["findings"]]


def test_a_claim_is_compared_with_the_last_stage(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=128, batch=STAGES, micro=4), 8) == []
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=32, batch=STAGES, micro=4), 8) == ["GBS101"]


def test_every_stage_must_divide(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=128, batch=STAGES, micro=4), 8) == []
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=128, batch=STAGES, micro=4), 16) == ["GBS202"]  # 32 / (4 x 16)


def test_a_schedule_that_is_not_micro_batched_is_not_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=128, batch=STAGES, micro=-1), 24) == []
    assert _codes(capsys, tmp_path, LEVANTER.format(claim=128, batch=128, micro=-1), 24) == ["GBS202"]
