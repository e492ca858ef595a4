"""DeepSpeed solves for what is left out by floor division, and then checks the product."""

import json

import pytest

from pytest_gbs.model.outcome import Finding, Outcome, Undetermined, Verified
from pytest_gbs.model.quantity import Conflict, Name

from .building import outcomes, sizes, stumbles, title, value

PATH = "ds_config.json"
TRAIN, MICRO, STEPS = "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps"


def config(train: object = None, micro: object = None, steps: object = None, **others: object) -> str:
    """A configuration with those of the three sizes that are given."""
    given = {TRAIN: train, MICRO: micro, STEPS: steps}
    return json.dumps({"zero_optimization": {"stage": 2}, **{key: size for key, size in given.items() if size is not None}, **others})


def solved(text: str, world: int) -> tuple[int | str | None, ...]:
    """Global batch, micro batch and accumulation on `world` processes."""
    stated = sizes(text, PATH, world_size=world).stated
    return tuple(value(stated.get(name)) for name in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS))


# By hand from _set_batch_related_parameters: the rows of DeepSpeed's own tests/unit/runtime/test_ds_config_dict.py, and some more.
@pytest.mark.parametrize(
    ("given", "world", "expected"),
    [
        pytest.param((32, 16, 1), 2, (32, 16, 1), id="all three"),
        pytest.param((32, 8, None), 2, (32, 8, 2), id="accumulation follows"),
        pytest.param((32, None, 2), 2, (32, 8, 2), id="micro follows"),
        pytest.param((None, 8, 2), 2, (32, 8, 2), id="batch follows"),
        pytest.param((32, None, None), 2, (32, 16, 1), id="batch alone"),
        pytest.param((None, 16, None), 2, (32, 16, 1), id="micro alone"),
        pytest.param((24, 3, None), 1, (24, 3, 8), id="on one"),
        pytest.param((96, None, 3.0), 4, (96, 8, 3), id="a whole float"),
    ],
)
def test_two_sizes_give_the_third(given: tuple[object, ...], world: int, expected: tuple[int, int, int]) -> None:
    text = config(*given)
    assert solved(text, world) == expected
    assert all(isinstance(each, Verified) for each in outcomes("GBS202", text, PATH, world_size=world))


def kinds(found: list[Outcome]) -> list[type]:
    return [type(each) for each in found]


@pytest.mark.parametrize(
    ("given", "world"),
    [
        pytest.param((33, 17, None), 2, id="floors to 0 steps"),
        pytest.param((100, 3, None), 8, id="4 steps, product 96"),
        pytest.param((33, None, 2), 2, id="micro 8, product 32"),
        pytest.param((4, None, None), 8, id="micro 0"),
        pytest.param((100, None, None), 8, id="micro 12, product 96"),
    ],
)
def test_what_was_floored_does_not_give_the_batch_back(given: tuple[object, ...], world: int) -> None:
    assert kinds(outcomes("GBS202", config(*given), PATH, world_size=world)) == [Finding]


@pytest.mark.parametrize("given", [(33, 17, 2), (32, 18, 1), (256, 4, 4)])
def test_three_sizes_that_disagree_are_a_conflict(given: tuple[int, int, int]) -> None:
    found = sizes(config(*given), PATH, world_size=2).stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(found, Conflict)


def test_without_a_world_nothing_is_wrong_yet() -> None:
    found = outcomes("GBS202", config(64, 4), PATH)
    assert kinds(found) == [Undetermined]
    assert not found[0].claim  # type: ignore[union-attr]


def test_three_sizes_say_on_how_many_processes_they_hold() -> None:
    assert value(sizes(config(64, 4, 2), PATH).stated[Name.WORLD_SIZE]) == 8
    assert kinds(outcomes("GBS202", config(65, 4, 2), PATH)) == [Finding]


@pytest.mark.parametrize(
    ("key", "size", "treatment"),
    [
        pytest.param(TRAIN, "auto", None, id="auto"),
        pytest.param(STEPS, 2.0, None, id="whole float"),
        pytest.param(MICRO, "8", "stops", id="quoted"),
        pytest.param(MICRO, "eight", "stops", id="text"),
        pytest.param(MICRO, 0, "stops", id="zero"),
        pytest.param(STEPS, -1, "stops", id="negative"),
        pytest.param(TRAIN, [160], "stops", id="list"),
        pytest.param(STEPS, 4.5, "stops", id="fraction"),
    ],
)
def test_values_are_compared_as_they_are_loaded(key: str, size: object, treatment: str | None) -> None:
    text = json.dumps({"zero_optimization": {"stage": 2}, key: size})
    assert stumbles(text, PATH).get(key) == treatment


def test_null_is_as_good_as_absent() -> None:
    assert solved('{"zero_optimization": {"stage": 2}, "train_batch_size": 64, "gradient_accumulation_steps": null}', 8) == (64, 8, 1)


def test_auto_is_left_to_the_trainer() -> None:
    assert solved(config("auto", "auto", "auto"), 8) == ("auto", "auto", "auto")
    assert solved(config("auto", 4, 2), 8) == (64, 4, 2)
    assert not outcomes("GBS202", config("auto", 4), PATH, world_size=8)


def test_elastic_training_chooses_the_sizes() -> None:
    elastic = {"enabled": True, "max_train_batch_size": 2000, "micro_batch_sizes": [2, 4]}
    assert solved(config(64, 4, 2, elasticity=elastic), 8) == ("elastic", "elastic", "elastic")
    assert solved(config(64, 4, 2, elasticity={**elastic, "enabled": False}), 8) == (64, 4, 2)


def test_sequence_parallelism_divides() -> None:
    text = config(None, 4, 2, sequence_parallel_size=4)
    assert solved(text, 8) == (16, 4, 2)
    assert solved(config(None, 4, 2, tensor_parallel={"autotp_size": 4}), 8) == (64, 4, 2)


def test_a_template_is_not_a_mistake() -> None:
    text = '{"train_batch_size": GLOBAL_BATCH,\n "train_micro_batch_size_per_gpu": 4, // per GPU\n "steps_per_print": 10,}'
    assert title(text, PATH) == "DeepSpeed"
    assert not stumbles(text, PATH)
    assert solved(text, 8)[0] == "placeholder"


@pytest.mark.parametrize(
    "text",
    [
        '{"architectures": ["A"], "train_batch_size": 8, "fp16": {"enabled": true}}',
        '{"train_batch_size": 8, "epochs": 3}',
        '{"pipe-parallel-size": 1, "train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 1}, "steps_per_print": 10}',
        '{"per_device_train_batch_size": 8, "deepspeed": {"zero_optimization": {"stage": 2}}}',
        '{"deepspeed_config": {"zero_stage": 2}, "distributed_type": "DEEPSPEED"}',
    ],
    ids=["model", "somebody's own", "GPT-NeoX", "recipe", "accelerate"],
)
def test_other_files_with_its_keys_are_not_its_own(text: str) -> None:
    assert title(text, PATH) != "DeepSpeed"


def test_a_yaml_file_is_none_of_its_own() -> None:
    assert title(config(64, 4, 2), "ds_config.yaml") is None


@pytest.mark.parametrize(
    "text",
    [
        '{"train_batch_size": 8, "steps_per_print": 10, "fp16": {"enabled": true}}',
        '{"train_micro_batch_size_per_gpu": 1, "bf16": {"enabled": true}}',
        '{"zero_optimization": {"stage": 3}, "gradient_clipping": 1.0}',
    ],
    ids=["batch", "micro", "neither"],
)
def test_its_files_are_recognised_by_their_keys(text: str) -> None:
    assert title(text, PATH) == "DeepSpeed"
