"""PySlowFast: the batch of one machine, in a file of yacs and in pairs on the command line; worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, titled_batches

FILE = """\
TRAIN:
  BATCH_SIZE: 64
SOLVER:
  OPTIMIZING_METHOD: sgd
MODEL:
  MODEL_NAME: SlowFast
NUM_GPUS: 8
NUM_SHARDS: 2
"""
RUN = "python tools/run_net.py --cfg configs/a.yaml"


@pytest.mark.parametrize(
    ("more", "batch"),
    [
        pytest.param("", 128, id="64 on each of 2"),
        pytest.param("TRAIN.BATCH_SIZE 32", 64, id="32 on each of 2"),
        pytest.param("--num_shards 4 NUM_GPUS 4 NUM_SHARDS 1", 256, id="64 on each of 4"),
    ],
)
def test_gpus_of_a_machine_share_its_batch(tmp_path: Path, more: str, batch: int) -> None:
    report = checked(tmp_path, {"configs/a.yaml": FILE, "run.sh": f"{RUN} {more}\n"})
    assert titled_batches(report) == [("PySlowFast", batch)]
    assert codes(report) == []


def test_machines_times_gpus_are_what_trains(tmp_path: Path) -> None:
    (run,) = (run for file in checked(tmp_path, {"configs/a.yaml": FILE}).files for run in file.runs)
    found = [run.geometry.value(name) for name in ("micro_batch_size", "world_size", "global_batch_size")]
    assert found == [8, 16, 128]  # 64 / 8, 2 x 8, 8 x 16


@pytest.mark.parametrize(
    ("machines", "batch"),
    [
        pytest.param(1, 64, id="8 x 8 times"),
        pytest.param(4, 64, id="32 x 2 times"),
        pytest.param(3, None, id="24 x 2, and more for another"),
    ],
)
def test_timesformer_accumulates_up_to_its_batch(tmp_path: Path, machines: int, batch: int | None) -> None:
    file = FILE.replace("64", "8") + "TIMESFORMER:\n  ATTENTION_TYPE: 'divided'\n"
    report = checked(tmp_path, {"configs/a.yaml": file, "run.sh": f"{RUN} --num_shards {machines}\n"})
    assert titled_batches(report) == [("TimeSformer", batch)]


def test_a_batch_that_the_gpus_can_not_share(tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"configs/a.yaml": FILE.replace("64", "60")})) == ["GBS202"]


@pytest.mark.parametrize("file", [FILE.replace("SOLVER:\n  OPTIMIZING_METHOD", "OPTIM:\n  METHOD"), FILE.replace("  MODEL_NAME", "  TYPE")])
def test_others_have_their_own(tmp_path: Path, file: str) -> None:
    assert not any(each.runs for each in checked(tmp_path, {"configs/a.yaml": file}).files)


def test_repeated_augmentation_is_another_batch(tmp_path: Path) -> None:
    (run,) = (run for file in checked(tmp_path, {"configs/a.yaml": FILE + "AUG:\n  NUM_SAMPLE: 2\n"}).files for run in file.runs)
    assert run.geometry.value("global_batch_size") is None
