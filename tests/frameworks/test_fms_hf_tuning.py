import pytest

from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.quantity import Name

from .building import sizes, stumbles, title

RUN = '"model_name_or_path": "my/model", "num_train_epochs": 5.0, "learning_rate": 1e-05, "dataset_text_field": "output", "packing": false'
BATCH = '"per_device_train_batch_size": {micro}, "gradient_accumulation_steps": {steps}'
PATH = "config.json"


def job(*parts: str, data: str = '"training_data_path": "data.json"') -> str:
    """A job of the given members."""
    return "{" + ", ".join(part for part in (RUN, data, *parts) if part) + "}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(job(BATCH, data=""), "TRL (SFT)", id="TRL's keys alone"),
        pytest.param('{"training_data_path": "data.json", "output_dir": "out"}\n', None, id="no training"),
        pytest.param(job(), "fms-hf-tuning", id="data"),
        pytest.param(job('"response_template": "### Label:"', '"max_seq_length": 512'), "fms-hf-tuning", id="more of TRL's keys"),
        pytest.param(job(data='"data_config_path": "data.yaml"'), "fms-hf-tuning", id="a data config"),
    ],
)
def test_its_own_data_keys_tell_it_from_trl(text: str, expected: str | None) -> None:
    assert title(text.replace("{micro}", "1").replace("{steps}", "1"), PATH) == expected


# Global batch = micro x accumulation x processes, by hand.
@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(job(BATCH.format(micro=4, steps=4)), 2, 32, id="4 x 4 x 2"),
        pytest.param(job(), 2, 16, id="defaults 8 x 1"),
        pytest.param(job('"accelerate_launch_args": {"num_processes": 8}'), None, None, id="all GPUs there are, whatever it says"),
    ],
)
def test_the_global_batch_follows(text: str, world: int | None, expected: int | None) -> None:
    hardware = {"world_size": world} if world else {}
    assert sizes(text, PATH, **hardware).value(Name.GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize(("line", "expected"), [("", None), ('"eval_strategy": "no"', None), ('"eval_strategy": "epoch"', 16)])
def test_the_evaluation_batch_is_there_where_something_evaluates(line: str, expected: int | None) -> None:
    assert sizes(job(line), PATH, world_size=2).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize("written", ["4", "true"])
def test_whole_numbers_stay_silent(written: str) -> None:
    assert stumbles(job(BATCH.format(micro=written, steps=written)), PATH) == {}


@pytest.mark.parametrize("written", ['"4"', "4.0", "4.5", "0", "-1", "null", "[4]"])
def test_other_values_are_stumbled_over(written: str) -> None:
    found = stumbles(job(BATCH.format(micro=written, steps=written)), PATH)
    assert found == {"per_device_train_batch_size": Treatment.STOPS_LATE, "gradient_accumulation_steps": Treatment.STOPS}
