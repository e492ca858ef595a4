"""olmOCR trains in one process: batches worked out by hand, and what its loop stumbles over."""

import pytest

from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.frameworks.versions import at_version, read_specifiers
from pytest_gbs.model.quantity import Name, Reason

from .building import document, sizes, stumbles, table, title, value

RECIPE = """\
project_name: olmocr-qwen-vl-training
run_name: qwen2.5-vl-7b
model:
  name: Qwen/Qwen2.5-VL-7B-Instruct
  use_flash_attention: true
dataset:
  train:
    - root_dir: /data/train
  eval: []
training:
  per_device_train_batch_size: {micro}
  per_device_eval_batch_size: 3
  gradient_accumulation_steps: {steps}
  collator_max_token_len: 8192
  save_steps: 0
"""


def _recipe(micro: object = 2, steps: object = 32) -> str:
    return RECIPE.format(micro=micro, steps=steps)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(_recipe().replace("run_name", "name"), id="no run"),
        pytest.param(_recipe().replace("dataset:", "data:"), id="oumi's word for data"),
        pytest.param(_recipe().replace("  name: Qwen", "  model_name: Qwen"), id="oumi's word for a model"),
        pytest.param(_recipe().replace("training:", "quantization:"), id="no training"),
    ],
)
def test_it_leaves_the_files_of_others_alone(text: str) -> None:
    assert title(text) != "olmOCR"


def test_it_knows_its_own() -> None:
    assert title(_recipe()) == "olmOCR"


@pytest.mark.parametrize("hardware", [{}, {"world_size": 1}, {"world_size": 64}], ids=["unknown", "one GPU", "many"])
def test_the_batch_is_that_of_one_process(hardware: dict[str, int]) -> None:
    found = sizes(_recipe(), **hardware)
    assert value(found.get(Name.GLOBAL_BATCH_SIZE)) == 64  # 2 x 32
    assert value(found.get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 3


def test_defaults_are_those_of_the_config_class() -> None:
    text = "\n".join(line for line in _recipe().splitlines() if "batch_size" not in line and "accumulation" not in line)
    found = sizes(text)
    assert value(found.get(Name.GLOBAL_BATCH_SIZE)) == 8  # 1 x 8
    assert value(found.get(Name.EVAL_GLOBAL_BATCH_SIZE)) == 1
    assert value(found.get(Name.SEQUENCE_LENGTH)) == 8192
    assert value(found.get(Name.EVAL_STEPS)) == 500


def test_an_interval_of_zero_is_never() -> None:
    assert stumbles(_recipe()) == {}
    assert value(sizes(_recipe()).get(Name.SAVE_STEPS)) == Reason.AUTO


@pytest.mark.parametrize(("version", "expected"), [("0.3.0", 64), ("0.4.27", 64), ("0.2.3", Reason.MISSING)])
def test_a_trainer_shared_samples_out_before_the_loop(version: str, expected: int | str) -> None:
    read_from = document(_recipe())
    then = at_version(table("olmOCR"), read_specifiers("olmocr", f"=={version}"))
    assert value(geometry(read_sizes(read_from, then), {}, applied_to(read_from, then), read_from).get(Name.GLOBAL_BATCH_SIZE)) == expected


@pytest.mark.parametrize("steps", ["8", "8.0", "${training.steps}"])
def test_what_can_be_divided_by_is_taken(steps: str) -> None:
    assert stumbles(_recipe(steps=steps)) == {}


@pytest.mark.parametrize(
    ("micro", "steps", "expected"),
    [
        ('"2"', '"8"', ("stops", "stops")),
        ("8.0", "8.5", ("stops", "goes-on")),
        ("0", "0", ("stops", "stops")),
        ("null", "null", ("stops", "stops")),
        ("-1", "-1", ("stops", "no-steps")),
    ],
)
def test_what_stops_the_loop(micro: str, steps: str, expected: tuple[str, str]) -> None:
    assert stumbles(_recipe(micro, steps)) == {"per_device_train_batch_size": expected[0], "gradient_accumulation_steps": expected[1]}
