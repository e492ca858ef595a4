"""Our own annotation is exact, replaces prose, and can switch a claim off."""

import pytest

from pytest_gbs.claims.grammars import read_declarations
from tests.claims.grammars.support import BATCHES, SOURCE, batch, block, declared


@pytest.mark.parametrize(
    ("text", "name", "value", "unit", "conditions"),
    [
        ("gbs: 128", "global_batch_size", 128, "", {}),
        ("gbs: 128 on 8 nodes x 8 gpus", "global_batch_size", 128, "", {"num_nodes": 8, "gpus_per_node": 8}),
        ("gbs: 128 on 8 nodes × 8 GPUs", "global_batch_size", 128, "", {"num_nodes": 8, "gpus_per_node": 8}),
        ("gbs: 128 on 64 gpus", "global_batch_size", 128, "", {"world_size": 64}),
        ("gbs: 128 on 8 gpus", "global_batch_size", 128, "", {"world_size": 8}),
        ("gbs: 128 on 8 nodes", "global_batch_size", 128, "", {"num_nodes": 8}),
        ("gbs: 64 prompts on 1 gpu", "global_batch_size", 64, "prompts", {"world_size": 1}),
        ("gbs: 4M tokens on 8 nodes", "tokens_per_step", 4_194_304, "tokens", {"num_nodes": 8}),
        ("gbs: 128 on 8 nodes (see README)", "global_batch_size", 128, "", {"num_nodes": 8}),
        ("smollm3, stage 2 # gbs: 128", "global_batch_size", 128, "", {}),
        ("Model\ngbs: 128\nData", "global_batch_size", 128, "", {}),
    ],
)
def test_annotations_are_exact(text: str, name: str, value: int, unit: str, conditions: dict[str, int]) -> None:
    found = batch(text)
    assert (found.name, found.value, found.unit, dict(found.conditions)) == (name, value, unit, conditions)
    assert found.exact
    assert not found.ambiguous
    assert found.force == "states"


@pytest.mark.parametrize("text", ["gbs: 128 as in the paper", "GBS: 128", "gbs is 128", "gbs: auto", "gbs: 128 on 8 nodes or 16 nodes"])
def test_other_words_make_it_prose(text: str) -> None:
    assert not any(d.exact for d in declared(text))


def test_an_annotation_replaces_the_prose_of_its_file() -> None:
    blocks = (
        block("Config for 8 nodes with GBS 256"),
        block("effective batch size 512", ("accum",), start=100),
        block("gbs: 128", ("accum",), start=200),
    )
    found = read_declarations(blocks, SOURCE)
    assert [(d.name, d.value) for d in found if d.name in BATCHES] == [("global_batch_size", 128)]
    assert [(d.name, d.value) for d in found if d.name not in BATCHES] == [("num_nodes", 8)]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("effective batch size 128 with 1 node  # gbs: not-a-claim", []),
        ("gbs: not-a-claim\nConfig for 8 nodes with GBS 128", []),
        ("effective batch size 128  # gbs: not-a-claim\n\nGBS 64", [64]),
        ("GBS 64\n\neffective batch size 128 with 1 node  # gbs: not-a-claim", [64]),
    ],
)
def test_not_a_claim_switches_off_its_line_or_its_block(text: str, left: list[int]) -> None:
    assert [d.value for d in declared(text)] == left


def test_not_a_claim_above_a_key_switches_off_what_follows_it() -> None:
    key = ("gradient_accumulation_steps",)
    above = block("gbs: not-a-claim", key, "above")
    trailing = block("effective batch size 128 with 1 node", key, "trailing", start=100)
    elsewhere = block("GBS 64", ("learning_rate",), "trailing", start=200)
    assert [d.value for d in read_declarations((above, trailing, elsewhere), SOURCE)] == [64]


def test_a_suppression_states_nothing() -> None:
    assert declared("effective batch size 128 # gbs: ignore[GBS101] GBS 64 is meant")[0].value == 128
    assert len(declared("effective batch size 128 # gbs: ignore[GBS101] GBS 64 is meant")) == 1
