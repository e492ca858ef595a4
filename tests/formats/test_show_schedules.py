"""Sizes that change while training runs, as `gbs show` prints them."""

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_gbs.cli import main

LEVANTER = """\
data: {{id: my/data}}
model: {{type: llama, seq_len: 1024}}
trainer:
  train_batch_size: {batch}
  per_device_parallelism: 4
  steps_per_eval: 10
"""
STAGES = "[{start: 0, value: 32}, {start: 100, value: 64}, {start: 200, value: 128}]"
NEMO = """\
name: megatron_gpt
trainer: {devices: 8, num_nodes: 1, max_steps: 10}
model: {micro_batch_size: 2, global_batch_size: 64, rampup_batch_size: [16, 8, 300], optim: {name: fused_adam}}
"""


def _reported(capsys: pytest.CaptureFixture[str], folder: Path, text: str, *flags: str) -> str:
    (folder / "run.yaml").write_text(text, encoding="utf-8")
    assert main(["show", *flags, str(folder / "run.yaml")]) == 0
    return capsys.readouterr().out


def test_a_batch_that_stays_has_no_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported = _reported(capsys, tmp_path, LEVANTER.format(batch=128), "--world-size", "8")
    assert "first" not in reported
    assert "last stage" not in reported


def test_what_follows_from_a_schedule_is_reported_with_its_stages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported = _reported(capsys, tmp_path, LEVANTER.format(batch=STAGES), "--world-size", "8")
    lines = {" ".join(line.split()) for line in reported.splitlines()}
    assert "global batch size 128 trainer.train_batch_size, line 4: first 32, 64, then 128" in lines
    assert "micro batch size 4 trainer.per_device_parallelism, line 5" in lines
    assert "accumulation 4 = 128 / (4 x 8): first 1, 2, then 4" in lines
    assert "evaluation every 10 steps = 1,280 samples in the last stage" in lines


def test_a_table_shows_the_first_and_the_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "other.yaml").write_text(LEVANTER.format(batch=128), encoding="utf-8")
    (tmp_path / "run.yaml").write_text(LEVANTER.format(batch=STAGES), encoding="utf-8")
    assert main(["show", "--world-size", "8", str(tmp_path)]) == 0
    _, other, scheduled = (" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
    assert other.startswith("128 4 4 8 ")
    assert scheduled.startswith("32 to 128 4 1 to 4 8 ")


def test_a_stage_that_does_not_divide_has_no_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # On 8 GPUs 16 samples are one micro batch of 2 each, 24 are one and a half.
    assert "= 64 / (2 x 8): first 1, -, 2, -, 3, ..., then 4\n" in _reported(capsys, tmp_path, NEMO)
    quantities: dict[str, Any] = json.loads(_reported(capsys, tmp_path, NEMO, "--format", "json"))["recipes"][0]["quantities"]
    assert quantities["gradient_accumulation_steps"]["stages"] == [1, None, 2, None, 3, None, 4]
