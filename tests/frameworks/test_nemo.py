"""NeMo's number of nodes, which may be a placeholder."""

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.quantity import HARDWARE, Name, Reason

from .building import document, table, title, value


@pytest.mark.parametrize(
    ("trainer", "degrees", "expected"),
    [
        pytest.param("devices: 8, num_nodes: 1", (4, 2), 1, id="a model on one node"),
        pytest.param("devices: 8, num_nodes: 4", (4, 8), 1, id="a model on four nodes"),
        pytest.param("devices: 8, num_nodes: 2", (4, 8), Reason.NOT_WHOLE, id="two nodes are stated, and too few"),
        pytest.param("devices: 8, num_nodes: 1", (4, 8), None, id="one node is a placeholder where it can't hold the model"),
        pytest.param("devices: 8, num_nodes: 1", (16, 1), 1, id="a single degree is clamped"),
    ],
)
def test_a_node_that_cannot_hold_the_model_is_a_placeholder(trainer: str, degrees: tuple[int, int], expected: int | str | None) -> None:
    tensor, pipeline = degrees
    model = f"micro_batch_size: 1, global_batch_size: 64, tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: {pipeline}"
    text = f"trainer: {{{trainer}}}\nmodel: {{{model}}}\n"
    nemo = table("NeMo (Megatron, pre-training)")
    read_from = document(text)
    own = {name: size for name, size in read_sizes(read_from, nemo).items() if name in HARDWARE}
    ranks = geometry(read_sizes(read_from, nemo), own, applied_to(read_from, nemo), read_from).stated.get(Name.DATA_PARALLEL_SIZE)
    assert value(ranks) == expected


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("  restore_from_path: null\n", None),
        ("", "NeMo (Megatron, pre-training)"),
        ("  restore_from_path: null\n  optim: {name: adam}\n", "NeMo (Megatron, pre-training)"),
        ("optim: {lr: 1e-4}\n", "NeMo (Megatron, pre-training)"),
    ],
    ids=["none, and it is restored: it is evaluated", "a short recipe", "of the model", "beside the model"],
)
def test_a_model_trains_if_there_is_an_optimizer(more: str, expected: str | None) -> None:
    model = "model:\n  micro_batch_size: 1\n  global_batch_size: 64\n  tensor_model_parallel_size: 2\n  encoder_seq_length: 4096\n"
    assert title(f"trainer: {{devices: 8, num_nodes: 1}}\n{model}{more}") == expected
