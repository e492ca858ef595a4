"""A launch that gives another batch than its recipe claims: certain, unless its own command line gives every factor of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.launches.building import checked, recipe

LAUNCH = "accelerate launch --num_processes 4 train.py --config sft.yaml"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param("--per_device_train_batch_size 8 --gradient_accumulation_steps 4", [], id="8 x 4 x 4: all that is claimed"),
        pytest.param("", ["error"], id="4 x 4 x 4, of the recipe's own settings"),
        pytest.param("--gradient_accumulation_steps 2", ["error"], id="4 x 2 x 4, of the recipe's micro batch"),
        # Like the experiments of a fork of nanoGPT whose config file explains the batch that it has by itself.
        pytest.param("--per_device_train_batch_size 2 --gradient_accumulation_steps 2", ["warning"], id="2 x 2 x 4, nothing of the recipe"),
    ],
)
def test_a_launch_with_factors_of_its_own_is_a_warning(flags: str, expected: list[str], tmp_path: Path) -> None:
    report = checked(tmp_path, {"sft.yaml": recipe(), "run.sh": f"{LAUNCH} {flags}\n"})
    assert [each.severity for each in report.findings() if each.code == "GBS301"] == expected


def test_what_a_script_says_of_its_own_factors_is_certain(tmp_path: Path) -> None:
    said = f"# effective batch size 128\n{LAUNCH} --per_device_train_batch_size 2 --gradient_accumulation_steps 2\n"
    report = checked(tmp_path, {"sft.yaml": recipe(comment=""), "run.sh": said})
    assert [each.severity for each in report.findings() if each.code == "GBS301"] == ["error"]
