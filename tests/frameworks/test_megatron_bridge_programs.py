"""Recipe functions of Megatron Bridge: layouts that resolve, and batches that no data-parallel size of the named hardware divides."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.report import FileReport
from pytest_gbs.model.settings import Settings
from tests.support import check

IMPORT = "from megatron.bridge.recipes.common import _sft_common\n"
RECIPE = '''

def sft_config():
    """Fine-tune.

    Default configuration: {gpus} GPUs
    """
    cfg = _sft_common()
    cfg.model.tensor_model_parallel_size = 2
    cfg.model.pipeline_model_parallel_size = 2
    cfg.model.context_parallel_size = 1
    cfg.train.global_batch_size = {batch}
    cfg.train.micro_batch_size = 4
    return cfg
'''


def files(folder: Path, text: str) -> tuple[FileReport, ...]:
    (folder / "recipes.py").write_text(text, encoding="utf-8")
    return check(WorkTree(folder), (), Settings(), CommandLineHardware(), keep_runs=True).files


def test_functions_of_other_libraries_say_nothing(tmp_path: Path) -> None:
    assert not any(each.framework for each in files(tmp_path, RECIPE.format(gpus=16, batch=36)))


@pytest.mark.parametrize(("gpus", "batch"), [(16, 32), (8, 8), (4, 36)])  # 4 x (GPUs / 4) divides the batch
def test_a_layout_that_fits_its_hardware(tmp_path: Path, gpus: int, batch: int) -> None:
    (found,) = files(tmp_path, IMPORT + RECIPE.format(gpus=gpus, batch=batch))
    assert not found.findings
    sizes = [found.runs[0].geometry.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)]
    assert [size.value for size in sizes if isinstance(size, Quantity)] == [batch, gpus // 4]


def test_a_batch_that_its_hardware_does_not_divide(tmp_path: Path) -> None:
    (found,) = files(tmp_path, IMPORT + RECIPE.format(gpus=16, batch=36))  # 36 / (4 x 4) leaves 4
    assert [each.code for each in found.findings] == ["GBS202"]


def test_what_a_helper_may_change_is_unknown(tmp_path: Path) -> None:
    text = IMPORT + RECIPE.format(gpus=16, batch=36).replace("    return", "    _benchmark_common(cfg)\n    return")
    (found,) = files(tmp_path, text)
    assert not found.findings
