"""Batches that are worked out over neighbouring lines."""

from __future__ import annotations

import pytest

from tests.claims.grammars.support import batch, batches

FOUR_LINES = "number of gpus: {gpus}\nbatch size per gpu: 4\ngradient accumulation steps: 1\ntotal batch size: {total}"


def test_four_lines_are_one_claim() -> None:
    found = batch(FOUR_LINES.format(gpus=256, total=1024))
    assert found.value == 1024
    assert dict(found.conditions) == {"world_size": 256, "micro_batch_size": 4, "gradient_accumulation_steps": 1}
    assert found.sum is not None
    assert (found.sum.result, found.sum.value) == (1024, 1024)


def test_four_lines_may_be_false() -> None:
    stated = batch(FOUR_LINES.format(gpus=128, total=1024)).sum
    assert stated is not None
    assert (stated.result, stated.value) == (1024, 512)


def test_each_factor_has_the_place_of_its_line() -> None:
    found = batch(FOUR_LINES.format(gpus=256, total=1024))
    assert found.sum is not None
    places = [factor.at.start for factor in found.sum.factors]
    # Lines start at 0, 24, 50 and 85 of the file, the text four characters later.
    assert places == [24 + 4 + len("batch size per gpu: "), 50 + 4 + len("gradient accumulation steps: "), 4 + len("number of gpus: ")]


def test_a_data_parallel_size_on_the_line_above_is_a_condition() -> None:
    found = batch("DP = 48 / (4*1*2) = 6\nGBS = 4 * 6 = 24")
    assert (found.value, dict(found.conditions)) == (24, {"data_parallel_size": 6})
    assert found.sum is not None
    assert [factor.value for factor in found.sum.factors] == [4, 6]


def test_without_the_accumulation_there_is_no_arithmetic() -> None:
    found = batch("number of gpus: 256\nbatch size per gpu: 4\ntotal batch size: 2048")
    assert found.sum is None
    assert dict(found.conditions) == {"world_size": 256, "micro_batch_size": 4}


def test_nodes_and_gpus_per_node_are_listed_too() -> None:
    found = batch("Nodes: 8\nGPUs per node: 8\nGlobal batch size: 512")
    assert dict(found.conditions) == {"num_nodes": 8, "gpus_per_node": 8}


@pytest.mark.parametrize(
    "text",
    [
        "number of gpus: 256\nbatch size per gpu: 4",
        "number of gpus: 256\n\ntotal batch size per gpu: 4",
    ],
)
def test_a_list_without_a_total_states_no_batch(text: str) -> None:
    assert batches(text) == []
