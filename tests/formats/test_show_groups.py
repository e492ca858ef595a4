"""What `gbs show` says of groups of completions where the number of GPUs is not known."""

from pathlib import Path

import pytest

from pytest_gbs.cli import main

RECIPE = """\
model_name_or_path: my/model
dataset_name: my/data
{groups}
per_device_train_batch_size: 8
gradient_accumulation_steps: 4
"""


def lines(
    folder: Path, capsys: pytest.CaptureFixture[str], version: str, groups: str = "num_generations: 8\nmax_completion_length: 512"
) -> list[str]:
    """The lines of a GRPO recipe that speak of prompts."""
    (folder / "requirements.txt").write_text(f"{version}\n", encoding="utf-8")
    (folder / "grpo.yaml").write_text(RECIPE.format(groups=groups), encoding="utf-8")
    main(["show", str(folder / "grpo.yaml")])
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines() if line.strip().startswith("prompts per step")]


def test_without_groups_no_prompts_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lines(tmp_path, capsys, "", "max_length: 512") == []


@pytest.mark.parametrize(
    ("version", "wanted"),
    [
        pytest.param("trl==0.15.2", "4 x GPUs", id="completions: 8 x 4 / 8 of each GPU"),
        pytest.param("trl==0.14.0", "32 x GPUs", id="prompts: 8 x 4 of each GPU"),
    ],
)
def test_prompts_per_step_are_a_multiple_of_the_gpus(tmp_path: Path, capsys: pytest.CaptureFixture[str], version: str, wanted: str) -> None:
    assert lines(tmp_path, capsys, version) == [f"prompts per step {wanted}"]
