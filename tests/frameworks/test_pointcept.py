"""Pointcept: a Python module with parents and a batch over all GPUs, started by a script with options; worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

BASE = "batch_size = 16\nbatch_size_val = None\neval_epoch = 100\ngradient_accumulation_steps = 1\n"
FILE = "_base_ = ['../_base_/run.py']\nbatch_size = 24  # bs: total bs in all gpus\nmodel = dict(type='Net')\noptimizer = dict(lr=1)\n"
STARTER = """\
GPUS=None
MACHINES=1
while getopts "d:c:g:m:" opt; do
  case $opt in
    d) DATASET=$OPTARG ;;
    c) CONFIG=$OPTARG ;;
    g) GPUS=$OPTARG ;;
    m) MACHINES=$OPTARG ;;
  esac
done
python exp/code/tools/train.py --config-file configs/${DATASET}/${CONFIG}.py --num-gpus "$GPUS" --num-machines "$MACHINES"
"""
FILES = {"configs/_base_/run.py": BASE, "configs/rooms/a.py": FILE, "scripts/train.sh": STARTER}


@pytest.mark.parametrize(
    ("more", "batch", "found"),
    [
        pytest.param("-g 4", 24, [], id="24 over 4"),
        pytest.param("-m 2 -g4", 24, [], id="24 over 8"),
        pytest.param("-m 2 -g 8", 24, ["GBS202"], id="24 over 16"),
    ],
)
def test_all_gpus_share_a_batch(tmp_path: Path, more: str, batch: int, found: list[str]) -> None:
    report = checked(tmp_path, {**FILES, "run.sh": f"sh scripts/train.sh -d rooms -c a {more}\n"})
    assert titled_batches(report) == [("Pointcept", batch)]
    assert codes(report) == found
    words = "batch_size 24 is not divisible by data-parallel size 16; Pointcept stops at start"
    assert all(each.message == words for each in report.findings())


def test_it_accumulates_forward_passes(tmp_path: Path) -> None:
    report = checked(tmp_path, {**FILES, "configs/rooms/a.py": FILE + "gradient_accumulation_steps = 2\n"})
    (run,) = (run for file in report.files for run in file.runs)
    assert [run.geometry.value(name) for name in ("global_batch_size", "gradient_accumulation_steps")] == [48, 2]


def test_another_module_is_none(tmp_path: Path) -> None:
    assert not any(each.runs for each in checked(tmp_path, {"a.py": "batch_size = 8\nmodel = dict(a=1)\noptimizer = dict(lr=1)\n"}).files)
