"""Trinity-RFT: tasks of an exploration, times the completions of each, unless the trainer takes another number."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title

RECIPE = "algorithm: {{algorithm_type: {kind}{group}}}\nbuffer: {{{buffer}}}\nsynchronizer: {{sync_interval: 1}}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(RECIPE.format(kind="sft", group="", buffer="batch_size: 8"), id="supervised"),
        pytest.param(RECIPE.format(kind="dpo", group="", buffer="train_batch_size: 64"), id="preferences"),
        pytest.param(RECIPE.format(kind="grpo", group=", repeat_times: 8", buffer="total_epochs: 1"), id="no batch"),
        pytest.param("algorithm: {algorithm_type: grpo}\nbuffer: {batch_size: 8}\n", id="a buffer of anyone's"),
        pytest.param("buffer: {batch_size: 8}\nexplorer: {eval_interval: 1}\n", id="no algorithm"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


# examples/grpo_gsm8k: 96 tasks x 8 completions = 768.
@pytest.mark.parametrize(
    ("group", "buffer", "total", "rollout"),
    [
        pytest.param(", repeat_times: 8", "batch_size: 96", 768, 768, id="all completions"),
        pytest.param("", "batch_size: 96", 96, 96, id="one of each task"),
        pytest.param(", repeat_times: 8", "batch_size: 96, train_batch_size: 0", 768, 768, id="none said"),
        pytest.param(", repeat_times: 8", "batch_size: 96, train_batch_size: 320", 320, 768, id="another number"),
        pytest.param(", repeat_times: 8", "train_batch_size: 768", 768, None, id="a trainer of its own"),
    ],
)
def test_the_trainer_takes_completions(group: str, buffer: str, total: int, rollout: int | None) -> None:
    text = RECIPE.format(kind="grpo", group=group, buffer=buffer)
    stated = sizes(text)
    assert title(text) == "Trinity-RFT"
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.GENERATION_BATCH_SIZE)) == (total, rollout)
