"""dolomite-engine: batches worked out by hand, ranks that are given, and what it stumbles over."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Conflict, Name
from pytest_gbs.model.rule import Example
from tools.examples import check_example

from .building import sizes, stumbles, title, value

# configs/research/cross-layer-attention/base.yml, reduced.
RECIPE = """\
model_args:
  model_class: AutoModelForCausalLM
tuning_args:
  tuning_method: pretraining
save_args:
  save_interval: {save}
training_parameters:
  num_training_steps: 25000
  eval_interval: 2500
  micro_batch_size: {micro}
  gradient_accumulation_steps: {steps}
distributed_args:
  distributed_backend: torch
"""
TOPOLOGY = """\
  zero_topology:
    data_parallel_replication_world_size: {replicas}
    data_parallel_sharding_world_size: {shards}
"""


def _recipe(micro: object = 4, steps: object = 4, save: object = 5000, more: str = "") -> str:
    return RECIPE.format(micro=micro, steps=steps, save=save) + more


def _findings(text: str, folder: Path) -> list[tuple[str, str]]:
    report = check_example(Example((("training.yml", text),)), folder)
    return [(finding.code, finding.message) for finding in report.findings()]


NO_RECIPES = {
    "inference": "datasets: []\nload_args: {load_path: x}\ngeneration_parameters: {batch_size: 8, max_new_tokens: 100}\noutput_dir: x\n",
    "unsharding": "load_args: {load_path: x}\nmixed_precision_args: {dtype: bf16}\nunsharded_path: x\n",
    "somebody's own": "training_parameters: {micro_batch_size: 4, gradient_accumulation_steps: 4}\n",
    "a batch that is given": _recipe().replace("gradient_accumulation_steps", "global_batch_size"),
    "stages of a pipeline": _recipe(more="  pipeline_parallel_world_size: 2\n"),
}


@pytest.mark.parametrize("text", NO_RECIPES.values(), ids=NO_RECIPES)
def test_others_are_left_alone(text: str) -> None:
    assert title(text) is None


def test_training_is_recognised() -> None:
    assert title(_recipe()) == "dolomite-engine"


@pytest.mark.parametrize(("world", "expected"), [(1, 16), (8, 128), (128, 2048)], ids=str)
def test_the_batch_is_micro_times_accumulation_times_gpus(world: int, expected: int) -> None:
    assert value(sizes(_recipe(), world_size=world).get(Name.GLOBAL_BATCH_SIZE)) == expected  # 4 x 4 x world


def test_steps_do_not_accumulate_by_default() -> None:
    text = _recipe().replace("  gradient_accumulation_steps: 4\n", "")
    assert value(sizes(text, world_size=8).get(Name.GLOBAL_BATCH_SIZE)) == 32  # 4 x 1 x 8


def test_tensor_parallel_ranks_read_the_same_samples() -> None:
    text = _recipe(more="  tensor_parallel_size: 2\n")
    assert value(sizes(text, world_size=64).get(Name.GLOBAL_BATCH_SIZE)) == 512  # 4 x 4 x 64/2


def test_replicas_and_shards_give_the_ranks_and_the_gpus() -> None:
    found = sizes(_recipe(more="  tensor_parallel_size: 2\n" + TOPOLOGY.format(replicas=16, shards=8)))
    assert value(found.get(Name.DATA_PARALLEL_SIZE)) == 128  # 16 x 8
    assert value(found.get(Name.GLOBAL_BATCH_SIZE)) == 2048  # 4 x 4 x 128
    assert value(found.get(Name.WORLD_SIZE)) == 256  # 128 x 2


def test_ranks_may_be_given() -> None:
    assert value(sizes(_recipe(more="  data_parallel_size: 64\n")).get(Name.GLOBAL_BATCH_SIZE)) == 1024  # 4 x 4 x 64
    assert value(sizes(_recipe(more="  data_parallel_size: null\n"), world_size=8).get(Name.GLOBAL_BATCH_SIZE)) == 128  # 4 x 4 x 8


def test_evaluation_takes_the_same_micro_batches() -> None:
    assert value(sizes(_recipe(), world_size=8).get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 32  # 4 x 8
    without = _recipe().replace("  eval_interval: 2500\n", "  eval_during_training: false\n  eval_interval: 2500\n")
    found = sizes(without, world_size=8)
    assert (found.value(Name.EVAL_GLOBAL_BATCH_SIZE), found.value(Name.EVAL_STEPS)) == (None, None)


@pytest.mark.parametrize("micro", ['"4"', "4.0", "4e0", "true"])
def test_what_pydantic_converts_is_not_a_mistake(micro: str) -> None:
    assert stumbles(_recipe(micro)) == {}


@pytest.mark.parametrize("more", ["", TOPOLOGY.format(replicas=16, shards=8), TOPOLOGY.format(replicas="null", shards="null")])
def test_nothing_is_missing(more: str, tmp_path: Path) -> None:
    assert _findings(_recipe(more=more), tmp_path) == []


def test_what_it_stops_at() -> None:
    assert stumbles(_recipe(0)) == {"micro_batch_size": "stops"}
    assert stumbles(_recipe("auto", 2.5)) == {"micro_batch_size": "stops", "gradient_accumulation_steps": "stops"}
    assert stumbles(_recipe("null", "null", 0)) == {
        "micro_batch_size": "stops",
        "gradient_accumulation_steps": "stops",
        "save_interval": "stops-late",
    }


def test_a_missing_micro_batch_stops_it(tmp_path: Path) -> None:
    message = "training_parameters.micro_batch_size is missing; dolomite-engine has no default for it and stops at start"
    assert _findings(_recipe().replace("  micro_batch_size: 4\n", ""), tmp_path) == [("GBS209", message)]


@pytest.mark.parametrize("alone", ["replication", "sharding"])
def test_one_half_of_a_topology_stops_it(alone: str, tmp_path: Path) -> None:
    found = _findings(_recipe(more=f"  zero_topology:\n    data_parallel_{alone}_world_size: 8\n"), tmp_path)
    assert [code for code, _ in found] == ["GBS209"]


def test_ranks_that_contradict_each_other_stop_it(tmp_path: Path) -> None:
    text = _recipe(more="  data_parallel_size: 64\n" + TOPOLOGY.format(replicas=16, shards=8))
    assert isinstance(sizes(text).stated[Name.DATA_PARALLEL_SIZE], Conflict)  # 64 is not 16 x 8
    assert [code for code, _ in _findings(text, tmp_path)] == ["GBS203"]
    assert isinstance(sizes(_recipe(more="  data_parallel_size: 64\n"), world_size=8).stated[Name.DATA_PARALLEL_SIZE], Conflict)


def test_ranks_that_contradict_the_gpus_are_shown_as_they_are_computed(tmp_path: Path) -> None:
    text = _recipe(more="  tensor_parallel_size: 2\n  data_parallel_size: 64\n")
    report = check_example(Example((("base.yml", text),), ("--world-size", "8")), tmp_path)
    (finding,) = [each for file in report.files for each in file.findings]
    assert (finding.code, finding.details) == ("GBS203", ("4 = 8 GPUs / 2 tensor",))
