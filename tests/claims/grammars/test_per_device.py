"""A batch stated by what each device takes."""

import pytest

from tests.claims.grammars.support import batch, batches, declared


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Training total batch size (2 per 40gb A100)", "global_train_batch_size"),
        ("4 per GPU, 8 GPUs per node", "global_batch_size"),
        ("at 4 per GPU, 8 GPUs", "global_batch_size"),
        ("4 per GPU, 8 GPUs", "max_steps"),
        ("4 per GPU, 8 GPUs", "per_device_train_batch_size"),
        ("2 workers, 4 per GPU, 8 GPUs", "global_batch_size"),
        ("GBS 64: 4 per GPU", "global_batch_size"),
        ("steps: 4 per GPU, 8 GPUs", "global_batch_size"),
        ("8 GPUs with 2 workers per GPU", "samples_per_gpu"),
        ("8 GPUs with 2 images per class", "samples_per_gpu"),
        ("8 GPUs with 2 images per GPU for validation", "samples_per_gpu"),
    ],
)
def test_states_no_product(text: str, key: str) -> None:
    assert [value for _, value in batches(text, (key,)) if value != 64] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Training total batch size (4 per 40gb A100, 8 cards)", 32),
        ("example, Training total batch size (2 per 40gb A100, 8 cards)", 16),
        ("4 per GPU, 8 GPUs", 32),
        ("4/GPU on 8 GPUs", 32),
        ("global batch size: 4 per device with 16 devices", 64),
        ("8 GPUs with 2 images per GPU", 16),
        ("By default, models are trained on 4 A100 GPUs with 8 samples per GPU", 32),
    ],
)
def test_states_what_all_devices_take(text: str, value: int) -> None:
    found = batch(text, ("global_train_batch_size",))
    assert (found.value, found.grammar) == (value, "product")
    assert found.sum is not None
    assert found.sum.value == value


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("By default, models are trained on 8 GPUs with 2 images per GPU", "states"),
        ("This model was trained on 8 GPUs with 2 images per GPU", "history"),
        ("models are trained on 8 GPUs with 2 images per GPU", "history"),
    ],
)
def test_what_is_so_by_default_is_no_history(text: str, force: str) -> None:
    assert {(found.name, found.value, found.force) for found in declared(text)} == {
        ("world_size", 8, force),
        ("global_batch_size", 16, force),
    }


@pytest.mark.parametrize(
    "text",
    [
        "per_device_train_batch_size=128, 8 GPUs → global=1024",
        "per device train batch size = 128, 8 GPUs → total 1024",
        "per_device_train_batch_size=128 on 8 GPUs -> global 1024",
    ],
)
def test_the_batch_of_a_device_is_not_the_global_one_too(text: str) -> None:
    assert batches(text) == [("global_batch_size", 1024)]


@pytest.mark.parametrize(
    ("text", "force"),
    [
        ("Fine-tuning of the pre-trained base model on 4 nodes", "states"),
        ("We release models pre-trained with the base model on 4 nodes", "history"),
        ("Models are pre-trained on 4 nodes", "history"),
    ],
)
def test_a_pre_trained_model_is_no_history(text: str, force: str) -> None:
    assert {(found.name, found.value, found.force) for found in declared(text)} == {("num_nodes", 4, force)}
