"""Trainers of AWS: NeuronX Distributed Training in NeMo's tree, and optimum-neuron, whose model is cut among cores."""

from __future__ import annotations

import pytest

from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, title

NXDT = """\
trainer: {{devices: 32, num_nodes: 4}}
distributed_strategy: {{tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: 1}}
data: {{micro_batch_size: {micro}, global_batch_size: {batch}}}
"""
OPTIMUM = "per_device_train_batch_size: 1\ngradient_accumulation_steps: 16\nzero_1: true\nlearning_rate: 1.0e-4\n{more}"


def nxdt(batch: object = 1024, micro: int = 1, tensor: int = 32) -> str:
    return NXDT.format(batch=batch, micro=micro, tensor=tensor)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            "trainer: {devices: 8}\nmodel: {micro_batch_size: 1, global_batch_size: 8, tensor_model_parallel_size: 2}\n", id="NeMo"
        ),
        pytest.param("distributed_strategy: ddp\ndata: {global_batch_size: 64}\n", id="somebody's own"),
        pytest.param("data: {global_batch_size: 64, micro_batch_size: 1}\n", id="no degrees"),
        pytest.param("per_device_train_batch_size: 1\nlearning_rate: 1.0e-4\ntensor_parallel_size: 8\n", id="the Trainer"),
    ],
)
def test_others_are_left_alone(text: str) -> None:
    assert not any(name in (title(text) or "").lower() for name in ("neuron",))


def test_alignment_counts_pairs() -> None:
    assert title(nxdt()) == "NeuronX Distributed Training"
    assert title(nxdt() + "model_alignment_strategy: {dpo: {kl_beta: 0.01}}\n") == "NeuronX Distributed Training (preference pairs)"
    assert title(nxdt() + "model_alignment_strategy: {sft: {packing: true}}\n") == "NeuronX Distributed Training"


# examples/conf/hf_llama3_8B_config.yaml: 128 cores / 32 = 4 ranks, 1,024 / 4 = 256 micro batches.
@pytest.mark.parametrize(("text", "expected"), [(nxdt(), 256), (nxdt(micro=2), 128), (nxdt(tensor=8), 64)])
def test_cores_are_shared_among_the_degrees(text: str, expected: int) -> None:
    assert sizes(text, world_size=128).value(Name.GRADIENT_ACCUMULATION_STEPS) == expected


@pytest.mark.parametrize("batch", [1024, 1022])
def test_nothing_asks_for_whole_micro_batches(batch: int) -> None:
    assert outcomes("GBS202", nxdt(batch), world_size=128) == []


# examples/training/llama/finetune_llama.sh: 1 x 16 on 32 cores in eights.
@pytest.mark.parametrize(
    ("more", "expected"),
    [("", 512), ("tensor_parallel_size: 8\n", 64), ("tensor_parallel_size: 8\npipeline_parallel_size: 4\n", 16)],
)
def test_a_model_takes_several_cores(more: str, expected: int) -> None:
    text = OPTIMUM.format(more=more)
    assert title(text) == "optimum-neuron"
    assert sizes(text, world_size=32).global_batch_size == expected
