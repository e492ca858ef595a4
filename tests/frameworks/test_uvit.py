"""U-ViT: a function fills a ConfigDict with a batch over all processes, and a launch names its file alone."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report
from tests.launches.building import batches, checked, codes, launched

SETTINGS = """\
import ml_collections


def make(**kwargs):
    return ml_collections.ConfigDict(initial_dictionary=kwargs)


def get_config():
    config = ml_collections.ConfigDict()
    config.train = make(
        n_steps=500,
        batch_size=128,
    )
    config.nnet = make(name="small")
    return config
"""
RUN = "accelerate launch --multi_gpu --num_processes {} train_ldm.py --config={}"


def report(folder: Path, run: str, *, text: str = SETTINGS) -> Report:
    return checked(folder, {"configs/small.py": text, "train_ldm.py": "", "run.sh": f"{run}\n"})


@pytest.mark.parametrize(
    ("run", "batch"),
    [
        pytest.param(RUN.format(4, "configs/other.py"), None, id="no such file"),
        pytest.param(RUN.format(4, "configs/small.py:other"), None, id="no such function"),
        pytest.param(RUN.format(4, "configs/small.py").replace("--config=", "--workdir="), None, id="an option for something else"),
        pytest.param(RUN.format(4, "configs/small.py"), (128, 32), id="the file alone"),
        pytest.param(RUN.format(4, "configs/small.py").replace("=configs", " configs"), (128, 32), id="behind a blank"),
        pytest.param(f"{RUN.format(2, 'configs/small.py')} --config.train.batch_size=64", (64, 32), id="a flag"),
    ],
)
def test_a_launch_names_the_file_of_its_settings(run: str, batch: tuple[int, int] | None, tmp_path: Path) -> None:
    found = report(tmp_path, run)
    assert batches(found) == ([batch[0]] if batch else [])
    assert [each.geometry.value(Name.MICRO_BATCH_SIZE) for each in launched(found)] == ([batch[1]] if batch else [])


def test_each_process_takes_as_many_images(tmp_path: Path) -> None:
    assert codes(report(tmp_path / "a", RUN.format(8, "configs/small.py"))) == []
    assert codes(report(tmp_path / "b", RUN.format(6, "configs/small.py"))) == ["GBS202"]  # 128 / 6


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(SETTINGS.replace('make(name="small")', "make(**other())"), id="keys that are not known"),
        pytest.param(SETTINGS.replace("batch_size=128", "mini_batch_size=128"), id="another key"),
        pytest.param(SETTINGS.replace("def get_config", "def build"), id="a function that nothing calls"),
    ],
)
def test_other_settings_are_no_recipe_of_it(text: str, tmp_path: Path) -> None:
    assert batches(report(tmp_path, RUN.format(4, "configs/small.py"), text=text)) == []
