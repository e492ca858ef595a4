"""GRPO of open-instruct: groups of completions, whose packed rows the learners share."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, title, value

MODEL = "model_name_or_path: my/model\nper_device_train_batch_size: 1\nbeta: 0.0\n"
RECIPE = MODEL + "num_unique_prompts_rollout: 8\nnum_samples_per_prompt_rollout: 16\nlearning_rate: 1.0e-6\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(MODEL + "num_generations: 8\nlearning_rate: 1.0e-6\n", "grpo.yaml", "TRL (GRPO)", id="groups of TRL"),
        pytest.param(MODEL + "use_slow_tokenizer: true\n", "sft.yaml", "open-instruct (SFT)", id="supervised"),
        pytest.param(RECIPE, "grpo.yaml", "open-instruct (GRPO)", id="a path that TRL has too"),
        pytest.param(RECIPE + "with_tracking: true\n", "a.yaml", "open-instruct (GRPO)", id="a key of all of its programs"),
    ],
)
def test_the_prompts_of_a_rollout_tell_it_apart(text: str, path: str, expected: str) -> None:
    assert title(text, path) == expected


def test_without_a_number_of_mini_batches_a_rollout_is_one_step() -> None:
    stated = sizes(RECIPE, world_size=4)
    assert stated.value(Name.GLOBAL_BATCH_SIZE) == stated.value(Name.GENERATION_BATCH_SIZE) == 128


def test_the_rows_of_several_mini_batches_depend_on_the_lengths_of_completions() -> None:
    stated = sizes(RECIPE + "num_mini_batches: 2\n", world_size=4)
    assert (value(stated.get(Name.GLOBAL_BATCH_SIZE)), stated.value(Name.GENERATION_BATCH_SIZE)) == ("missing", 128)
