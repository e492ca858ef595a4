"""Each number is read once, in the order of the file, with what it says about itself."""

import pytest

from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import BATCHES, SOURCE, batch, block, declared


def test_nothing_is_read_in_nothing() -> None:
    assert read_declarations((), SOURCE) == ()
    assert read_declarations((block("Model arguments"), block("")), SOURCE) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Effective batch-size is 128=16x(1)x8",
        "GBS=64 (local_bs=8 x 8 GPUs) is the validated sweet spot",
        "8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32.",
        "Global batch size = 128: per_device(2) x grad_accum(16) x gpus(4) = 128",
        "Global batch size of 1,048,576 tokens per step",
    ],
)
def test_a_number_read_by_several_grammars_is_one_claim(text: str) -> None:
    assert len([d for d in declared(text) if d.name in BATCHES]) == 1


def test_of_two_readings_the_one_with_arithmetic_counts() -> None:
    stated = batch("GBS=64 (local_bs=8 x 8 GPUs) is the validated sweet spot").sum  # NVIDIA-NeMo/Automodel, qwen3_omni_asr/ami_sft.yaml
    assert stated is not None
    assert [(factor.name, factor.value) for factor in stated.factors] == [("micro_batch_size", 8), ("world_size", 8)]


def test_claims_for_other_hardware_stay_apart() -> None:
    found = [d for d in declared("for 8 nodes use GBS 128; for 16 nodes GBS 256") if d.name in BATCHES]
    assert [(d.value, dict(d.conditions)) for d in found] == [(128, {"num_nodes": 8}), (256, {"num_nodes": 16})]


def test_batches_on_two_sets_of_hardware_are_both_stated() -> None:
    found = [each for each in declared("global batch = 128 on 8 GPUs, global batch = 64 on 4 GPUs") if each.name == "global_batch_size"]
    assert [(each.value, each.force) for each in found] == [(128, Force.STATES), (64, Force.STATES)]


def test_declarations_are_in_the_order_of_the_file() -> None:
    blocks = (block("GBS 64 on 8 GPUs", start=1000), block("Config for 8 nodes with GBS 128", start=0))
    found = read_declarations(blocks, SOURCE)
    assert [d.at.start for d in found] == sorted(d.at.start for d in found)


def test_the_place_is_the_number_and_the_key_it_belongs_to() -> None:
    found = next(d for d in declared("effective batch size 128 with 4 nodes", ("accum",)) if d.name in BATCHES)
    start = 4 + len("effective batch size ")
    assert (found.at.start, found.at.stop, found.at.path) == (start, start + 3, ("accum",))


def test_the_text_is_one_line_of_at_most_eighty_characters() -> None:
    long = "The values of this config have been chosen on a development cluster with many other settings, " * 3
    found = batch(f"{long}\nand for a global batch size\nof 512 {long}")
    assert len(found.text) <= 80
    assert "\n" not in found.text
    assert "512" in found.text
