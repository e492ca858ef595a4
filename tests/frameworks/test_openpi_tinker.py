"""openpi's configurations, calls of a class that their own file defines, and launches of tinker-cookbook and rLLM."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

OPENPI = """\
import dataclasses
from openpi.models import pi0

@dataclasses.dataclass(frozen=True)
class TrainConfig:
    name: str
    batch_size: int = 32
    num_train_steps: int = 30_000
    fsdp_devices: int = 1

_CONFIGS = [
    TrainConfig(name="pi0"),
    # for 8 GPUs
    TrainConfig(name="large", batch_size=256, fsdp_devices=4),
]
"""


def _known(folder: Path, program: str) -> list[int | None]:
    report = checked(folder, {"src/config.py": program})
    return [run.geometry.value("global_batch_size") for file in report.files for run in file.runs]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(("openpi.models", "my.models"), id="another project"),
        pytest.param(("    fsdp_devices: int = 1\n", ""), id="another class of this name"),
        pytest.param(("class TrainConfig", "class Settings"), id="another name"),
    ],
)
def test_look_alikes_are_not_recipes(change: tuple[str, str], tmp_path: Path) -> None:
    assert _known(tmp_path, OPENPI.replace(*change).replace(", fsdp_devices=4", "")) == []


def test_each_configuration_has_the_batch_of_all_devices(tmp_path: Path) -> None:
    assert _known(tmp_path, OPENPI) == [32, 256]


def test_a_batch_of_each_gpu_replaces_that_of_all(tmp_path: Path) -> None:
    forked = OPENPI.replace("fsdp_devices: int", "batch_size_per_gpu: int | None = None\n    fsdp_devices: int")
    assert _known(tmp_path, forked.replace('name="pi0"', 'name="pi0", batch_size_per_gpu=None')) == [32, 256]
    given = forked.replace('name="pi0"', 'name="pi0", batch_size_per_gpu=8').replace(
        "batch_size=256", "batch_size=256, batch_size_per_gpu=6"
    )
    runs = [run for file in checked(tmp_path, {"src/config.py": given}).files for run in file.runs]
    assert [(run.geometry.value("micro_batch_size"), run.geometry.value("global_batch_size")) for run in runs] == [
        (8, None),
        (6, 48),
    ]  # 6 x 8 GPUs of the comment


def test_devices_take_equal_parts(tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"src/config.py": OPENPI})) == []
    assert codes(checked(tmp_path, {"src/config.py": OPENPI.replace("256", "252")})) == ["GBS202"]


@pytest.mark.parametrize(
    ("arguments", "batch"),
    [
        pytest.param("chat_sl.train batch_size=64", 64, id="examples of a step"),
        pytest.param("chat_sl.train batch_size=$N", None, id="a variable"),
        pytest.param("math_rl.train group_size=4 groups_per_batch=100", 400, id="4 x 100 completions"),
        pytest.param("math_rl.train groups_per_batch=100", None, id="a group of each program's own"),
        pytest.param("math_rl.train group_size=4 groups_per_batch=100 num_substeps=2", None, id="two steps"),
    ],
)
def test_launches_of_tinker(arguments: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.sh": f"python -m tinker_cookbook.recipes.{arguments}\n"})) == [batch]


@pytest.mark.parametrize(
    "arguments", ["multiplayer_rl.guess_number.train batch_size=4", "preference.dpo.train batch_size=4", "chat_sl.train"]
)
def test_what_counts_something_else_has_no_label(arguments: str, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.sh": f"python -m tinker_cookbook.recipes.{arguments}\n"})) == []


RLLM = "import hydra\nfrom rllm.trainer import AgentTrainer\n\nAgentTrainer(config=None, backend='tinker').train()\n"
GROUP = "rllm/backend=tinker training.group_size=8"
STREAMS = "rllm.async_training.enable=true rllm.async_training.mini_batch_size=16"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param("model.name=a data.train_batch_size=32", [], id="no group"),
        pytest.param(f"{GROUP} model.name=a", [], id="a batch of the backend's own"),
        pytest.param(f"{GROUP} data.train_batch_size=32", [256], id="32 x 8"),
        pytest.param(f"{GROUP} data.train_batch_size=32 rllm.rollout.n=4", [128], id="32 x 4"),
        pytest.param(f"{GROUP} data.train_batch_size=1 {STREAMS}", [128], id="16 x 8, one after the other"),
        pytest.param(f"{GROUP} data.train_batch_size=32 rllm.rejection_sample.enable=true", [None], id="some are left out"),
        pytest.param(f"{GROUP} data.train_batch_size=$B", [None], id="a batch that is not known"),
    ],
)
def test_launches_of_rllm(arguments: str, expected: list[int | None], tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.py": RLLM, "run.sh": f"python train.py {arguments}\n"})) == expected


def test_a_program_that_uses_no_rllm_has_no_label(tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.py": "import os\n", "run.sh": f"python train.py {GROUP} data.train_batch_size=32\n"})) == []
