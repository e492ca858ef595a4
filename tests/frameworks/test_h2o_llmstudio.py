"""H2O LLM Studio: batches worked out by hand, and what it stumbles over."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, stumbles, title, value

RECIPE = """\
problem_type: {problem}
llm_backbone: h2oai/h2o-danube2-1.8b-base
training:
    batch_size: {micro}
    grad_accumulation: {steps}
tokenizer:
    max_length: 512
prediction:
    batch_size_inference: {inference}
"""


def _recipe(micro: object = 2, steps: object = 4, inference: int = 0, problem: str = "text_causal_language_modeling") -> str:
    return RECIPE.format(micro=micro, steps=steps, inference=inference, problem=problem)


def test_a_file_without_a_problem_type_is_another_s() -> None:
    assert title(_recipe().replace("problem_type", "task")) is None


def test_preferences_are_a_table_of_their_own() -> None:
    assert title(_recipe()) == "H2O LLM Studio"
    assert title(_recipe(problem="text_dpo_modeling")) == "H2O LLM Studio (DPO)"


@pytest.mark.parametrize(("world", "expected"), [(1, 8), (8, 64), (24, 192)], ids=str)
def test_the_batch_is_micro_times_accumulation_times_gpus(world: int, expected: int) -> None:
    assert value(sizes(_recipe(), world_size=world).get(Name.GLOBAL_BATCH_SIZE)) == expected  # 2 x 4 x world


def test_defaults_are_those_of_the_configuration_class() -> None:
    text = _recipe().replace("    grad_accumulation: 4\n", "")
    assert value(sizes(text, world_size=8).get(Name.GLOBAL_BATCH_SIZE)) == 16  # 2 x 1 x 8


@pytest.mark.parametrize(("inference", "expected"), [(0, 16), (3, 24)], ids=["as training", "stated"])
def test_an_inference_batch_of_zero_is_the_training_batch(inference: int, expected: int) -> None:
    assert value(sizes(_recipe(inference=inference), world_size=8).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == expected


def test_text_is_not_known_and_no_mistake() -> None:
    assert stumbles(_recipe(micro="auto")) == {}


def test_zero_stops_it_once_training_runs() -> None:
    assert stumbles(_recipe(micro=0, steps=0)) == {"batch_size": "stops-late", "grad_accumulation": "stops-late"}
