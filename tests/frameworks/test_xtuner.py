"""XTuner: a Python module whose names mmengine's Runner takes as the configuration; batches worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import FileReport
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import check

CONFIG = """\
from mmengine.optim import AmpOptimWrapper
from xtuner.engine.runner import TrainLoop

max_length = 2048
sequence_parallel_size = {sequence}
batch_size = {micro}  # per_device
accumulative_counts = {accumulation}{comment}
accumulative_counts *= sequence_parallel_size
data = dict(max_length=max_length, pack_to_max_length=True)
train_dataloader = dict(batch_size=batch_size, dataset=data)
optim_wrapper = dict(type=AmpOptimWrapper, accumulative_counts=accumulative_counts)
"""


def config(micro: int = 1, accumulation: int = 16, sequence: int = 1, comment: str = "") -> str:
    return CONFIG.format(micro=micro, accumulation=accumulation, sequence=sequence, comment=f"  # {comment}" if comment else "")


def file(folder: Path, text: str, gpus: int | None = None, **others: str) -> FileReport:
    tree = WorkTree(write(folder, {f"{name}.py": each for name, each in {"config": text, **others}.items()}))
    report = check(tree, (), Settings(), CommandLineHardware(world_size=gpus), keep_runs=True)
    return next(each for each in report.files if each.path == "config.py")


def sizes(found: FileReport, *names: str) -> list[int | None]:
    return [found.runs[0].geometry.value(name) for name in names]


BATCH = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("batch_size = 4\ntrain_dataloader = dict(batch_size=4)\noptim_wrapper = dict()\n", id="another user of mmengine"),
        pytest.param("import xtuner\nbatch_size = 4\naccumulative_counts = 2\n", id="names alone"),
        pytest.param(
            "import xtuner\ndef main():\n    train_dataloader = dict(batch_size=1)\n    optim_wrapper = dict()\n", id="a function"
        ),
    ],
)
def test_what_is_not_a_configuration_of_xtuner_says_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.py").write_text(text, encoding="utf-8")
    assert not any(each.framework for each in check(WorkTree(tmp_path), (), Settings(), CommandLineHardware()).files)


@pytest.mark.parametrize(
    ("micro", "accumulation", "sequence", "gpus", "expected"),
    [(1, 16, 1, 8, [1, 16, 128]), (2, 4, 4, 32, [2, 16, 256]), (1, 8, 8, 8, [1, 64, 64])],  # micro x accumulation x (GPUs / sequence)
)
def test_the_batch(tmp_path: Path, micro: int, accumulation: int, sequence: int, gpus: int, expected: list[int]) -> None:
    assert sizes(file(tmp_path, config(micro, accumulation, sequence), gpus), *BATCH) == expected


def test_packed_rows_are_full(tmp_path: Path) -> None:
    assert sizes(file(tmp_path, config(), 8), Name.TOKENS_PER_STEP) == [128 * 2048]


def test_the_sampler_of_batches_wins_over_the_loader(tmp_path: Path) -> None:
    text = config(4).replace("batch_size=batch_size,", "batch_size=batch_size, batch_sampler=dict(batch_size=1),")
    assert sizes(file(tmp_path, text), *BATCH[:2]) == [1, 16]


def test_what_another_file_may_set_is_unknown_instead_of_a_default(tmp_path: Path) -> None:
    text = config().replace(", accumulative_counts=accumulative_counts", "")
    assert sizes(file(tmp_path, text), *BATCH[:2]) == [1, 1]
    assert sizes(file(tmp_path, "from .base import *\n" + text), *BATCH[:2]) == [1, None]
    base = "optim_wrapper = dict(accumulative_counts=8)\n"
    assert sizes(file(tmp_path, "_base_ = './base.py'\n" + text, base=base), *BATCH[:2]) == [1, 8]
    missing = file(tmp_path, "_base_ = './missing.py'\n" + text)
    assert sizes(missing, *BATCH[:2]) == [1, None]


@pytest.mark.parametrize(
    ("comment", "micro", "accumulation", "sequence"),
    [
        ("bs = 1 GPU * 1 batch_size_per_device * 16 acc", 1, 16, 1),
        ("1bs * 1acc * 64gpu = 64 batchsize", 1, 1, 1),
        ("2bs * 16acc * 4gpu = 128 batchsize", 2, 16, 1),
        ("total bs = 1 bs_per_device * 8 gpus * 2 acc = 16", 1, 2, 1),
        ("total bs = 1 bs_per_device * 2 gpus * 1 acc = 2", 1, 1, 2),
        ("total batch = 32gpus * batch_size_per_device 1 * acc 1 = 32", 1, 1, 1),
        ("bs = 32 gpus * 1 batch_size_per_device * 8 acc / 8 sequence parallel", 1, 1, 8),
        ("bs per device 1 * acc 1 * 128 gpus = 128 total bs", 1, 1, 1),
    ],
)
def test_comments_that_are_right(tmp_path: Path, comment: str, micro: int, accumulation: int, sequence: int) -> None:
    found = file(tmp_path, config(micro, accumulation, sequence, comment))
    assert (found.verdict, [each.message for each in found.findings]) == ("verified", [])


@pytest.mark.parametrize(
    "comment",
    [
        "bs = 1 GPU * 1 batch_size_per_device * 16 acc",
        "total bs = 1 bs_per_device * 8 gpus * 2 acc = 16",
        "1bs * 4acc * 32gpu = 128 batchsize",
    ],
)
def test_comments_that_are_wrong(tmp_path: Path, comment: str) -> None:
    assert len(file(tmp_path, config(1, 1, 1, comment)).findings) == 1
