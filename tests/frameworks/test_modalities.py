"""Modalities keeps the batch of a rank in its step profile, and the degrees in its device mesh."""

import pytest

from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.quantity import Name

from .building import sizes, stumbles, title, value

PROFILE = """\
settings:
  step_profile: {{local_train_micro_batch_size: {micro}, gradient_accumulation_steps: {steps}, sequence_length: 256}}
"""
MESH = (
    "device_mesh: {{config: {{pipeline_parallel_degree: {pipeline}, tensor_parallel_degree: {tensor}, data_parallel_shard_degree: -1}}}}\n"
)


def recipe(micro: object = 4, steps: object = 2, pipeline: int = 1, tensor: int = 1) -> str:
    return PROFILE.format(micro=micro, steps=steps) + MESH.format(pipeline=pipeline, tensor=tensor)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("settings: {sequence_length: 256}\ntokenizer: {component_key: tokenizer}\n", id="it tokenizes"),
        pytest.param("settings: {step_profile: {gradient_accumulation_steps: 2}}\n", id="no batch"),
        pytest.param("local_train_micro_batch_size: 4\ngradient_accumulation_steps: 2\n", id="not below the settings"),
    ],
)
def test_other_trees_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(recipe(), 8, 64, id="4 x 2 on 8"),
        pytest.param(recipe(pipeline=2, tensor=2), 8, 16, id="4 x 2 on 8 / 4"),
        pytest.param(PROFILE.format(micro=4, steps=2), 8, 64, id="no mesh: FSDP 1"),
        pytest.param(recipe(pipeline=2, tensor=2), 6, None, id="6 / 4 ranks"),
        pytest.param(recipe(micro="'${settings.micro}'"), 8, None, id="a batch from elsewhere"),
    ],
)
def test_ranks_are_those_of_the_mesh(text: str, world: int, expected: int | None) -> None:
    assert sizes(text, world_size=world).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_the_profile_is_not_converted() -> None:
    assert stumbles(recipe(micro="'4'")) == {"local_train_micro_batch_size": Treatment.STOPS}
    assert stumbles(recipe(steps=0)) == {"gradient_accumulation_steps": Treatment.STOPS}
    assert value(sizes(recipe(pipeline=-1), world_size=8).stated.get(Name.GLOBAL_BATCH_SIZE)) is None
