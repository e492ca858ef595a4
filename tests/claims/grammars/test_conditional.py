"""A number for some hardware alone behind a batch key."""

import pytest

from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import batch, batches, declared


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("16 if 16 gpus", "max_steps"),
        ("16 if 16 gpus", "global_batch_size"),
        ("16 if 16 gpus", "per_device_eval_batch_size"),
        ("16 if 16 gpus, else 8", "micro_batch_size"),
        ("16 if memory allows", "micro_batch_size"),
        ("0 if 16 gpus", "micro_batch_size"),
    ],
)
def test_states_nothing(text: str, key: str) -> None:
    assert [found for found in declared(text, (key,)) if found.name == "global_batch_size"] == []


@pytest.mark.parametrize("text", ["16 if 16 gpus", "-> 16 if 16 GPUs", "16 on 16 gpus."])
def test_counts_only_where_it_holds(text: str) -> None:
    found = batch(text, ("micro_batch_size",))
    assert (found.value, found.force, found.conditions) == (16, Force.CONFIRMS, (("world_size", 16),))
    assert batches(text, ("micro_batch_size",)) == []


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("2 for 2 GPUs, 4 for 1 GPU (32 effective batch size)", {}),
        ("1 for 16 GPUs, 2 for 8 GPUs, effective batch size 64", {}),
        ("global batch size 64 for 8 GPUs, 128 for 16 GPUs", {"world_size": 8}),
        ("effective batch size 32 for 2 GPUs", {"world_size": 2}),
    ],
)
def test_a_choice_is_no_condition_of_another_number(text: str, conditions: dict[str, int]) -> None:
    assert dict(batch(text, ("gradient_accumulation_steps",)).conditions) == conditions


def test_hardware_of_choices_is_not_that_of_the_recipe() -> None:
    assert [found.name for found in declared("2 for 2 GPUs, 4 for 1 GPU", ("gradient_accumulation_steps",))] == []
