"""A batch size alone behind a batch key."""

import pytest

from tests.claims.grammars.support import declared


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("per_device_eval_batch_size", "bs=128"),
        ("max_steps", "bs=128"),
        ("global_batch_size", "bs=128"),
        ("gradient_accumulation_steps", "bs=8 per gpu"),
        ("gradient_accumulation_steps", "bs=128 or 256"),
        ("gradient_accumulation_steps", "bs=128 would be better"),
        ("gradient_accumulation_steps", "bs"),
        ("gradient_accumulation_steps", "bs=0"),
        ("gradient_accumulation_steps", "128"),
        ("gradient_accumulation_steps", "128 (total"),
        ("gradient_accumulation_steps", "effective 16x"),
        ("max_steps", "512 total"),
        ("num_nodes", "4 in total"),
        ("global_batch_size", "512 effective"),
        ("max_steps", "simulate batch size 8"),
        ("root_volume", "EBS 64"),
        ("gradient_accumulation_steps", "simulates a batch size of 8 per device"),
    ],
)
def test_it_states_nothing(key: str, text: str) -> None:
    assert declared(text, (key,)) == ()


@pytest.mark.parametrize("text", ["bs=128", "bs 128", "bsz: 128", "batch size 128", "batch_size = 128."])
@pytest.mark.parametrize("key", ["per_device_train_batch_size", "gradient_accumulation_steps"])
def test_it_states_a_batch_weakly(key: str, text: str) -> None:
    assert [(d.name, d.value, d.weak) for d in declared(text, (key,))] == [("global_batch_size", 128, True)]


@pytest.mark.parametrize("text", ["bs=128 on 8 gpus", "bsz 128 w/ 8 GPUs", "batch size 128 (8 GPUs)", "128 bs on 8 gpus"])
@pytest.mark.parametrize("key", ["per_device_train_batch_size", "gradient_accumulation_steps", None])
def test_it_states_a_batch_weakly_on_hardware(key: str | None, text: str) -> None:
    found = declared(text, (key,) if key else None)
    assert [(d.value, d.weak) for d in found if d.name == "global_batch_size"] == [(128, True)]


@pytest.mark.parametrize(
    ("text", "weak"),
    [("effective 512", False), ("-> 512 global", False), ("= 512 effective", False), ("512 total", True), ("total: 512", True)],
)
def test_an_effective_batch_alone_is_firm(text: str, weak: bool) -> None:
    assert [(d.value, d.weak) for d in declared(text, ("gradient_accumulation_steps",))] == [(512, weak)]


@pytest.mark.parametrize(
    "text",
    ["Simulate batch size of 64", "simulates a batch size 64", "equivalent to batch_size 64", "EBS 64", "→ batch_size efectivo = 64"],
)
def test_a_batch_that_accumulation_gives_is_firm(text: str) -> None:
    assert [(d.value, d.weak) for d in declared(text, ("gradient_accumulation_steps",))] == [(64, False)]
