from pathlib import Path

import pytest

from pytest_gbs.cli import main

SFT = """\
# Config for 2 nodes of 8 GPUs with GBS 128
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
per_device_train_batch_size: 4
gradient_accumulation_steps: {steps}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_that_is_not_a_recipe_has_no_stages(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "plain.yaml").write_text("colour: blue\n")
    assert main(["debug", "plain.yaml"]) == 0
    said = capsys.readouterr()
    assert "  run  " not in said.out
    assert said.err == ""


def test_each_stage_of_a_recipe_is_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sft.yaml").write_text(SFT.format(steps=3))
    assert main(["debug", "sft.yaml"]) == 0
    said = capsys.readouterr().out
    # 4 x 3 x 16 = 192, not 128.
    assert "framework   trl" in said
    assert "micro_batch_size  4  file per_device_train_batch_size at sft.yaml:5:30" in said
    assert "states, grammar batch-phrase, sft.yaml:1:41" in said
    assert "world_size=16 (derived): fails, 192" in said
    assert "judged  by product: error: comment says 128, but the settings give 192" in said
    assert "GBS101  violated" in said
    assert said.endswith("  verdict     violated\n")


def test_a_claim_that_holds_is_verified_in_its_world(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "sft.yaml").write_text(SFT.format(steps=2))
    assert main(["debug", "sft.yaml"]) == 0
    said = capsys.readouterr().out
    assert "holds, 128" in said
    assert "judged  by product: verified" in said


def test_a_missing_file_is_a_usage_error(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["debug", "nothing.yaml"]) == 2
    assert "nothing.yaml" in capsys.readouterr().err
