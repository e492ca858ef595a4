"""Sizes in the names of files and runs."""

import pytest

from pytest_gbs.claims.grammars.names import read_name
from pytest_gbs.model.location import Location

WORLD, NODES, PER_NODE, BATCH = "world_size", "num_nodes", "gpus_per_node", "global_batch_size"


@pytest.mark.parametrize(
    "name",
    [
        "mixtral-8x7b-sft",
        "mixtral_8x22b",
        "marblenet_3x2x64",
        "conv_1x1",
        "a100_80gb",
        "llama-4bit",
        "seq4k",
        "512_v2",
        "2_layer",
        "gemma-3-gpu-offload",
        "smollm2-1.7b",
        "v2-gpu",
        "tp4pp4",
        "eval_bs64",
        "micro_bs4",
        "per_device_batch_size_4",
        "batch3",
        "p5x16",
        "elie-48n-1704",
        "trn1x4",
        "abs128",
        "2n8go",
        "gbs301_launch",
        "ds_config_2xB200",
        "vss-lora-8xb300",
        "run_gpu4",
        "gpu8gb",
        "gpu_16",
    ],
)
def test_says_nothing(name: str) -> None:
    assert read_name(name, Location("f")) == ()


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("sft-2n8g", {NODES: 2, PER_NODE: 8}),
        ("grpo-qwen3-8b-2n8g-fsdp2", {NODES: 2, PER_NODE: 8}),
        ("SFT-2N8G", {NODES: 2, PER_NODE: 8}),
        ("fsdp_2x8gpu", {NODES: 2, PER_NODE: 8}),
        ("bench-4x8gb200", {NODES: 4, PER_NODE: 8}),
        ("internvl_64gpu_full", {WORLD: 64}),
        ("alst_ulysses_4gpu", {WORLD: 4}),
        ("lora_8gpus", {WORLD: 8}),
        ("grpo_3b_gpu8", {WORLD: 8}),
        ("m3_vl_lora_pp4ep8_8node", {NODES: 8}),
        ("medpix_2node_100steps", {NODES: 2}),
        ("llama-bs128", {BATCH: 128}),
        ("1209_bsz128_13b", {BATCH: 128}),
        ("gbs256_tpu", {BATCH: 256}),
        ("run-batch-64", {BATCH: 64}),
        ("rank_16_bs_128_lr_1e-5", {BATCH: 128}),
        ("sft_batch_size_32", {BATCH: 32}),
        ("data/llama-bs128/out", {BATCH: 128}),
        ("b32x8", {BATCH: 256}),
        ("resnet50_8xb32_in1k", {BATCH: 256}),
        ("vit_8xb2000", {BATCH: 16000}),
        ("bench-2x8xb200", {NODES: 2, PER_NODE: 8}),
    ],
)
def test_reads_whole_words(name: str, sizes: dict[str, int]) -> None:
    found = read_name(name, Location("f"))
    assert {d.name: d.value for d in found} == sizes
    assert all(d.weak for d in found)


def test_a_batch_per_gpu_keeps_its_factors() -> None:
    (found,) = read_name("b32x8", Location("f"))
    assert found.conditions == (("micro_batch_size", 32), ("world_size", 8))


@pytest.mark.parametrize(("stop", "first"), [(108, 104), (110, 105)], ids=["as it is", "in quotes"])
def test_places_count_from_where_the_name_starts(stop: int, first: int) -> None:
    nodes, per_node = read_name("sft-2n8g", Location("runs.yaml", 100, stop, ("run_name",)))
    assert nodes.at == Location("runs.yaml", first, first + 1, ("run_name",))
    assert per_node.at == Location("runs.yaml", first + 2, first + 3, ("run_name",))


@pytest.mark.parametrize("stop", [100, 107, 109, 130])
def test_a_name_that_is_put_together_is_all_of_its_place(stop: int) -> None:
    at = Location("run.sh", 100, stop)
    (batch,) = read_name("run-8xb4", at)
    assert (batch.at, batch.condition_places) == (at, (at, at))


def test_an_endless_name_is_read_quickly() -> None:
    assert read_name("bs" + "1" * 100_000, Location("f")) == ()
