"""Rows divided by the batch."""

import pytest

from tests.claims.grammars.support import batch, batches


@pytest.mark.parametrize(
    "text",
    [
        "38,631 rows / 16 = 2,415.5 steps",
        "38,631 rows / 16 = 1,200 steps",
        "3 epochs * 38,631 rows / 16 = 2,414 steps",
        "38,631 rows / 16 GPUs = 2,414 steps",
        "~38k rows / 16 = 2,375 steps",
        "38,631 rows / 16 = 2,414 files",
        "38,631 files / 16 = 2,414 steps",
        "100 rows / 1 = 100 steps",
        "200k samples * 1 epoch / 8 ranks / grad_accum=4 ~= 6.25k optim steps",
    ],
)
def test_it_states_no_batch(text: str) -> None:
    assert batches(text) == []


def test_rows_to_save_for_evaluation_are_another_matter() -> None:
    assert batches("1,600 rows / 16 = 100 steps", ("eval_steps",)) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("38,631 rows / 16 = 2,414 steps", 16),
        ("38,631 rows / 16 = 2,415 steps", 16),
        ("1024 samples / 8 = 128 steps per epoch", 8),
        ("one epoch: 512 examples / 64 = 8 updates", 64),
    ],
)
def test_it_states_the_batch(text: str, value: int) -> None:
    assert batch(text).value == value
