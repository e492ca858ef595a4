"""Which launcher files are evidence for a recipe, and what is never advised."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report, Verdict
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.rules.claimed import launcher, recipe
from tests.support import check

TWO_NODES = recipe(4, 2, "2 nodes with GBS 128")  # 4 x 2 x (2 x 8 GPUs)


def report(folder: Path, files: dict[str, str]) -> Report:
    return check(WorkTree(write(folder, files)), (), Settings(), Given())


def verdict(folder: Path, name: str, launcher_file: str) -> str | None:
    found = report(folder, {name: TWO_NODES, launcher_file: launcher(8)})
    return next(file.verdict for file in found.files if file.path == name)


@pytest.mark.parametrize(
    ("name", "launcher_file"),
    [
        pytest.param("text/sft.yaml", "vision/accelerate.yaml", id="another project"),
        pytest.param("text/sft.yaml", "vision/experiments/eval/accelerate.yaml", id="deep in another project"),
        pytest.param("text/sft.yaml", "vision/accelerate_configs/one.yaml", id="another project's configurations"),
        pytest.param("work/text/sft.yaml", "work/vision/launch/one.yaml", id="another project of a folder"),
    ],
)
def test_launcher_files_of_another_project_are_not_evidence(name: str, launcher_file: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, name, launcher_file) == Verdict.UNDETERMINED


@pytest.mark.parametrize(
    ("name", "launcher_file"),
    [
        pytest.param("recipes/sft.yaml", "recipes/accelerate.yaml", id="the same folder"),
        pytest.param("recipes/llama/sft/a.yaml", "recipes/accelerate_configs/zero3.yaml", id="a folder of theirs"),
        pytest.param("training_configs/a.yaml", "accelerate_configs/zero3.yaml", id="the repository's configurations"),
        pytest.param("recipes/a.yaml", "accelerate.yaml", id="the root"),
    ],
)
def test_launcher_files_in_a_folder_of_the_recipe_are_evidence(name: str, launcher_file: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, name, launcher_file) == Verdict.VERIFIED


def test_hardware_is_not_advised_by_the_claims_that_wait_for_it(tmp_path: Path) -> None:
    """Two of the three are wrong if a node has 8 GPUs, as the third says."""
    files = {"a.yaml": recipe(4, 2, "2 nodes with GBS 64"), "b.yaml": recipe(4, 2, "4 nodes with GBS 128"), "c.yaml": TWO_NODES}
    found = report(tmp_path, files)
    assert [o.missing for file in found.files for o in file.undetermined] == [(Name.GPUS_PER_NODE,)] * 3
    assert found.advice == "set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides 3 claims"
