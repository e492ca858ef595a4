"""InternEvo: rows of a micro batch times micro batches times ranks that have data of their own.

The modules are like configs/7B_sft.py of InternLM/InternEvo at c628a8c.
"""

from pathlib import Path

import pytest

from pytest_gbs.api import KEEP_RUNS, check
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.settings import Settings
from tests.launches.building import checked

MODULE = """\
SEQ_LEN = 2048
data = dict(seq_len=SEQ_LEN, micro_num=4, micro_bsz=2, total_steps=50000, rampup_batch_size="", train_folder=None)
parallel = dict(zero1=dict(size=-1), tensor=dict(size=1, mode="mtp"), pipeline=dict(size=1, interleaved_overlap=True))
"""


def batch(folder: Path, text: str) -> list[int | None]:
    """The batches of the recipes of a repository with this module alone, on 16 GPUs."""
    (folder / "sft.py").write_text(text, encoding="utf-8")
    report = check(WorkTree(folder), (), Settings(), CommandLineHardware(world_size=16), KEEP_RUNS)
    return [run.geometry.value("global_batch_size") for file in report.files for run in file.runs]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("micro_bsz=2, ", "", [], id="another framework's data"),
        pytest.param("data = dict", "data = build", [], id="data that is not plain"),
        pytest.param("micro_num=4", "micro_num=count()", [None], id="a number that is computed"),
    ],
)
def test_what_the_module_does_not_fix_is_unknown(old: str, new: str, expected: list[None], tmp_path: Path) -> None:
    assert old in MODULE
    assert batch(tmp_path, MODULE.replace(old, new)) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("-", "-", 128, id="2 x 4 x 16"),
        pytest.param('size=""', 'size="2 2 100"', 128, id="the last of a batch that grows"),
        pytest.param("tensor=dict(size=1", "tensor=dict(size=2", 64, id="2 x 4 x 8"),
        pytest.param('tensor=dict(size=1, mode="mtp")', "tensor=4", 32, id="2 x 4 x 4, a whole number"),
        pytest.param("pipeline=dict(size=1", "pipeline=dict(size=4", 32, id="2 x 4 x 4, of the pipeline"),
    ],
)
def test_the_batch_of_a_module(old: str, new: str, expected: int, tmp_path: Path) -> None:
    assert batch(tmp_path, MODULE.replace(old, new)) == [expected]


def test_a_claim_is_checked_against_it(tmp_path: Path) -> None:
    said = MODULE.replace("data = dict", "# global batch size 128 on 8 GPUs\ndata = dict")
    assert [each.code for each in checked(tmp_path, {"sft.py": said}).findings()] == ["GBS101"]
