"""A batch stated as so many for each GPU."""

import pytest

from tests.claims.grammars.support import declared

EACH = "rank_batch_size"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("8*num_gpus", "num_workers"),
        ("8*num_gpus", "per_device_train_batch_size"),
        ("a multiple of 8*num_gpus", "global_batch_size"),
        ("at least 8*num_gpus", "global_batch_size"),
        ("divisible by 8 * world_size", "global_batch_size"),
        (">= 8 * world_size", "global_batch_size"),
        ("8*num_gpus/tp", "global_batch_size"),
        ("8*num_gpus*seq_len", "global_batch_size"),
        ("per_device_batch_size * num_gpus", "global_batch_size"),
        ("4 samples * num_gpus", "global_batch_size"),
        ("8 * num_nodes", "global_batch_size"),
        ("8 x GPUs", "global_batch_size"),
        ("the loader has 4 * num_gpus workers", "max_steps"),
    ],
)
def test_states_nothing(text: str, key: str) -> None:
    assert [found for found in declared(text, (key,)) if found.name == EACH and found.force == "states"] == []


@pytest.mark.parametrize(
    ("text", "each"),
    [
        ("8*num_gpus", 8),
        ("should be 8*num_gpus", 8),
        ("= 8 x num GPUs", 8),
        ("num_gpus * 8", 8),
        ("1*num_gpus", 1),
        ("4 * 2 * world_size", 8),
        ("the batch size across all GPUs and should be 8*num_gpus", 8),
    ],
)
def test_states_what_each_gpu_takes(text: str, each: int) -> None:
    assert [(found.name, found.value) for found in declared(text, ("global_batch_size",))] == [(EACH, each)]


@pytest.mark.parametrize("text", ["global batch size = 8 * num_gpus", "effective batch size: 2 * 4 * num_gpus", "GBS is 8*world_size"])
def test_a_label_says_that_it_is_the_batch(text: str) -> None:
    assert [(found.name, found.value) for found in declared(text)] == [(EACH, 8)]
