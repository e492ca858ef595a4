"""The same recipe in YAML, JSON, TOML and Python, and in any order of its keys, has the same sizes and the same findings."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.support import as_json, as_python, as_toml, as_yaml, reported, shown, sizes

numbers = st.one_of(st.integers(1, 64), st.sampled_from([0, -1, 3, 7, 100, 2.0, 2.5, "auto", "8", True]))
worlds = st.sampled_from([1, 2, 3, 8, 64])

TRAINER = st.fixed_dictionaries(
    {"output_dir": st.just("out"), "per_device_train_batch_size": numbers, "learning_rate": st.sampled_from([1e-5, 2.0e-4])},
    optional={
        "gradient_accumulation_steps": numbers,
        "max_steps": st.integers(-1, 1000),
        "num_train_epochs": st.integers(1, 3),
        "save_steps": st.sampled_from([100, 0.1]),
        "packing": st.booleans(),
        "max_length": st.sampled_from([1024, 4096]),
        "bf16": st.booleans(),
        "seed": st.integers(0, 99),
    },
)
VERL = st.fixed_dictionaries(
    {
        "data": st.fixed_dictionaries({"train_batch_size": numbers, "max_prompt_length": st.just(512)}),
        "actor_rollout_ref": st.fixed_dictionaries(
            {
                "actor": st.fixed_dictionaries({"ppo_mini_batch_size": numbers, "ppo_micro_batch_size_per_gpu": numbers}),
                "rollout": st.fixed_dictionaries({"n": st.integers(1, 8)}),
            }
        ),
        "trainer": st.fixed_dictionaries({"n_gpus_per_node": st.sampled_from([1, 8]), "nnodes": st.integers(1, 4)}),
        "algorithm": st.fixed_dictionaries({"adv_estimator": st.just("grpo")}),
    }
)
_NO_QUOTES = str.maketrans("", "", "\"'")
WRITTEN = {"yaml": as_yaml, "json": as_json, "toml": as_toml}


def outcome(files: dict[str, str], world: int) -> tuple[list[dict[str, int]], Counter[tuple[str, str, str]]]:
    """The sizes of each recipe, and its findings, whose words quote a text as the language does."""
    found = Counter((each.code, each.severity, each.message.translate(_NO_QUOTES)) for each in reported(files, world).findings())
    return [sizes(entry) for entry in shown(files, world)], found


def shuffled(recipe: Any, chance: Any) -> Any:
    """A recipe with its keys in another order, at every level."""
    if not isinstance(recipe, dict):
        return recipe
    keys = list(recipe)
    chance.shuffle(keys)
    return {key: shuffled(recipe[key], chance) for key in keys}


@pytest.mark.parametrize("recipes", [TRAINER, VERL], ids=["trainer", "verl"])
@settings(max_examples=25)
@given(data=st.data(), world=worlds, chance=st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_nothing(
    recipes: st.SearchStrategy[dict[str, Any]], data: st.DataObject, world: int, chance: Any
) -> None:
    recipe = data.draw(recipes)
    other = shuffled(recipe, chance)
    for suffix, write in WRITTEN.items():
        one, two = (outcome({f"sft.{suffix}": write(each)}, world) for each in (recipe, other))
        assert one == two


@pytest.mark.parametrize("recipes", [TRAINER, VERL], ids=["trainer", "verl"])
@settings(max_examples=25)
@given(data=st.data(), world=worlds)
def test_the_language_of_a_recipe_changes_nothing(recipes: st.SearchStrategy[dict[str, Any]], data: st.DataObject, world: int) -> None:
    recipe = data.draw(recipes)
    found = {suffix: outcome({f"sft.{suffix}": write(recipe)}, world) for suffix, write in WRITTEN.items()}
    assert found["yaml"] == found["json"]
    assert found["yaml"] == found["toml"]


@settings(max_examples=40)
@given(recipe=TRAINER, world=worlds, called=st.sampled_from(["transformers.TrainingArguments", "trl.SFTConfig"]))
def test_a_call_in_a_program_has_the_sizes_of_a_file(recipe: dict[str, Any], world: int, called: str) -> None:
    if called.startswith("transformers"):
        recipe = {key: value for key, value in recipe.items() if key not in ("packing", "max_length")}
    (in_program,) = shown({"train.py": as_python(recipe, called)}, world_size=world)
    (in_file,) = shown({"sft.yaml": as_yaml({"model_name_or_path": "m", **recipe})}, world_size=world)
    batch = ("global_batch_size", "micro_batch_size", "gradient_accumulation_steps", "world_size", "data_parallel_size")
    whole = all(type(recipe.get(key, 1)) is int for key in ("per_device_train_batch_size", "gradient_accumulation_steps"))
    if whole:
        assert [sizes(in_program).get(name) for name in batch] == [sizes(in_file).get(name) for name in batch]
