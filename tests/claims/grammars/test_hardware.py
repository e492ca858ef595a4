"""Nodes and GPUs in prose."""

import pytest

from pytest_gbs.claims.grammars import _hardware, _sizes
from pytest_gbs.claims.grammars._tokens import tokenise
from tests.claims.grammars.support import declared, hardware

WORLD, NODES, PER_NODE = "world_size", "num_nodes", "gpus_per_node"


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("Config for 8 nodes with GBS 128", {NODES: 8}),
        ("Config for 2 node, with GBS 32", {NODES: 2}),
        ("Config for 1 node of 8 x H100s (80GB)", {NODES: 1, PER_NODE: 8}),
        ("Config for 16 nodes of 8 H100s with FSDP1", {NODES: 16, PER_NODE: 8}),
        ("note, this is set up for 8 GPUs", {WORLD: 8}),
        ("With 8 GPUs, the global batch size is 128", {WORLD: 8}),
        ("2 GPUs, 1 actor + 1 ref", {}),
        ("2 GPUs, 1 here + 1 there", {WORLD: 2}),
        ("the total batch size for all used GPUs = 64 for SFT and 32 for DPO", {}),
        ("effective batch across the GPUs: 64", {}),
        ("batch size = per_device_train_batch_size * gradient_accumulation_steps * num_gpus = 128", {}),
        ("make sure that micro x accumulation x number of GPUs = 64", {}),
        ("micro * accumulation * world_size = 64", {}),
        ("4 * num_gpus = 64", {}),
        ("2 device batch size x 4 accumulation", {}),
        ("4 节点 × 8 GPU", {NODES: 4, PER_NODE: 8}),
        ("2 ノード × 8 GPU", {NODES: 2, PER_NODE: 8}),
        ("需要 2 节点以上", {}),
        ("8 MI250X GPUs", {}),
        ("8x MI250X node", {}),
        ("4 nodes of 4 MI250X", {NODES: 4}),
        ("4 MI250X GPUs = 8 GPUs", {WORLD: 8}),
        ("number of used GPUs, GPUs = 64", {WORLD: 64}),
        ("num_gpus = 8, 16, 32", {}),
        ("num_gpus = 8 nodes", {NODES: 8}),
        ("Setup for training with 8 A100-80GB GPUS.", {WORLD: 8}),
        ("designed for 32 GPUs", {WORLD: 32}),
        ("This config needs 8 GPUs to run", {WORLD: 8}),
        ("assuming 8 gpus", {WORLD: 8}),
        ("To launch on 4 devices, run the following command from root:", {WORLD: 4}),
        ("To run on four GPUs (2 steps):", {WORLD: 4}),
        ("8xH100", {WORLD: 8}),
        ("8 x A100 80GB", {WORLD: 8}),
        ("96x 40GB A100 GPUs", {WORLD: 96}),
        ("Optimized for 2x 3090.", {WORLD: 2}),
        ("Optimized for 2x 3090 24GB GPUs.", {WORLD: 2}),
        ("4x8 GB200", {NODES: 4, PER_NODE: 8}),
        ("benchmark on 8x4 GB200 GPUs", {NODES: 8, PER_NODE: 4}),
        ("requires 2x8xH100 nodes", {NODES: 2, PER_NODE: 8}),
        ("runs on 2*8 GPUs", {NODES: 2, PER_NODE: 8}),
        ("2 8xH100 nodes", {NODES: 2, PER_NODE: 8}),
        ("set up for 4 A6000s", {WORLD: 4}),
        ("2 nodes x 8 Gaudi2", {NODES: 2, PER_NODE: 8}),
        ("Config for 16 Ascend NPUs", {WORLD: 16}),
        ("2 nodes w/ 8 H100 machines", {NODES: 2, PER_NODE: 8}),
        ("8 nodes x 8 GPUs", {NODES: 8, PER_NODE: 8}),
        ("the batch can be changed with the number\nof GPUs in this script, say 16 GPUs", {}),
        (
            "the batch can be changed with the number of GPUs\nthis script is for 16 GPUs (2 nodes x 8 GPUs)",
            {WORLD: 16, NODES: 2, PER_NODE: 8},
        ),
        ("Per-node: 4 GPUs - 1 learner = 3 free", {PER_NODE: 4}),
        ("per node: 8 GPUs", {PER_NODE: 8}),
        ("Batch size is 64. It runs on 8 GPUs, unlike before.", {WORLD: 8}),
        ("Layout (each node): 4 GPUs, 2 CPUs", {PER_NODE: 4}),
        ("on every node: 1 task, 3 GPUs", {PER_NODE: 3}),
        ("samples per node: 4, 16 GPUs", {WORLD: 16}),
        ("per node: 4 images; in all: 8 GPUs", {WORLD: 8}),
        ("8 GPUs x 4 nodes", {PER_NODE: 8, NODES: 4}),
        ("8GPUs*3nodes", {PER_NODE: 8, NODES: 3}),
        ("8 GPUs x 4 layers", {WORLD: 8}),
        ("8 GPUs x 4", {WORLD: 8}),
        ("8 nodes × 8 GPUs/node = 64 GPUs", {NODES: 8, PER_NODE: 8, WORLD: 64}),
        ("8 nodes x 8 H100-80GB = 64 GPUs, PP=1 EP=64 DP=64.", {NODES: 8, PER_NODE: 8, WORLD: 64}),
        ("Cluster shape (128 nodes × 4 GPUs on GB200 NVL72 = 512 GPUs):", {NODES: 128, PER_NODE: 4, WORLD: 512}),
        ("Recipe validated using 64 H100 GPUs (8 nodes x 8)", {WORLD: 64, NODES: 8, PER_NODE: 8}),
        ("Recipe validated on 4 × H100 nodes (32x 80 GB GPUs)", {NODES: 4, WORLD: 32}),
        ("across 32 x H100 nodes (256 GPUs, PP=4, EP=64)", {NODES: 32, WORLD: 256}),
        ("8-node / 64 GPUs = PP4 x DP16", {NODES: 8, WORLD: 64}),
        ("(128 GPUs / 16 nodes)", {NODES: 16, WORLD: 128}),
        ("32 GPUs across 4 nodes", {NODES: 4, WORLD: 32}),
        ("2 nodes with 8 gpus each", {NODES: 2, PER_NODE: 8}),
        ("4 nodes, each node has 8 gpus", {NODES: 4, PER_NODE: 8}),
        ("2 nodes with 16 GPUs", {NODES: 2, WORLD: 16}),
        ("2 nodes with 16 GPUs each", {NODES: 2, PER_NODE: 16}),
        ("8 nodes with 64 GPUs", {NODES: 8, WORLD: 64}),
        ("8 nodes, 8 GPUs", {NODES: 8, WORLD: 8}),
        ("single-node 8xA100-80GB machine", {NODES: 1, PER_NODE: 8}),
        ("one node with 8 H100-80GB GPUs, TP=8", {NODES: 1, PER_NODE: 8}),
        ("Run on one 8-GPU node", {NODES: 1, PER_NODE: 8}),
        ("In this setting, I'm using 2 GPUs on a 4-GPU node for training", {WORLD: 2}),
        ("4 GPUs of one 8-GPU node", {WORLD: 4}),
        ("8 GPUs per node", {PER_NODE: 8}),
        ("the machine has 8 GPUs", {WORLD: 8}),
        ("the cluster has 16 GPUs", {WORLD: 16}),
        ("8 GPUs on each node", {PER_NODE: 8}),
        ("8 GPUs in every node", {PER_NODE: 8}),
        ("8 GPUs a node", {PER_NODE: 8}),
        ("72 cores x 4 GPUs per GH200 node", {PER_NODE: 4}),
        ("TP=2 x EP=2 = 4 GPUs fills one node.", {PER_NODE: 4}),
        ("Each node has 4 GPUs.", {PER_NODE: 4}),
        ("(8 H100/node)", {PER_NODE: 8}),
        ("GBS 128 (4 x 8 H100s)", {NODES: 4, PER_NODE: 8}),
        ("GBS 96: nodes: 2 x GA 3 x mbs 2 x 8 GPUs per node", {NODES: 2, PER_NODE: 8}),
        ("micro batch 2, num_nodes=3, 8xH100", {NODES: 3, WORLD: 8}),
        ("grad_acc 4 x 4 nodes", {NODES: 4}),
        ("2 (per device) x 3 hosts", {NODES: 3}),
        ("number of gpus: 256", {WORLD: 256}),
        ("Nodes: 4", {NODES: 4}),
        ("world size 4", {WORLD: 4}),
        ("dp_size=8 (world=8)", {WORLD: 8}),
        ("single 8xH200 node for a Mixture-of-Experts model", {NODES: 1, PER_NODE: 8}),
        ("Requires 8 GPUs (FSDP2 + EP=8, 16 experts per GPU)", {WORLD: 8}),
        ("num_nodes/ci.nodes: 32 -> 16  (16 nodes x 4 GB200 = 64 GPUs)", {NODES: 16, PER_NODE: 4, WORLD: 64}),
    ],
)
def test_reads_the_hardware(text: str, stated: dict[str, int]) -> None:
    assert hardware(text) == stated


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [
        ("set up for 8 GPUs", True),
        ("8xH100", True),
        ("2 nodes (16 GPUs)", True),
        ("8 GPUs in total", False),
        ("16 GPUs across 2 nodes", False),
        ("64 GPUs", False),
        ("2 nodes x 8 GPUs = 16 GPUs", False),
        ("world size 8", False),
    ],
)
def test_a_total_that_may_be_meant_per_node_is_ambiguous(text: str, ambiguous: bool) -> None:
    (found,) = [d for d in declared(text) if d.name == WORLD]
    assert found.ambiguous is ambiguous


@pytest.mark.parametrize(
    "text",
    [
        *("uses all 8 node GPUs", "GBS 128 on 8 GPUs", "local_bs=8 x 8 GPUs", "batch-size 4 x 8 GPUs"),
        *(
            "4 x 8 H100s = 32 global batch size",
            "global batch of 32 (4 x 8 H100s)",
            "GBS (4 x 8 A100 GPUs): 32",
            "GBS is 4 x 8 H100s * 2 = 64",
        ),
    ],
)
def test_a_factor_in_front_is_not_a_node_count(text: str) -> None:
    assert NODES not in hardware(text)


@pytest.mark.parametrize("text", ["GBS = 8 GPUs * mbs 4 * 2 nodes = 64", "global batch size: 4 x 8 GPUs x 2 machines = 64"])
def test_what_arithmetic_gives_behind_its_nodes_is_not_a_node_count(text: str) -> None:
    assert hardware(text).get(NODES, 2) == 2


def test_a_node_count_has_the_place_of_its_number() -> None:
    (found,) = declared("Config for 8 nodes")
    # Four characters of comment sign and indentation, then "Config for ".
    assert (found.at.source, found.at.start, found.at.stop) == ("sft.yaml", 15, 16)


def test_a_place_on_a_later_line_counts_that_lines_indentation() -> None:
    (found,) = declared("Model\nruns on 64 GPUs")
    # "    Model\n" is 10 long, the indentation 4, "runs on " 8.
    assert (found.at.start, found.at.stop) == (22, 24)


@pytest.mark.parametrize(
    ("text", "ambiguous"),
    [("world size 8", False), ("number of gpus: 64", False), ("number of gpus: 8", True)],
)
def test_few_gpus_may_be_those_of_each_node(text: str, ambiguous: bool) -> None:
    (found,) = declared(text)
    assert (found.name, found.ambiguous) == (WORLD, ambiguous)


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("effective batch 16 (matches old 1 x 16 on 2 GPUs)", "other"),
        ("same global batch as the 8-GPU run", "other"),
        ("=2 for 32 gpus", "advises"),
        ("the same recipe for 8 GPUs", "states"),
        ("for 32 gpus", "states"),
    ],
)
def test_hardware_of_another_run_is_not_that_of_this_one(text: str, force: str) -> None:
    assert [each.force for each in declared(text, ("gradient_accumulation_steps",)) if each.name == "world_size"] == [force]


def test_what_a_statement_names_is_read_once() -> None:
    """Each claim of a row of a hundred batches asks for it."""
    tokens = tokenise("batch size: 8 on 8 GPUs | " * 100, 0, 2_500)
    assert _hardware.hardware(tokens) is _hardware.hardware(tokens)
    assert _sizes.settings(tokens) is _sizes.settings(tokens)
