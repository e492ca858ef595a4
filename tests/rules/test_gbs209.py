"""GBS209 fires where none of the keys is there that a framework needs one of."""

from pathlib import Path

import pytest

from pytest_gbs.model.rule import Example
from tools.examples import check_example

CONFIG = '{{"zero_optimization": {{"stage": 2}}, "gradient_clipping": 1.0{batch}}}'


def found(batch: str, folder: Path) -> list[tuple[str, str, str]]:
    report = check_example(Example((("ds_config.json", CONFIG.format(batch=batch)),)), folder)
    return [(finding.code, finding.severity, finding.message) for finding in report.findings()]


@pytest.mark.parametrize(
    "batch",
    [
        ', "train_batch_size": 64',
        ', "train_micro_batch_size_per_gpu": 4',
        ', "train_micro_batch_size_per_gpu": "auto"',
        ', "train_batch_size": null, "train_micro_batch_size_per_gpu": 4',
        ', "elasticity": {"enabled": true, "max_train_batch_size": 100, "micro_batch_sizes": [2]}',
    ],
    ids=["batch", "micro", "auto", "one of them null", "elastic"],
)
def test_one_of_the_keys_is_enough(batch: str, tmp_path: Path) -> None:
    assert found(batch, tmp_path) == []


@pytest.mark.parametrize("rest", ["", ', "steps_per_print": 2000, "wall_clock_breakdown": false'])
def test_a_file_that_says_nothing_of_the_batch_is_completed_by_the_program(rest: str, tmp_path: Path) -> None:
    assert found(rest, tmp_path) == []


@pytest.mark.parametrize(
    "batch",
    [', "gradient_accumulation_steps": 4', ', "gradient_accumulation_steps": 4, "train_batch_size": null'],
    ids=["accumulation", "null"],
)
def test_none_of_the_keys_stops(batch: str, tmp_path: Path) -> None:
    message = "train_batch_size or train_micro_batch_size_per_gpu is missing; DeepSpeed stops at start: one of the two needs to be provided"
    assert found(batch, tmp_path) == [("GBS209", "error", message)]


FOUNDRY = """\
variables:
  micro: {micro}
global_train_batch_size: 96
{key}max_duration: 2ep
train_loader: {{name: text, dataset: {{max_seq_len: 2048}}}}
optimizer: {{name: decoupled_adamw}}
scheduler: {{name: cosine_with_warmup}}
model: {{name: hf_causal_lm}}
"""


@pytest.mark.parametrize(
    ("micro", "key", "expected"),
    [
        pytest.param("# what fits your machine", "device_train_microbatch_size: ${variables.micro}\n", [], id="a blank to fill in"),
        pytest.param("4", "device_train_microbatch_size: # what fits\n", ["GBS003"], id="a blank in its place"),
        pytest.param("4", "device_train_microbatch_size: ${variables.micro}\n", [], id="filled in"),
        pytest.param("4", "", ["GBS209"], id="no key"),
    ],
)
def test_a_blank_is_a_key(micro: str, key: str, expected: list[str], tmp_path: Path) -> None:
    recipe = FOUNDRY.format(micro=micro, key=key)
    report = check_example(Example((("run.yaml", recipe),)), tmp_path)
    assert [finding.code for finding in report.findings()] == expected


AXOLOTL = "base_model: my/model\nnum_epochs: 1\n"
DATA = "datasets:\n  - path: my/data\n    type: chat_template\n"


@pytest.mark.parametrize(("data", "expected"), [("", []), (DATA, ["GBS209"] * 3)], ids=["another program's file", "a recipe"])
def test_a_recipe_of_axolotl_says_what_it_trains_on(data: str, expected: list[str], tmp_path: Path) -> None:
    report = check_example(Example((("run.yaml", AXOLOTL + data),)), tmp_path)
    assert [finding.code for finding in report.findings()] == expected
