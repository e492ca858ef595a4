"""A batch behind a list of its factors."""

import pytest

from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import batch, batches

MICRO, WORLD = "micro_batch_size", "world_size"


@pytest.mark.parametrize(
    "text",
    [
        "micro batch size 4, 8 GPUs -> 2 accumulation steps",
        "micro batch size 4, 8 GPUs -> 16 GPUs",
        "8 GPUs, micro batch size: 8 -> 16",
        "micro batch size=2, dp=8, grad accum=4 -> 8",
        "micro batch size 4 on 8 GPUs -> 32 per step",
        "8 GPUs, learning rate 4 -> 64",
        "micro batch size 4 -> 64",
        "micro batch size 4, 8 GPUs, 2 x 3 -> 64",
        "micro batch size 4, 8 GPUs -> 64-128",
    ],
)
def test_states_no_batch(text: str) -> None:
    assert batches(text) == []


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("per device batch 4, 8 GPUs, grad accum of 2 => 64", {MICRO: 4, WORLD: 8}),
        ("micro batch size=8, 8 GPUs → effective batch 64", {MICRO: 8, WORLD: 8}),
        ("lbs=8 on 8 GPUs -> global 64", {MICRO: 8, WORLD: 8}),
        ("micro batch size=2, dp=8, grad accum=4 -> 64", {MICRO: 2, "data_parallel_size": 8}),
    ],
)
def test_states_the_batch_on_what_is_listed(text: str, conditions: dict[str, int]) -> None:
    found = batch(text)
    assert (found.value, dict(found.conditions)) == (64, conditions)


def test_without_the_accumulation_it_may_be_the_batch_of_one_pass() -> None:
    found = batch("micro batch size=8, 8 GPUs -> 64")
    assert (found.value, found.force) == (64, Force.CONFIRMS)
