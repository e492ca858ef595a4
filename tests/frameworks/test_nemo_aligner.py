"""NeMo-Aligner: pairs, rollouts of completions, and what of them must be whole."""

import pytest

from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, table, title, value

MODEL = "tensor_model_parallel_size: 1, pipeline_model_parallel_size: 1, micro_batch_size: 1, global_batch_size: 64"
ROLLOUTS = "{algorithm}: {{num_rollout_samples: {samples}{more}}}"


def recipe(algorithm: str, model: str, more: str = "") -> str:
    return f"trainer: {{devices: 8, num_nodes: 1, {algorithm}: {{max_epochs: 1{more}}}}}\nmodel: {{{MODEL}, {model}}}\n"


def rollouts(algorithm: str, samples: int, more: str = "", model: str = "") -> str:
    return recipe(algorithm, ROLLOUTS.format(algorithm=algorithm, samples=samples, more=model), more)


@pytest.mark.parametrize(
    "text",
    [
        rollouts("ppo", 512),
        # 48 prompts x 4 completions = 192 = 3 x 64
        rollouts("reinforce", 48, more=", num_rollouts_per_prompt: 4"),
        # The best 2 of 4 completions of 96 prompts are 192, too.
        rollouts("rs", 96, model=", num_rollouts_per_prompt: 4, top_n_rollouts: 2"),
    ],
    ids=["PPO", "REINFORCE", "rejection sampling"],
)
def test_rollouts_of_whole_batches_are_silent(text: str) -> None:
    assert not [each for each in outcomes("GBS202", text) if isinstance(each, Finding)]


@pytest.mark.parametrize(
    "text",
    [
        rollouts("ppo", 96),
        rollouts("reinforce", 24, more=", num_rollouts_per_prompt: 4"),
        # 48 prompts x 4 completions would be whole, but only the best of each is trained on.
        rollouts("rs", 48, model=", num_rollouts_per_prompt: 4, top_n_rollouts: 1"),
    ],
    ids=["PPO", "REINFORCE", "rejection sampling"],
)
def test_a_rollout_of_no_whole_batches_is_found(text: str) -> None:
    assert len([each for each in outcomes("GBS202", text) if isinstance(each, Finding)]) == 1


def test_a_step_takes_the_completions_of_some_prompts() -> None:
    stated = sizes(rollouts("reinforce", 48, more=", num_rollouts_per_prompt: 4")).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.GENERATION_BATCH_SIZE, Name.STEPS_PER_ROLLOUT)
    assert [value(stated.get(name)) for name in names] == [64, 16, 192, 3]


@pytest.mark.parametrize(("micro", "found"), [(8, 0), (16, 0), (32, 0), (12, 1), (4, 1)], ids=str)
def test_the_answers_of_spin_fill_the_batch_of_a_rank(micro: int, found: int) -> None:
    reported = outcomes("GBS202", recipe("spin", f"spin: {{rollout_micro_batch_size: {micro}}}"), world_size=8)
    assert len([each for each in reported if isinstance(each, Finding)]) == found


@pytest.mark.parametrize(("title", "unit", "sequences"), [("KTO", "samples", 1), ("SPIN", "pairs", 2), ("REINFORCE", "completions", 1)])
def test_what_a_batch_counts(title: str, unit: str, sequences: int) -> None:
    found = table(f"NeMo-Aligner ({title})")
    assert (found.unit, found.sequences_per_sample) == (unit, sequences)


DISTILLS = "knowledge_distillation: {target_logits_top_k: 64}"


# The student learns from logits of the teacher that lie in the data, so that a step is one of supervised training: 64 / (1 x 8) = 8.
@pytest.mark.parametrize(("world", "accumulation"), [(8, 8), (64, 1), (16, 4)])
def test_distillation_takes_steps_of_supervised_training(world: int, accumulation: int) -> None:
    text = recipe("knowledge_distillation", DISTILLS)
    stated = sizes(text, world_size=world)
    assert title(text) == "NeMo-Aligner (distillation)"
    assert (stated.value(Name.GLOBAL_BATCH_SIZE), stated.value(Name.GRADIENT_ACCUMULATION_STEPS)) == (64, accumulation)


@pytest.mark.parametrize(("world", "found"), [(8, 0), (64, 0), (128, 1), (24, 1)])
def test_a_batch_of_distillation_holds_whole_micro_batches(world: int, found: int) -> None:
    reported = outcomes("GBS202", recipe("knowledge_distillation", DISTILLS), world_size=world)
    assert len([each for each in reported if isinstance(each, Finding)]) == found


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("knowledge_distillation: {target_logits_top_k: 64}\nbatch_size: 8\n", id="a distillation of anyone's"),
        pytest.param("model: {knowledge_distillation: {target_logits_top_k: 64}}\n", id="no batch"),
    ],
)
def test_other_distillations_are_not_recipes(text: str) -> None:
    assert title(text) is None
