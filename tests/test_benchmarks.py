"""The limits of the published ratios, and the recipes that they are measured with."""

from pathlib import Path

import pytest

from benchmarks.recipes import EACH, make_recipes
from benchmarks.timing import AtLeast, AtMost, Table
from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.settings import Settings
from tests.support import check


@pytest.mark.parametrize(
    ("value", "bound"),
    [
        (1.2, AtMost(1.5, 2.0)),
        (1.9, AtMost(1.5, 2.0)),
        (2.0, AtMost(1.5, 2.0)),
        (12.0, AtLeast(10, 8)),
        (8.0, AtLeast(10, 8)),
        (99.0, None),
    ],
)
def test_a_ratio_within_its_limit(value: float, bound: AtMost | AtLeast | None, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.tell("one file", value, "x an import", bound)
    assert table.broken == []
    assert "WORSE" not in capsys.readouterr().out


@pytest.mark.parametrize(("value", "bound"), [(2.01, AtMost(1.5, 2.0)), (7.9, AtLeast(10, 8))])
def test_a_ratio_that_became_worse(value: float, bound: AtMost | AtLeast, capsys: pytest.CaptureFixture[str]) -> None:
    table = Table()
    table.tell("one file", value, "x an import", bound)
    assert table.broken == [f"one file: {value:.2f}, limit {bound.limit:g}"]
    assert "WORSE THAN IT MAY BECOME" in capsys.readouterr().out


def test_recipes_to_measure_with(tmp_path: Path) -> None:
    """Each is one for its framework, with the batch that follows by hand, and none has an error."""
    make_recipes(tmp_path, 1)
    report = check(WorkTree(tmp_path), (), Settings(), Given(), keep_runs=True)
    batches = {file.path.split("/")[0]: file.runs[0].geometry.global_batch_size for file in report.recipes()}
    # None but NeMo's states the batch, and nothing counts the GPUs of the others.
    assert batches == {"trl": None, "axolotl": None, "nemo": 2048, "torchtune": None}
    assert batches.keys() == EACH.keys()
    assert [finding for file in report.files for finding in file.findings if finding.severity == "error"] == []
