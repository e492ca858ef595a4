"""DDPO and Flow-GRPO: functions fill a ConfigDict, one starts from another, and a launch names its function."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report
from tests.launches.building import batches, checked, codes, launched

BASE = """\
import ml_collections


def get_config():
    config = ml_collections.ConfigDict()
    config.sample = sample = ml_collections.ConfigDict()
    sample.{} = 1
    sample.num_batches_per_epoch = 2
    sample.num_image_per_prompt = 1
    config.train = train = ml_collections.ConfigDict()
    train.batch_size = 1
    train.gradient_accumulation_steps = 1
    return config
"""
LOADED = 'import imp\nimport os\n\nbase = imp.load_source("base", os.path.join(os.path.dirname(__file__), "base.py"))\n'
GROUPS = f"""\
{LOADED}

def plain():
    config = base.get_config()
    config.sample.num_image_per_prompt = 8
    return config


def ocr():
    gpu_number = 8
    config = plain()
    config.sample.train_batch_size = 4
    config.sample.num_batches_per_epoch = int(24 / (gpu_number * config.sample.train_batch_size / config.sample.num_image_per_prompt))
    config.train.batch_size = config.sample.train_batch_size
    config.train.gradient_accumulation_steps = config.sample.num_batches_per_epoch // 2
    return config
"""
RUN = "accelerate launch --num_processes {} train_sd3.py --config config/grpo.py:{}"


def report(folder: Path, run: str, *, text: str = GROUPS) -> Report:
    return checked(folder, {"config/base.py": BASE.format("train_batch_size"), "config/grpo.py": text, "run.sh": f"{run}\n"})


@pytest.mark.parametrize(
    ("run", "batch"),
    [
        pytest.param(RUN.format(8, "ocr"), 96, id="4 x 3 x 8: 6 batches of a rollout, 3 to a step"),
        pytest.param(RUN.format(4, "ocr"), 48, id="the same accumulation on other hardware"),
        pytest.param(RUN.format(8, "plain"), 8, id="the values of the other file"),
        pytest.param(RUN.format(8, "ocr").replace("--config ", "--config="), 96, id="with an equals sign"),
        pytest.param(f"{RUN.format(8, 'ocr')} --config.sample.train_batch_size=2", 48, id="a flag: 2 x 3 x 8"),
        pytest.param(f"{RUN.format(8, 'ocr')} --config.train.gradient_accumulation_steps=1", 32, id="a flag: 4 x 8"),
        pytest.param(RUN.format(8, "$WHICH"), None, id="a variable"),
        pytest.param(RUN.format(8, "other"), None, id="no such function"),
    ],
)
def test_a_launch_names_the_function_that_makes_its_settings(run: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(report(tmp_path, run)) == ([batch] if batch is not None else [])


def test_images_that_are_sampled_at_once_are_whole_groups(tmp_path: Path) -> None:
    assert codes(report(tmp_path / "a", RUN.format(2, "ocr"))) == []  # 2 x 4 images, 8 of a prompt
    assert codes(report(tmp_path / "b", RUN.format(3, "ocr"))) == ["GBS205"]


def test_what_a_function_of_another_kind_sets_is_not_known(tmp_path: Path) -> None:
    text = GROUPS.replace("config = base.get_config()", "config = elsewhere()")
    (run,) = launched(report(tmp_path, RUN.format(8, "ocr"), text=text))
    assert run.geometry.value(Name.GLOBAL_BATCH_SIZE) == 96
    text = text.replace("    config.train.gradient_accumulation_steps = config.sample.num_batches_per_epoch // 2\n", "")
    found = report(tmp_path / "b", RUN.format(8, "ocr"), text=text)
    assert batches(found) == []


@pytest.mark.parametrize("key", ["train.algorithm", "sample.mini_num_image_per_prompt"])
def test_programs_with_another_loop_are_not_known(key: str, tmp_path: Path) -> None:
    text = GROUPS.replace("    gpu_number = 8\n    config = plain()\n", f"    gpu_number = 8\n    config = plain()\n    config.{key} = 2\n")
    assert batches(report(tmp_path, RUN.format(8, "ocr"), text=text)) == []


DDPO = f"""\
{LOADED}

def aesthetic():
    config = base.get_config()
    config.sample.batch_size = 8
    config.sample.num_batches_per_epoch = 4
    config.train.batch_size = 4
    config.train.gradient_accumulation_steps = {{}}
    return config
"""


@pytest.mark.parametrize(
    ("accumulation", "batch", "found"),
    [
        pytest.param(2, 64, [], id="4 x 2 x 8 of 8 x 4 x 8"),
        pytest.param(3, 96, ["GBS204"], id="4 x 3 divide 8 x 4 on no hardware"),
    ],
)
def test_a_rollout_is_whole_batches(accumulation: int, batch: int, found: list[str], tmp_path: Path) -> None:
    files = {"config/base.py": BASE.format("batch_size"), "config/dgx.py": DDPO.format(accumulation)}
    run = "accelerate launch --num_processes 8 scripts/train.py --config config/dgx.py:aesthetic\n"
    judged = checked(tmp_path, {**files, "run.sh": run})
    assert (batches(judged), codes(judged)) == ([batch], found)


def test_a_comment_is_compared_with_it(tmp_path: Path) -> None:
    said = GROUPS.replace("num_batches_per_epoch // 2\n", "num_batches_per_epoch // 2  # global batch size {} on 8 GPUs\n")
    assert codes(report(tmp_path / "a", RUN.format(8, "ocr"), text=said.replace("{}", "96"))) == []
    assert codes(report(tmp_path / "b", RUN.format(8, "ocr"), text=said.replace("{}", "80"))) == ["GBS101"]
