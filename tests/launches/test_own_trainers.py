"""Programs with a trainer of their own, in the place of the framework's that checks the batch."""

from pathlib import Path

import pytest

from tests.launches.building import checked, codes, launched

PROGRAM = """\
from trl import GRPOConfig, GRPOTrainer, TrlParser
{imported}

if __name__ == "__main__":
    (args,) = TrlParser((GRPOConfig,)).parse_args_and_config()
    trainer = {used}
    trainer(args=args).train()
"""
TRAINERS = """\
from transformers import Trainer
from trl import GRPOTrainer


class OwnTrainer(Trainer):
    def __init__(self, args): ...


class FurtherTrainer(GRPOTrainer):
    def log(self): ...
"""
LAUNCH = "cd src\ntorchrun --nproc_per_node 4 grpo.py --num_generations 8 --per_device_train_batch_size 1 --gradient_accumulation_steps 1\n"
OLD, NEW = "trl==0.16.0\n", "trl==0.20.0\n"


@pytest.mark.parametrize(
    ("imported", "used", "pinned", "expected"),
    [
        pytest.param("from own.trainers import OwnTrainer", "OwnTrainer", OLD, [], id="a class on the Trainer of transformers"),
        pytest.param("from own import OwnTrainer", "OwnTrainer", OLD, [], id="by way of its package"),
        pytest.param("from own import FurtherTrainer, OwnTrainer", "OwnTrainer", OLD, [], id="one of two"),
        pytest.param("class Mine:\n    def train(self): ...\nMyTrainer = Mine", "Mine", OLD, ["GBS205"], id="no name to go by"),
        pytest.param("from own import OwnTrainer", "OwnTrainer", "", [], id="of any version"),
        pytest.param("from own import OwnTrainer", "OwnTrainer", "trl>=0.14\n", [], id="a range of which the newest alone checks"),
        pytest.param("from own import FurtherTrainer", "FurtherTrainer", "", ["GBS205"], id="a class on TRL's, of any version"),
        pytest.param("from own import OwnTrainer", "OwnTrainer", "trl>=0.17\n", ["GBS205"], id="a range that checks"),
        pytest.param("from own import OwnTrainer", "OwnTrainer", NEW, ["GBS205"], id="the config checks it since 0.17"),
        pytest.param("from own import FurtherTrainer", "FurtherTrainer", OLD, ["GBS205"], id="a class on TRL's"),
        pytest.param("from elsewhere import OwnTrainer", "OwnTrainer", OLD, ["GBS205"], id="a class that is not there"),
        pytest.param("from own import OwnTrainer", "OwnTrainer if args.own else GRPOTrainer", OLD, [], id="it may be TRL's"),
        pytest.param("", "GRPOTrainer", OLD, ["GBS205"], id="TRL's"),
    ],
)
def test_a_trainer_of_ones_own_need_not_check_what_trls_does(
    imported: str, used: str, pinned: str, expected: list[str], tmp_path: Path
) -> None:
    files = {
        "src/grpo.py": PROGRAM.format(imported=imported, used=used),
        "src/own/__init__.py": "from .trainers import FurtherTrainer, OwnTrainer\n",
        "src/own/trainers.py": TRAINERS,
        "src/requirements.txt": pinned,
        "run.sh": LAUNCH,
    }
    assert codes(checked(tmp_path, files)) == expected


# dllm-reasoning/d1, diffu-grpo: prompts are completed six at a time, which is no batch of TRL's.
CONFIG = """\
from dataclasses import dataclass
from typing import Optional
from {module} import {base}


@dataclass
class OwnConfig({base}):
    generation_batch_size: Optional[int] = 4
"""
OF_FILE = """\
model_name_or_path: m
dataset_name: d
reward_funcs: [accuracy]
per_device_train_batch_size: 6
num_generations: 6
generation_batch_size: 6
"""


@pytest.mark.parametrize(
    ("module", "base", "expected"),
    [
        pytest.param("transformers", "TrainingArguments", [], id="a field of a class of its own"),
        pytest.param("trl", "GRPOConfig", ["GBS202"], id="a field that TRL's class checks"),
    ],
)
def test_a_field_of_ones_own_is_not_checked_as_trls(tmp_path: Path, module: str, base: str, expected: list[str]) -> None:
    program = "from own import OwnConfig\n" + PROGRAM.format(imported="", used="GRPOTrainer").replace("((GRPOConfig,))", "((OwnConfig,))")
    files = {"grpo.py": program, "own.py": CONFIG.format(module=module, base=base), "grpo.yaml": OF_FILE}
    assert codes(checked(tmp_path, {**files, "run.sh": "torchrun --nproc_per_node 8 grpo.py --config grpo.yaml\n"})) == expected


# verl's trainer wants a rollout to hold a mini batch; one that is made from it has a validation of its own.
VERL = """\
actor_rollout_ref: {actor: {ppo_mini_batch_size: 128, ppo_micro_batch_size_per_gpu: 1}, rollout: {n: 1}}
data: {train_batch_size: 64}
trainer: {nnodes: 1, n_gpus_per_node: 8}
"""
MAIN = """\
import hydra
from mine.trainer import MineRayTrainer


@hydra.main(config_path="conf", config_name="ppo")
def main(cfg):
    MineRayTrainer(config=cfg).fit()
"""
MADE_FROM = """\
from verl.trainer.ppo.ray_trainer import RayPPOTrainer


class MineRayTrainer(RayPPOTrainer):
    def {method}(self): ...
"""


@pytest.mark.parametrize(("method", "expected"), [("_validate_config", []), ("fit", ["GBS207"])])
def test_a_trainer_that_validates_in_the_place_of_verls_checks_what_it_likes(method: str, expected: list[str], tmp_path: Path) -> None:
    files = {"mine/main.py": MAIN, "mine/conf/ppo.yaml": "{}\n", "mine/trainer.py": MADE_FROM.format(method=method)}
    words = "data.train_batch_size=64 actor_rollout_ref.actor.ppo_mini_batch_size=128 trainer.n_gpus_per_node=8"
    files["mine/conf/ppo.yaml"] = VERL.replace("train_batch_size: 64", "train_batch_size: 256")
    report = checked(tmp_path, {**files, "run.sh": f"python -m mine.main {words}\n"})
    assert codes(report) == expected


# Liuziyu77/Visual-RFT at 9486633, src/virft/src/open_r1/grpo.py and its trainers: R1-V's, copied from TRL 0.14.
COPIES = """\
from transformers import Trainer
from trl import GRPOTrainer


class OwnTrainer(Trainer):
    def compute_loss(self, model, inputs): ...


class OwnVLLMTrainer(Trainer):
    def _get_train_sampler(self): ...

    def compute_loss(self, model, inputs): ...


class OwnVLLMTrainerModified(Trainer):
    def _get_train_sampler(self): ...

    def compute_loss(self, model, inputs): ...


class ThinTrainer(Trainer):
    def log(self): ...


class FurtherTrainer(GRPOTrainer):
    def compute_loss(self, model, inputs): ...


class LatestTrainer(OwnTrainer):
    def log(self): ...
"""
ONE_OF_TWO = "OwnTrainer if not args.use_vllm else OwnVLLMTrainer"


@pytest.mark.parametrize(
    ("used", "flags", "pinned", "expected"),
    [
        pytest.param("GRPOTrainer", "", "", 16, id="TRL's"),
        pytest.param("FurtherTrainer", "", "", 16, id="made from TRL's"),
        pytest.param("OwnVLLMTrainer", "", "", 16, id="samples that repeat each prompt"),
        pytest.param("ThinTrainer", "", "", 16, id="no loss of its own"),
        pytest.param("OwnTrainer if args.own else GRPOTrainer", "", "", 16, id="it may be TRL's"),
        pytest.param(ONE_OF_TWO, "--use_vllm true", "", 16, id="the one with vLLM"),
        pytest.param(ONE_OF_TWO + "Modified", "--use_vllm true", "", 16, id="another one with vLLM"),
        pytest.param(ONE_OF_TWO, "--use_vllm", "", 16, id="the one with vLLM, by a switch"),
        pytest.param("OwnTrainer", "", "", 128, id="a copy"),
        pytest.param("OwnTrainer", "", "trl==0.14.0\n", 128, id="a copy beside the version that it is of"),
        pytest.param("OwnTrainer", "", "trl==0.16.0\n", 128, id="a copy beside a later version"),
        pytest.param("LatestTrainer", "", "", 128, id="made from a copy"),
        pytest.param(ONE_OF_TWO, "--use_vllm false", "", 128, id="the one without vLLM"),
        pytest.param(ONE_OF_TWO, "", "", 128, id="the one that is usual"),
    ],
)  # 1 x 2 x 8, and 8 of each prompt where the micro batch counts these
def test_a_copy_of_trls_older_trainer_takes_prompts(used: str, flags: str, pinned: str, expected: int, tmp_path: Path) -> None:
    imported = "from own.trainers import FurtherTrainer, LatestTrainer, OwnTrainer, OwnVLLMTrainer, OwnVLLMTrainerModified, ThinTrainer"
    launch = "torchrun --nproc_per_node 8 grpo.py --num_generations 8 --per_device_train_batch_size 1 --gradient_accumulation_steps 2"
    files = {
        "grpo.py": PROGRAM.format(imported=imported, used=used),
        "own/__init__.py": "",
        "own/trainers.py": COPIES,
        "requirements.txt": pinned,
        "run.sh": f"{launch} {flags}\n",
    }
    (run,) = launched(checked(tmp_path, files))
    assert run.geometry.global_batch_size == expected
    assert run.geometry.value("prompts_per_step") == expected // 8


def test_what_such_a_copy_is_not_given_is_not_known(tmp_path: Path) -> None:
    files = {
        "grpo.py": PROGRAM.format(imported="from own import OwnTrainer", used="OwnTrainer"),
        "own.py": COPIES,
        "run.sh": "torchrun --nproc_per_node 8 grpo.py --num_generations 8 --per_device_train_batch_size 1\n",
    }
    (run,) = launched(checked(tmp_path, files))
    assert run.geometry.global_batch_size is None  # the version of TRL says how many micro batches
