"""Programs in which Hydra composes Lightning's Trainer and a data module of their own.

The files are like training/configs of Dao-AILab/flash-attention at 0251105 and train/configs of HazyResearch/based at 32c1bd4: a global
batch, of which the accumulation is what is left after batch, devices and nodes.
"""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked

PROGRAM = """\
import hydra
from omegaconf import OmegaConf

OmegaConf.register_new_resolver("eval", eval)
OmegaConf.register_new_resolver("div_up", lambda x, y: (x + y - 1) // y)

@hydra.main(config_path="configs", config_name="config.yaml")
def main(config):
    trainer = hydra.utils.instantiate(config.trainer)
"""
CONFIG = """\
defaults:
  - _self_
  - trainer: default
  - datamodule: text
  - experiment: null
"""
TRAINER = "_target_: pytorch_lightning.Trainer\nmax_epochs: 10\n"
DATA = "_target_: src.datamodules.text.TextModule\nbatch_size: 4\n"
EXPERIMENT = """\
# @package _global_
trainer:
  devices: 4
  num_nodes: 1
  accumulate_grad_batches: ${div_up:${train.rows}, ${eval:${trainer.devices} * ${datamodule.batch_size} * ${trainer.num_nodes}}}
datamodule:
  batch_size: 8
train:
  rows: 256
"""
FILES = {
    "run.py": PROGRAM,
    "configs/config.yaml": CONFIG,
    "configs/trainer/default.yaml": TRAINER,
    "configs/datamodule/text.yaml": DATA,
    "configs/experiment/base.yaml": EXPERIMENT,
}


def batch(folder: Path, command: str, **changes: str) -> list[int | None]:
    """The batches of the launches of a repository with these files and `command`; `changes` are of their texts."""
    texts = {path: text.replace(changes.get("old", "-"), changes.get("new", "-")) for path, text in FILES.items()}
    return batches(checked(folder, {**texts, "run.sh": command + "\n"}))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("pytorch_lightning.Trainer", "src.Trainer", [], id="a trainer of its own"),
        pytest.param("pytorch_lightning.Trainer", "pytorch_lightning.trainer.Trainer", [256], id="the trainer by its module"),
        pytest.param("lambda x, y: (x + y - 1) // y", "div_up", [None], id="a function that is not plain"),
        pytest.param("devices: 4", "devices: auto", [None], id="devices of the machine"),
        pytest.param("num_nodes: 1", "num_nodes: 1\n  strategy: {_target_: src.Strategy}", [None], id="a strategy of its own"),
    ],
)
def test_what_the_files_do_not_fix_is_unknown(old: str, new: str, expected: list[int | None], tmp_path: Path) -> None:
    assert batch(tmp_path, "python run.py experiment=base", old=old, new=new) == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        pytest.param("python run.py experiment=base", 256, id="8 x 8 x 4"),
        pytest.param("python run.py experiment=base trainer.devices=8 trainer.num_nodes=2", 256, id="8 x 2 x 16"),
        pytest.param("python run.py experiment=base datamodule.batch_size=48", 384, id="48 x 2 x 4: 256 / 192 rounded up"),
        pytest.param("python run.py +trainer.gpus=2", 8, id="4 x 1 x 2, as it was called before"),
        pytest.param("python run.py +trainer.gpus=[1,3] +trainer.strategy=ddp", 8, id="4 x 1 x 2, by their numbers"),
        pytest.param("python run.py +trainer.gpus=2 +trainer.accelerator=dp", None, id="one batch for both"),
        pytest.param("python run.py +trainer.devices=2", 8, id="4 x 1 x 2, without the experiment"),
    ],
)
def test_the_batch_of_a_launch(command: str, expected: int | None, tmp_path: Path) -> None:
    assert batch(tmp_path, command) == [expected]


# 64 rows of one process are 64 of all; of four processes each has 16 or 64, which the module decides.
@pytest.mark.parametrize(
    ("trainer", "command", "expected"),
    [
        ("devices: 1", "", 64),
        ("devices: 1", "+trainer.accumulate_grad_batches=4", 256),
        ("devices: 1", "data.batch_size=32", 32),
        ("devices: 4", "", None),
        ("devices: 1", "+trainer.num_nodes=2", None),
        ("devices: auto", "", None),
    ],
)
def test_a_module_that_may_share_its_batch_has_all_of_it_on_one_device(
    trainer: str, command: str, expected: int | None, tmp_path: Path
) -> None:
    files = {
        "src/train.py": PROGRAM,
        "src/configs/config.yaml": "defaults:\n  - _self_\n  - data: mnist\n  - trainer: default\n",
        "src/configs/data/mnist.yaml": "_target_: src.data.mnist.MNISTDataModule\nbatch_size: 64\n",
        "src/configs/trainer/default.yaml": f"_target_: lightning.pytorch.trainer.Trainer\naccelerator: cpu\n{trainer}\n",
        "run.sh": f"python src/train.py {command}\n",
    }
    assert batches(checked(tmp_path, files)) == [expected]
