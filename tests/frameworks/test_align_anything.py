"""align-anything's trainers read the same keys and use them differently: batches worked out by hand for each of them."""

import pytest

from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Name, Reason

from .building import outcomes, sizes, stumbles, title, value

RECIPE = """\
train_cfgs:
  ds_cfgs: ds_z3_config.json
  per_device_train_batch_size: {micro}
  per_device_eval_batch_size: 3
  gradient_accumulation_steps: {steps}
{more}
model_cfgs:
  model_max_length: 2048
"""
PPO = "  per_device_prompt_batch_size: {}\n"


def _recipe(more: str = "", micro: object = 2, steps: object = 4) -> str:
    return RECIPE.format(micro=micro, steps=steps, more=more)


def _batch(text: str, world: int = 8) -> int | str | None:
    return value(sizes(text, world_size=world).get(Name.GLOBAL_BATCH_SIZE))


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("infer_cfgs:\n  ds_cfgs: ds_z3_config.json\n  per_device_train_batch_size: 1\n", id="a benchmark"),
        pytest.param("train_cfgs:\n  per_device_train_batch_size: 1\n  gradient_accumulation_steps: 1\n", id="no DeepSpeed file"),
        pytest.param("train_cfgs:\n  ds_cfgs: ds_z3_config.json\n  epochs: 3\n", id="no batch"),
        pytest.param("per_device_train_batch_size: 1\nds_cfgs: ds_z3_config.json\n", id="no section"),
    ],
)
def test_it_leaves_the_files_of_others_alone(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", "SFT"),
        ("  freeze_vision_tower: True", "SFT"),
        ("  scale_coeff: 0.1", "preferences"),
        ("  regularization: 0.001", "preferences"),
        ("  freeze_unet: False", "diffusion"),
        ("  freeze_unet: False\n  beta_coeff: 5000", "diffusion, preferences"),
        (PPO.format(2), "PPO"),
        (PPO.format(2) + "  freeze_vision_tower: True", "PPO on images"),
        (PPO.format(2) + "  freeze_vision_tower: True\n  lambda_init: 1.0", "Safe RLHF-V"),
        (PPO.format(2) + "  n_samples_per_prompt: 4", "PPO, several samples"),
        (PPO.format(2) + "vllm_cfgs:\n  use_vllm: True", "PPO with vLLM"),
        (PPO.format(2) + "  num_generations: 10", "GRPO"),
    ],
)
def test_what_a_trainer_reads_distinguishes_it_from_the_others(more: str, expected: str) -> None:
    assert title(_recipe(more)) == f"align-anything ({expected})"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param("", 64, id="SFT: 2 x 4 x 8"),
        pytest.param("  scale_coeff: 0.1", 64, id="pairs: 2 x 4 x 8"),
        pytest.param("  freeze_unet: False", 16, id="diffusion, a step at each pass: 2 x 8"),
        pytest.param("  lora_unet: True\n  beta_coeff: 5000", 16, id="diffusion, pairs: 2 x 8"),
        pytest.param(PPO.format(16), 64, id="PPO, whatever a rollout holds: 2 x 4 x 8"),
        pytest.param(PPO.format(6) + "  lambda_init: 1.0", 192, id="all prompts of a device in one pass: 6 x 4 x 8"),
        pytest.param(PPO.format(16) + "  n_samples_per_prompt: 5", 320, id="several samples: 2 x 5 x 4 x 8"),
        pytest.param(PPO.format(6) + "  num_generations: 10", 1920, id="GRPO: 6 x 10 x 4 x 8"),
    ],
)
def test_the_batch_is_that_of_the_trainer(more: str, expected: int) -> None:
    assert _batch(_recipe(more)) == expected


@pytest.mark.parametrize("world", [1, 8, 64])
def test_all_ranks_train_on_the_rollout_that_vllm_gave_the_first(world: int) -> None:
    recipe = _recipe(PPO.format(64) + "vllm_cfgs:\n  use_vllm: True")
    found = sizes(recipe, world_size=world)
    assert (value(found.get(Name.GLOBAL_BATCH_SIZE)), value(found.get(Name.PROMPTS_PER_ROLLOUT))) == (8, 64)  # 2 x 4


@pytest.mark.parametrize(("prompts", "expected"), [(1, 32), (2, Reason.MISSING)], ids=["one is one", "split or not"])
def test_images_may_be_split_or_not(prompts: int, expected: int | str) -> None:
    recipe = _recipe(PPO.format(prompts) + "  freeze_vision_tower: True", micro=1)
    assert _batch(recipe) == expected  # 1 x 4 x 8


def test_grpo_accumulates_otherwise_with_a_second_data_set() -> None:
    recipe = _recipe(PPO.format(2) + "  num_generations: 10\ndata_cfgs:\n  ptx_datasets: {}")
    assert _batch(recipe.format("null")) == 640  # 2 x 10 x 4 x 8
    assert _batch(recipe.format("my/data")) == Reason.MISSING


def test_grpo_clears_what_it_accumulated_without_zero() -> None:
    recipe = _recipe(PPO.format(2) + "  num_generations: 10")
    assert _batch(recipe.replace("ds_z3", "ds_z2")) == 640  # 2 x 10 x 4 x 8
    assert _batch(recipe.replace("ds_z3", "ds_z0")) == Reason.MISSING


@pytest.mark.parametrize(
    ("more", "step", "rollout"),
    [
        ("  n_samples_per_prompt: 5", 64, 128),  # 2 x 4 x 8; 16 x 8
        ("  num_generations: 10", 512, Reason.MISSING),  # 16 x 4 x 8
    ],
    ids=["PPO", "GRPO"],
)
def test_prompts_are_counted_beside_completions(more: str, step: int, rollout: int | str) -> None:
    found = sizes(_recipe(PPO.format(16) + more), world_size=8)
    assert (value(found.get(Name.PROMPTS_PER_STEP)), value(found.get(Name.PROMPTS_PER_ROLLOUT))) == (step, rollout)


@pytest.mark.parametrize(
    ("more", "expected"),
    [("", 24), ("  regularization: 0.0", 24), (PPO.format(4), 16), (PPO.format(4) + "  num_generations: 2", 16)],
    ids=["its own key: 3 x 8", "a reward model", "prompts: 2 x 8", "GRPO"],
)
def test_reinforcement_learning_evaluates_with_the_batch_of_training(more: str, expected: int) -> None:
    assert value(sizes(_recipe(more), world_size=8).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == expected


def test_a_navigator_has_a_validation_batch() -> None:
    recipe = _recipe().replace("per_device_eval_batch_size: 3", "per_device_val_batch_size: 12")
    assert value(sizes(recipe, world_size=8).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 96  # 12 x 8


@pytest.mark.parametrize(
    "more",
    ["", "  lambda_init: 1.0", "  n_samples_per_prompt: 5", "  num_generations: 10", "  freeze_vision_tower: True"],
    ids=["PPO", "Safe RLHF-V", "several samples", "GRPO", "images"],
)
def test_prompts_divide_into_micro_batches(more: str) -> None:
    def kinds(prompts: int) -> list[type]:
        return [type(outcome) for outcome in outcomes("GBS202", _recipe(PPO.format(prompts) + more))]

    assert kinds(2) == kinds(6) == [Verified]
    assert kinds(1) == kinds(7) == [Finding]


def test_prompts_for_vllm_divide_as_well() -> None:
    def kinds(prompts: int) -> list[type]:
        return [type(outcome) for outcome in outcomes("GBS202", _recipe(PPO.format(prompts) + "vllm_cfgs:\n  use_vllm: True"))]

    assert (kinds(64), kinds(63)) == ([Verified], [Finding])


@pytest.mark.parametrize(
    ("estimator", "samples", "expected"),
    [("gae", 1, []), ("reinforce", 1, []), ("rloo", 2, [Verified]), ("rloo", 1, [Finding]), ("group_norm", 1, [Finding])],
)
def test_some_estimators_compare_several_samples(estimator: str, samples: int, expected: list[type]) -> None:
    recipe = _recipe(PPO.format(2) + f"  n_samples_per_prompt: {samples}\n  advantage_estimator: {estimator}")
    assert [type(outcome) for outcome in outcomes("GBS205", recipe)] == expected


@pytest.mark.parametrize("micro", ["8", '"8"', "8.0", "8.5", "true"])
def test_int_makes_a_number_of_it(micro: str) -> None:
    assert stumbles(_recipe(micro=micro)) == {}


def test_what_int_or_deepspeed_refuses_stops_it() -> None:
    wanted = {"per_device_train_batch_size": "stops", "gradient_accumulation_steps": "stops"}
    assert stumbles(_recipe(micro="auto", steps='"8"')) == wanted  # the text is not a number; the other is one, and added to
    assert stumbles(_recipe(micro=0, steps=-1)) == wanted
