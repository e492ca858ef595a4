"""The advice that is off unless selected: batches that are not a power of two, and intervals left behind by a batch that changed."""

from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example
from tools.examples import check_example

SFT = """\
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: {micro}
gradient_accumulation_steps: {steps}
"""
POWER = ("--world-size", "8", "--select", "GBS601")
INTERVAL = ("--world-size", "8", "--select", "GBS602")


def _messages(folder: Path, text: str, flags: tuple[str, ...], before: str = "") -> list[str]:
    base = (("sft.yaml", before),) if before else ()
    return [finding.message for finding in check_example(Example((("sft.yaml", text),), flags, base), folder).findings()]


def _sft(micro: int = 4, steps: int = 2, rest: str = "") -> str:
    return SFT.format(micro=micro, steps=steps) + rest


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        pytest.param(_sft(4, 2), POWER, id="4 x 2 x 8 = 64"),
        pytest.param(_sft(1, 1), ("--world-size", "1", "--select", "GBS601"), id="a batch of 1"),
        pytest.param(_sft(4, 3), ("--select", "GBS601"), id="the batch is unknown"),
        pytest.param(f"# gbs: 96 on 8 gpus\n{_sft(4, 3)}", POWER, id="a comment claims this very number"),
        pytest.param(_sft(4, 3), ("--world-size", "8"), id="not selected"),
    ],
)
def test_a_batch_is_left_alone(text: str, flags: tuple[str, ...], tmp_path: Path) -> None:
    assert _messages(tmp_path, text, flags) == []


def test_a_batch_that_is_not_a_power_of_two_is_named_with_its_neighbours(tmp_path: Path) -> None:
    # 4 x 3 x 8 = 96, between 64 and 128.
    (message,) = _messages(tmp_path, _sft(4, 3), POWER)
    assert all(number in message for number in ("96", "64", "128"))


@pytest.mark.parametrize(
    ("text", "before"),
    [
        pytest.param(_sft(4, 2, "save_steps: 100\n"), "", id="nothing to compare with"),
        pytest.param(_sft(4, 2, "save_steps: 100\n"), _sft(2, 4, "save_steps: 100\n"), id="the batch is the same"),
        pytest.param(_sft(4, 2), _sft(4, 4), id="no interval in the file"),
        pytest.param(_sft(4, 2, "save_steps: 0.05\n"), _sft(4, 4, "save_steps: 0.05\n"), id="a share of the run"),
    ],
)
def test_an_interval_is_left_alone(text: str, before: str, tmp_path: Path) -> None:
    assert _messages(tmp_path, text, INTERVAL, before) == []


def test_an_interval_in_steps_is_left_behind_by_half_the_batch(tmp_path: Path) -> None:
    # 100 steps of 4 x 4 x 8 = 128 were 12,800 samples; of 4 x 2 x 8 = 64 they are 6,400.
    (message,) = _messages(tmp_path, _sft(4, 2, "save_steps: 100\n"), INTERVAL, _sft(4, 4, "save_steps: 100\n"))
    assert message == "save_steps 100 is now 6,400 samples (batch 64); with batch 128 it was 12,800"
