from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.arithmetic.near_miss import distance, nearest

ROWS = ("per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps", "num_generations", "max_steps")


@pytest.mark.parametrize(
    "word",
    [
        pytest.param("per_gpu_train_batch_size", id="another key of older versions"),
        pytest.param("train_batch_size", id="half of a key"),
        pytest.param("gradient_checkpointing", id="a key that starts alike"),
        pytest.param("max_grad", id="a short word with two other letters"),
        pytest.param("may_stops", id="two slips in a short word"),
        pytest.param("num_generations", id="the key itself"),
        pytest.param("per_device_xxxxx_batch_size", id="between two keys"),
        pytest.param("", id="nothing"),
        pytest.param("x" * 100_000, id="a very long word"),
    ],
)
def test_other_words_are_no_near_miss(word: str) -> None:
    assert nearest(word, ROWS) is None


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        pytest.param("gradient_accumulation_step", "gradient_accumulation_steps", id="singular"),
        pytest.param("gradient_acummulation_steps", "gradient_accumulation_steps", id="one letter less, one more"),
        pytest.param("per_device_trian_batch_size", "per_device_train_batch_size", id="two letters swapped"),
        pytest.param("per-device-train-batch-size", "per_device_train_batch_size", id="hyphens"),
        pytest.param("Gradient_Accumulation_Steps", "gradient_accumulation_steps", id="capitals"),
        pytest.param("max_step", "max_steps", id="one slip in a short word"),
        pytest.param("numgenerations", "num_generations", id="underscore left out"),
    ],
)
def test_slips_of_the_finger_are_near_misses(word: str, meant: str) -> None:
    assert nearest(word, ROWS) == meant


def test_a_tie_is_no_answer() -> None:
    assert nearest("save_stepx", ("save_stepa", "save_stepb")) is None


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        pytest.param("", "", 0, id="nothing"),
        pytest.param("steps", "steps", 0, id="same"),
        pytest.param("steps", "step", 1, id="left out"),
        pytest.param("steps", "stepss", 1, id="added"),
        pytest.param("steps", "stops", 1, id="changed"),
        pytest.param("steps", "setps", 1, id="swapped"),
        pytest.param("ca", "abc", 3, id="a swap is not edited again"),
        pytest.param("abcd", "badc", 2, id="two swaps"),
    ],
)
def test_distance_counts_slips(one: str, other: str, apart: int) -> None:
    assert distance(one, other, 3) == apart
    assert distance(other, one, 3) == apart


def _plain_distance(one: str, other: str) -> int:
    """Return the optimal string alignment distance from its textbook recursion, without any bound."""
    table = [[i + j if i * j == 0 else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            changed = one[i - 1] != other[j - 1]
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + changed)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@given(st.text("abc", max_size=8), st.text("abc", max_size=8), st.integers(0, 4))
def test_the_bound_changes_nothing_below_it(one: str, other: str, most: int) -> None:
    assert distance(one, other, most) == min(_plain_distance(one, other), most + 1)
