"""Scenic and score_sde: functions that fill a ConfigDict with a batch over all devices."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from tests.launches.building import checked, launched

SCENIC = """\
import ml_collections

def get_config(runlocal=''):
  runlocal = bool(runlocal)
  config = ml_collections.ConfigDict()
  config.experiment_name = 'mine'
  config.dataset_name = 'imagenet'
  config.batch_size = 8 if runlocal else 512
  return config
"""
SCORE = """\
import ml_collections

def get_default_configs():
  config = ml_collections.ConfigDict()
  config.training = training = ml_collections.ConfigDict()
  config.training.batch_size = 128
  training.n_iters = 1300001
  config.model = model = ml_collections.ConfigDict()
  model.name = 'ncsnpp'
  return config
"""


def known(folder: Path, text: str) -> list[int | None]:
    """The global batch of each recipe in a program of this text."""
    return [run.geometry.global_batch_size for each in checked(folder, {"config.py": text}).files for run in each.runs]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(SCENIC.replace("experiment_name", "title"), [], id="no experiment"),
        pytest.param(SCENIC.replace("dataset_name", "something"), [], id="neither a data set nor a model"),
        pytest.param(SCENIC.replace("  return", "  config.accum_steps = 2\n  return"), [], id="a project with an accumulation"),
        pytest.param(SCENIC.replace("bool(runlocal)", "is_local(runlocal)"), [None], id="a condition that is not known"),
        pytest.param(SCORE.replace("training.n_iters", "training.steps"), [], id="no iterations"),
        pytest.param(SCORE.replace("128", "count()"), [None], id="a batch that is not known"),
        pytest.param(SCENIC, [512], id="Scenic"),
        pytest.param(SCENIC.replace("runlocal=''", "runlocal='yes'"), [8], id="Scenic on this machine"),
        pytest.param(SCORE, [128], id="score_sde"),
    ],
)
def test_a_function_has_the_batch_of_all_devices(tmp_path: Path, text: str, expected: list[int | None]) -> None:
    assert known(tmp_path, text) == expected


@pytest.mark.parametrize(("flag", "batch"), [("", 128), (" --config.training.batch_size=64", 64)])
def test_a_launch_of_score_sde_names_its_file_and_may_give_another_batch(tmp_path: Path, flag: str, batch: int) -> None:
    files = {"configs/small.py": SCORE.replace("get_default_configs", "get_config"), "main.py": ""}
    found = checked(tmp_path, {**files, "run.sh": f"python main.py --config=configs/small.py --mode=train{flag}\n"})
    assert [run.geometry.value(Name.GLOBAL_BATCH_SIZE) for run in launched(found)] == [batch]
