"""What comments beside keys state, judged in the world that they name."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.report import FileReport, Verdict
from pytest_gbs.model.settings import Settings
from tests.support import check


def checked(folder: Path, name: str, text: str) -> FileReport:
    (folder / name).write_text(text, encoding="utf-8")
    report = check(WorkTree(folder), (), Settings(), Given())
    (file,) = (file for file in report.files if file.path == name)
    return file


NANOTRON = """\
general: {{project: p, run: r}}
model: {{ddp_bucket_cap_mb: 25}}
optimizer: {{zero_stage: 0}}
parallelism: {{dp: {dp}, pp: 1, tp: 1}}
tokens:
  # batch_accumulation_per_replica * micro_batch_size * dp = 1 * 32 * 16 = 512
  # 512 * 1024 = 524288 tokens per step
  batch_accumulation_per_replica: 1
  micro_batch_size: 32
  sequence_length: 1024
  train_steps: 10
"""


def test_ranks_that_the_file_sets_and_the_comment_names_agree(tmp_path: Path) -> None:
    assert checked(tmp_path, "a.yaml", NANOTRON.format(dp=16)).findings == ()


def test_ranks_that_the_file_sets_are_a_setting_that_a_comment_may_have_wrong(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, "a.yaml", NANOTRON.format(dp=2)).findings
    assert (finding.code, finding.message) == ("GBS101", "comment says 512, but the settings give 64")


SCRIPT = """\
#!/bin/bash
micro=1 # -> batch_size will be {said} if 16 gpus
gpus=$(nvidia-smi -L | wc -l)
torchrun --nproc_per_node {gpus} train.py --model_name_or_path my/model --per_device_train_batch_size $micro \\
    --gradient_accumulation_steps 1 --output_dir out
"""
TRAIN = "from transformers import HfArgumentParser, Trainer, TrainingArguments\n"


@pytest.mark.parametrize(
    ("said", "gpus", "verdict", "codes"),
    [
        pytest.param(16, "$gpus", Verdict.VERIFIED, [], id="in order on the GPUs that it names"),
        pytest.param(32, "$gpus", Verdict.VIOLATED, ["GBS301"], id="false on the GPUs that it names"),
        pytest.param(8, "8", Verdict.VERIFIED, [], id="GPUs that are known are those of the launch"),
    ],
)
def test_a_condition_in_a_script_is_judged_where_the_launch_leaves_it_open(
    tmp_path: Path, said: int, gpus: str, verdict: str, codes: list[str]
) -> None:
    (tmp_path / "train.py").write_text(TRAIN, encoding="utf-8")
    file = checked(tmp_path, "run.sh", SCRIPT.format(said=said, gpus=gpus))
    assert (file.verdict, [finding.code for finding in file.findings]) == (verdict, codes)
