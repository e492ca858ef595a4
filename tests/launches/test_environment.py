"""What recipes take from the environment: variables that the launching script sets, or a file that it sources."""

from pathlib import Path

import pytest

from tests.launches.building import checked, launched

PROGRAM = """\
from nemo.core.config import hydra_runner
from omegaconf import OmegaConf
OmegaConf.register_new_resolver("floor_div", lambda x, y: x // y)
OmegaConf.register_new_resolver("odd", lambda x, y: choose(x, y))
@hydra_runner(config_path="conf", config_name="train")
def main(cfg): ...
"""
RECIPE = """\
trainer:
  devices: ${oc.decode:${oc.env:GPUS,8}}
  num_nodes: ${oc.decode:${oc.env:NODES}}
model:
  micro_batch_size: 1
  global_batch_size: BATCH
  tensor_model_parallel_size: ${oc.decode:${oc.env:TP,1}}
  encoder_seq_length: 4096
  optim: {name: adam}
"""
PRODUCT = "${multiply:${oc.decode:${oc.env:MINI,1}},${floor_div:${multiply:${trainer.devices},${trainer.num_nodes}},2}}"
CONFIG = "export NODES=4\nexport TP=2\nexport MINI=3\n"


def batch(folder: Path, script: str, expression: str = PRODUCT, more: str = "") -> tuple[object, list[str]]:
    """The global batch size of the one launch of a script, and what it assumes."""
    recipe = more + RECIPE.replace("BATCH", expression)
    files = {"train.py": PROGRAM, "conf/train.yaml": recipe, "config_4x8.sh": CONFIG, "run.sh": script}
    found = checked(folder, files)
    (run,) = launched(found)
    return run.geometry.global_batch_size, sorted(assumption.name for assumption in run.assumptions if assumption.by_default)


@pytest.mark.parametrize(
    ("script", "number", "assumed"),
    [
        pytest.param("python train.py\n", None, ["GPUS", "MINI", "TP"], id="NODES has no default"),
        pytest.param("NODES=4\nMINI=3\npython train.py\n", None, ["GPUS", "MINI", "TP"], id="not exported"),
        pytest.param("export NODES=$1\npython train.py\n", None, ["GPUS", "MINI", "TP"], id="an argument"),
        pytest.param("export NODES=4\npython train.py\n", 16, ["GPUS", "MINI", "TP"], id="the others by default"),
        pytest.param("export NODES=4 GPUS=4 MINI=5 TP=1\npython train.py\n", 40, [], id="all of them"),
        pytest.param("export NODES=4 GPUS=$(nproc) MINI=5 TP=1\npython train.py\n", None, [], id="of the machine"),
        pytest.param("export GPUS=${GPUS:-2} NODES=4 MINI=5 TP=1\npython train.py\n", 20, ["GPUS"], id="a default of the script"),
        pytest.param("NODES=2 GPUS=2 MINI=1 TP=1 python train.py\n", 2, [], id="before the command"),
        pytest.param("source config_4x8.sh\nexport GPUS=8\nsrun -n 32 python train.py\n", 48, [], id="a sourced file"),
        pytest.param("set -a\n. ./config_4x8.sh\nset +a\nGPUS=8 python train.py\n", 48, [], id="a file of variables"),
    ],
)
def test_variables_of_the_launch(tmp_path: Path, script: str, number: int | None, assumed: list[str]) -> None:
    assert batch(tmp_path, script) == (number, assumed)


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ("${multiply:2,${trainer.devices}}", 16),  # NeMo registers it for all of its programs
        ("${floor_div:17,${trainer.devices}}", 2),
        ("${odd:17,${trainer.devices}}", None),  # no product, sum, difference or quotient of two numbers
        ("${other:2,${trainer.devices}}", None),
        ("${oc.decode:${oc.env:WORLD_SIZE,1}}", None),  # what starts the processes sets it
    ],
)
def test_functions_that_the_program_registers(tmp_path: Path, expression: str, number: int | None) -> None:
    assert batch(tmp_path, "export NODES=1 GPUS=8 TP=1\npython train.py\n", expression)[0] == number


def test_an_option_that_is_unknown_leaves_open_its_own_package_alone(tmp_path: Path) -> None:
    script = "export NODES=4 GPUS=4 MINI=5 TP=1\npython train.py\n"
    inside = "defaults:\n- optional overlap@model.overlap: ${oc.env:ARCH}100\n- _self_\n"
    assert batch(tmp_path, script, more=inside)[0] == 40


def test_what_an_unknown_option_may_set_has_no_default(tmp_path: Path) -> None:
    recipe = RECIPE.replace("BATCH", "64").replace("  tensor_model_parallel_size: ${oc.decode:${oc.env:TP,1}}\n", "")
    inside = "defaults:\n- size@model: ${oc.env:SIZE}\n- _self_\n"
    files = {"train.py": PROGRAM, "conf/train.yaml": inside + recipe, "run.sh": "export NODES=4 GPUS=4\npython train.py\n"}
    (run,) = launched(checked(tmp_path, files))
    assert run.geometry.value("tensor_model_parallel_size") is None


OF_ITSELF = """\
import os
from transformers import TrainingArguments
MICRO = int(os.environ.get("MICRO", "4"))
STEPS = int(os.getenv("STEPS", 8))  # effective batch size 32 on 1 GPU
LR = float(os.getenv("LR", "1e-4"))
args = TrainingArguments("out", per_device_train_batch_size=MICRO, gradient_accumulation_steps=STEPS, learning_rate=LR)
"""


@pytest.mark.parametrize(
    ("text", "number", "assumed"),
    [
        pytest.param(OF_ITSELF.replace(', "4"', ""), None, ["STEPS"], id="no default"),
        pytest.param(OF_ITSELF.replace("import os\n", "import os\nos.environ['MICRO'] = '2'\n"), None, ["STEPS"], id="set by the program"),
        pytest.param(OF_ITSELF, 32, ["MICRO", "STEPS"], id="by default"),
        pytest.param(OF_ITSELF.replace('int(os.environ.get("MICRO", "4"))', "4"), 32, ["STEPS"], id="one of them"),
    ],
)
def test_a_program_by_itself_has_the_defaults(tmp_path: Path, text: str, number: int | None, assumed: list[str]) -> None:
    (run,) = checked(tmp_path, {"train.py": text}).files[0].runs
    assert run.geometry.global_batch_size == number
    assert [assumption.name for assumption in run.assumptions] == assumed
