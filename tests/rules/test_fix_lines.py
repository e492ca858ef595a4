"""What a finding asks its reader to do."""

from pathlib import Path

import pytest

from tests.launches.building import checked

_RECIPE = "model_name_or_path: my/model\ndataset_name: my/data\nmax_length: 4096\nper_device_train_batch_size: 4\n"


@pytest.mark.parametrize(
    ("code", "recipe", "reported"),
    [
        ("GBS002", f"{_RECIPE}gradient_accumulation_steps: 2\nseed: 1\ngradient_accumulation_steps: 8\n", "keep one of the two"),
        ("GBS003", f"{_RECIPE}gradient_accumulation_steps: -1\n", "write a whole number, 1 or more"),
        ("GBS103", f"# global batch size: 128\n{_RECIPE}# effective batch size: 256\n", "change one of the two comments"),
        (
            "GBS206",
            f"# global batch size: 64 on 8 GPUs\n{_RECIPE}gradient_accumulation_steps: 2\nauto_find_batch_size: true\n",
            "set auto_find_batch_size to false, or remove the claim",
        ),
    ],
)
def test_what_is_reported(code: str, recipe: str, reported: str, tmp_path: Path) -> None:
    findings = checked(tmp_path, {"sft.yaml": recipe}).findings()
    assert [finding.holds for finding in findings if finding.code == code] == [reported]
