"""A framework that is pinned to a commit: which version that is, nothing says, so that only what all versions do is certain."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.report import Report
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import check

COMMIT = "trl @ git+https://github.com/huggingface/trl.git@019fc6dbaa03b888f9d5c1845f0f690da8ed310c\n"
GRPO = """\
model_name_or_path: my/model
dataset_name: my/prompts
num_generations: {group}
per_device_train_batch_size: {micro}
gradient_accumulation_steps: 8
"""
CLAIM = GRPO.replace("{micro}", "{micro}  # global batch size {batch}")


def _report(folder: Path, text: str, pin: str = COMMIT, processes: int = 1) -> Report:
    tree = WorkTree(write(folder, {"requirements.txt": pin, "grpo.yaml": text}))
    return check(tree, (), Settings(), CommandLineHardware(world_size=processes))


def _reported(report: Report) -> tuple[list[tuple[str, str]], list[str]]:
    """The findings, and what is undetermined."""
    (file,) = (file for file in report.files if file.path == "grpo.yaml")
    return [(each.code, each.severity) for each in file.findings], [each.implies for each in file.undetermined if each.claim]


@pytest.mark.parametrize(
    ("group", "micro", "processes"),
    [
        pytest.param(8, 8, 1, id="whole in a micro batch, as the oldest asks"),
        pytest.param(4, 2, 2, id="whole in the micro batches of both processes"),
    ],
)
def test_groups_that_all_versions_accept_are_in_order(tmp_path: Path, group: int, micro: int, processes: int) -> None:
    assert _reported(_report(tmp_path, GRPO.format(group=group, micro=micro), processes=processes)) == ([], [])


def test_groups_that_older_versions_refuse_are_open(tmp_path: Path) -> None:
    """1 x 8 accumulation holds the group of 8 since 0.17; before that each micro batch had to."""
    report = _report(tmp_path, GRPO.format(group=8, micro=1))
    assert _reported(report) == ([], ["true if trl at 019fc6d is 0.17 or later"])


def test_groups_that_no_version_since_0_15_accepts_are_a_warning(tmp_path: Path) -> None:
    """4 x 8 = 32 completions hold no whole groups of 6, nor do the 4 of a micro batch; 0.14 counts prompts, of which any number will do."""
    findings, _ = _reported(_report(tmp_path, GRPO.format(group=6, micro=4)))
    assert findings == [("GBS205", "warning")]


@pytest.mark.parametrize(
    "pin",
    ["trl==0.17.0\n", COMMIT.replace("019fc6dbaa03b888f9d5c1845f0f690da8ed310c", "v0.17.0"), COMMIT.rpartition("@")[0] + "\n", ""],
    ids=["release", "tag", "main branch", "nothing"],
)
def test_a_version_that_is_known_decides(tmp_path: Path, pin: str) -> None:
    """1 x 8 on one process are 8 completions, in whole groups of 8."""
    report = _report(tmp_path, CLAIM.format(group=8, micro=1, batch=8), pin)
    assert _reported(report) == ([], [])
    assert report.files[0].verdict == "verified"


def test_a_claim_about_what_versions_compute_otherwise_is_open(tmp_path: Path) -> None:
    """8 x 8 = 64 completions since 0.15; before that 8 prompts x 8 generations x 8."""
    for batch in (64, 512, 100):
        findings, open_ = _reported(_report(tmp_path, CLAIM.format(group=8, micro=8, batch=batch)))
        assert (findings, open_) == ([], ["trl is at 019fc6d, and before 0.15 it computes this otherwise"])


def test_a_lock_file_says_between_which_releases_a_commit_lies(tmp_path: Path) -> None:
    """0.16.0.dev0 is after 0.15, which counts completions, and before 0.17: 1 x 1 must hold the group of 8, and does not."""
    (tmp_path / "pyproject.toml").write_text(f'dependencies = ["{COMMIT.strip()}"]\n', encoding="utf-8")
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "trl"\nversion = "0.16.0.dev0"\n', encoding="utf-8")
    assert _reported(_report(tmp_path, GRPO.format(group=8, micro=1), "")) == ([("GBS205", "error")], [])
