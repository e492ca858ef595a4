"""GBS209 fires where none of the keys is there that a framework needs one of."""

from __future__ import annotations

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


def test_a_file_that_says_nothing_of_the_batch_is_completed_by_the_program(tmp_path: Path) -> None:
    assert found("", tmp_path) == []


@pytest.mark.parametrize(
    "batch",
    [
        ', "gradient_accumulation_steps": 4',
        ', "gradient_accumulation_steps": 4, "train_batch_size": null',
        ', "steps_per_print": 10',
    ],
    ids=["accumulation", "null", "DeepSpeed's own log"],
)
def test_none_of_the_keys_stops(batch: str, tmp_path: Path) -> None:
    message = "train_batch_size or train_micro_batch_size_per_gpu is missing; DeepSpeed stops at start: one of the two needs to be provided"
    assert found(batch, tmp_path) == [("GBS209", "error", message)]
