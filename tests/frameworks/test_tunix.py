"""Tunix: prompts of a rollout, a step and a micro batch, and the completions of each."""

import pytest

from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, title

RECIPE = "batch_size: 16\nnum_batches: 100\nactor_model_config: {{rank: 4}}\nrl_training_config: {{max_steps: 100{more}}}\n{section}\n"
GRPO = "grpo_config: {num_generations: 4}"
AGENT = "training_mode: agentic_grpo\nagentic_grpo_config: {num_generations: 8}"
PPO = "ppo_config: {num_iterations: 1}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("batch_size: 16\ngrpo_config: {num_generations: 4}\n", id="no training"),
        pytest.param(RECIPE.format(more="", section=GRPO + "\ntraining_config: {max_steps: 1}"), id="the settings of all trainers"),
        pytest.param(RECIPE.format(more="", section=GRPO + "\noverride_config_file: a.yaml"), id="another file goes over it"),
        pytest.param(RECIPE.format(more="", section="agentic_grpo_config: {num_generations: 8}"), id="an agent that is not trained"),
        pytest.param(RECIPE.format(more="", section="sft_config: {}"), id="another algorithm"),
    ],
)
def test_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("section", "more", "expected", "total", "accumulation"),
    [
        pytest.param(GRPO, "", "tunix (GRPO)", 64, 1, id="a rollout is a step"),
        pytest.param(GRPO, ", mini_batch_size: 8", "tunix (GRPO)", 32, 1, id="two steps"),
        pytest.param(GRPO, ", mini_batch_size: 8, train_micro_batch_size: 2", "tunix (GRPO)", 32, 4, id="in four micro batches"),
        pytest.param(AGENT, ", mini_batch_size: 16, train_micro_batch_size: 2", "tunix (agentic GRPO)", 128, 8, id="an agent"),
        pytest.param(PPO, ", mini_batch_size: 8", "tunix (PPO)", 8, 1, id="one completion for each prompt"),
    ],
)
def test_a_step_takes_a_mini_batch(section: str, more: str, expected: str, total: int, accumulation: int) -> None:
    text = RECIPE.format(more=more, section=section)
    stated = sizes(text)
    assert title(text) == expected
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (total, accumulation)


@pytest.mark.parametrize(
    ("more", "findings"),
    [
        ("", 0),
        (", mini_batch_size: 8, train_micro_batch_size: 8", 0),
        (", mini_batch_size: 6", 1),
        (", mini_batch_size: 8, train_micro_batch_size: 3", 1),
        (", mini_batch_size: 6, train_micro_batch_size: 4", 2),
    ],
)
def test_batches_hold_whole_ones(more: str, findings: int) -> None:
    reported = outcomes("GBS202", RECIPE.format(more=more, section=GRPO))
    assert len([each for each in reported if isinstance(each, Finding)]) == findings
