"""OpenMMLab: a Python module with parents, `_base_` or `read_base()`, that mmengine's or mmcv's runner takes; worked out by hand."""

from pathlib import Path

import pytest

from pytest_gbs.model.quantity import Name
from pytest_gbs.model.run import Run
from tests.launches.building import checked, codes, titled_batches

BATCH = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
MODEL = "model = dict(type='Net', backbone=dict(depth=50))\n"
DATA = "train_dataloader = dict(batch_size=32, num_workers=4, sampler=dict(type='DefaultSampler'))\n"
RATE = "optim_wrapper = dict(optimizer=dict(type='SGD', lr=0.1))\n"
WHOLE = MODEL + DATA + RATE
PARTS = {"_base_/model.py": MODEL, "_base_/data.py": DATA, "_base_/rate.py": RATE}
BASES = "_base_ = ['../_base_/model.py', '../_base_/data.py', '../_base_/rate.py']\n"
LAZY = "from mmengine.config import read_base\nwith read_base():\n" + "".join(
    f"    from .._base_.{n} import *\n" for n in ("model", "data", "rate")
)
OLD = "data = dict(samples_per_gpu=2, workers_per_gpu=2)\noptimizer = dict(type='SGD', lr=0.02)\n" + MODEL


def runs(folder: Path, files: dict[str, str]) -> list[Run]:
    return [run for file in checked(folder, files).files for run in file.runs if run.path.startswith("net/")]


def sizes(folder: Path, config: str, parts: dict[str, str] = PARTS) -> list[int | None]:
    """The micro batch and the accumulation of a configuration beside its parts."""
    (run,) = runs(folder, {**parts, "net/config.py": config})
    return [run.geometry.value(name) for name in BATCH]


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(DATA + RATE, id="no model"),
        pytest.param(MODEL + DATA, id="nothing that steps"),
        pytest.param(MODEL + RATE + "val_dataloader = dict(batch_size=1)\n", id="no training"),
        pytest.param(f"def config():\n    {MODEL}    {DATA}    {RATE}", id="in a function"),
        pytest.param("_base_ = '../_base_/model.py'\n" + RATE, id="parents without data"),
        pytest.param("import torch\nbatch_size = 8\nmodel = torch.nn.Linear(2, 2)\ntrain_dataloader = [1]\n", id="a training script"),
        pytest.param(
            "data = dict(batch_size=2)\noptimizer = dict(lr=1)\noptimizer_config = dict()\n" + MODEL, id="a batch of something else"
        ),
        pytest.param("data = dict(samples_per_gpu=2)\n", id="data alone"),
        pytest.param("_base_ = 3\nbatch_size = 2\n", id="a base that is no file"),
    ],
)
def test_what_trains_nothing_with_mmengine_is_not_a_recipe(tmp_path: Path, config: str) -> None:
    assert runs(tmp_path, {**PARTS, "net/config.py": config}) == []


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(WHOLE, [32, 1], id="alone"),
        pytest.param(BASES, [32, 1], id="all from parents"),
        pytest.param(BASES + "train_dataloader = dict(batch_size=8)\n", [8, 1], id="a key over a parent's"),
        pytest.param(BASES + "train_dataloader = dict(num_workers=8)\n", [32, 1], id="the other keys stay"),
        pytest.param(BASES + "train_dataloader = dict(_delete_=True, batch_size=8)\n", [8, 1], id="in place of a parent's"),
        pytest.param(BASES + "optim_wrapper = dict(accumulative_counts=4)\n", [32, 4], id="accumulation"),
        pytest.param(BASES + "n = 4\ntrain_dataloader = dict(batch_size=n * 2)\n", [8, 1], id="computed"),
        pytest.param(BASES + "x = _base_.model.backbone\n", [32, 1], id="a value of a parent, of something else"),
        pytest.param(BASES + "train_dataloader = dict(batch_sampler=dict(batch_size=2))\n", [2, 1], id="the sampler of batches"),
        pytest.param(BASES + "strategy = dict(type='DeepSpeedStrategy', gradient_accumulation_steps=2)\n", [32, 2], id="DeepSpeed"),
        pytest.param(BASES + "strategy = dict(type='FSDPStrategy')\n", [32, 1], id="FSDP"),
        pytest.param(LAZY, [32, 1], id="imported"),
        pytest.param(LAZY + "train_dataloader = dict(batch_size=8)\n", [8, 1], id="imported, and replaced"),
    ],
)
def test_a_configuration_with_its_parents(tmp_path: Path, config: str, expected: list[int]) -> None:
    assert sizes(tmp_path, config) == expected


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(BASES + "_base_.train_dataloader.batch_size = 8\n", [None, 1], id="set in a parent's"),
        pytest.param(BASES + "_base_.train_dataloader['batch_size'] *= 2\n", [None, 1], id="multiplied in a parent's"),
        pytest.param(BASES + "del _base_.train_dataloader.batch_size\n", [None, 1], id="deleted"),
        pytest.param(BASES + "_base_.optim_wrapper.merge(dict(accumulative_counts=2))\n", [32, None], id="changed by a method"),
        pytest.param(BASES + "train_dataloader = dict(collate_fn=dict(type='repeat_pseudo_collate'))\n", [None, 1], id="samples repeated"),
        pytest.param(BASES + "train_dataloader = dict(batch_size=int(input()))\n", [None, 1], id="asked for"),
        pytest.param(
            BASES + "optim_wrapper = dict(_delete_=True, generator=dict(optimizer=dict(lr=1)))\n", [32, None], id="two optimizers"
        ),
        pytest.param(BASES + "strategy = dict(type='ColossalAIStrategy')\n", [32, None], id="another strategy"),
        pytest.param(BASES + "strategy = dict(type='DeepSpeedStrategy', config='zero.json')\n", [32, None], id="DeepSpeed by a file"),
        pytest.param(LAZY + "optim_wrapper.update(accumulative_counts=2)\n", [32, None], id="imported, and changed"),
        pytest.param(WHOLE + "_base_ = './missing.py'\n", [32, None], id="a parent that is not there"),
        pytest.param(WHOLE + "_base_ = ['mmother::_base_/runtime.py']\n", [32, None], id="a parent of another package"),
        pytest.param(WHOLE + "_base_ = './config.py'\n", [32, None], id="its own parent"),
        pytest.param(WHOLE + "_base_ = f'./{model}.py'\n", [32, None], id="a parent that is computed"),
        pytest.param(WHOLE + "from os import *\n", [32, None], id="everything of a module"),
    ],
)
def test_what_may_be_otherwise_is_unknown(tmp_path: Path, config: str, expected: list[int | None]) -> None:
    assert sizes(tmp_path, config) == expected


def test_parents_have_parents_and_another_configuration_of_the_own_package(tmp_path: Path) -> None:
    parts = {"configs/_base_/all.py": WHOLE, "mmown/__init__.py": "", "net/parent.py": "_base_ = 'mmown::_base_/all.py'\n"}
    found = runs(tmp_path, {**parts, "net/config.py": "_base_ = ['./parent.py']\n"})
    assert [(run.path, [run.geometry.value(name) for name in BATCH]) for run in found] == [
        ("net/config.py", [32, 1]),
        ("net/parent.py", [32, 1]),
    ]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param("optimizer_config = dict(grad_clip=None)\n", [2, 1], id="each batch"),
        pytest.param("optimizer_config = dict(type='GradientCumulativeOptimizerHook', cumulative_iters=8)\n", [2, 8], id="accumulated"),
        pytest.param("optimizer_config = dict(type='GradientCumulativeFp16OptimizerHook')\n", [2, 1], id="the default of the hook"),
        pytest.param("optimizer_config = dict(grad_clip=None, cumulative_iters=8)\n", [2, 1], id="no hook that accumulates"),
        pytest.param("optimizer_config = dict(type='DistOptimizerHook', update_interval=4)\n", [2, 4], id="the hook of projects"),
        pytest.param("optimizer_config = dict(type='MyHook')\n", [2, None], id="a hook of one's own"),
        pytest.param("optimizer_config = None\n", [2, None], id="a GAN"),
        pytest.param("optimizer_config = dict()\ndata['train_dataloader'] = dict(samples_per_gpu=4)\n", [4, 1], id="the loader's own"),
    ],
)
def test_before_mmengine(tmp_path: Path, rest: str, expected: list[int | None]) -> None:
    assert sizes(tmp_path, OLD + rest) == expected


@pytest.mark.parametrize(
    ("name", "more", "verdict"),
    [
        pytest.param("net_8xb32_in1k", "", "verified", id="32 on each of 8"),
        pytest.param("net_16xb32-10e", "", "verified", id="32 on each of 16"),
        pytest.param("net_8xb32-accum4", "optim_wrapper['accumulative_counts'] = 4\n", "verified", id="before accumulation"),
        pytest.param("net_8xb128", "optim_wrapper['accumulative_counts'] = 4\n", "verified", id="after accumulation"),
        pytest.param("net_8xb64", "auto_scale_lr = dict(base_batch_size=512)\n", "verified", id="what the learning rate is for"),
        pytest.param("net_8xb64", "optim_wrapper['accumulative_counts'] = int(input())\n", "unclaimed", id="an unknown accumulation"),
        pytest.param("net_4x8xb64gb", "", "unclaimed", id="another word"),
        pytest.param("net_8xb64_in1k", "", "warned", id="64 in the name, 32 in the file"),
        pytest.param("net_32xb4", "", "warned", id="4 in the name"),
    ],
)
def test_the_batch_in_the_name_of_a_file(tmp_path: Path, name: str, more: str, verdict: str) -> None:
    report = checked(tmp_path, {f"net/{name}.py": WHOLE + more})
    assert [each.verdict for each in report.files if each.runs] == [verdict]
    assert codes(report) == (["GBS106"] if verdict == "warned" else [])


def test_a_hook_by_its_name_is_no_setting_to_change(tmp_path: Path) -> None:
    claim = "# total batch size 32 on 8 GPUs\n"
    report = checked(tmp_path, {"net/config.py": OLD + claim + "optimizer_config = dict(grad_clip=None)\n"})
    ((finding,),) = (file.findings for file in report.files if file.runs)
    assert finding.code == "GBS101"
    assert finding.holds == "set data.samples_per_gpu to 4, or change the comment to 16"


STARTER = """\
CONFIG=$1
GPUS=$2
python -m torch.distributed.launch --nproc_per_node=$GPUS --nnodes=${NNODES:-1} $(dirname "$0")/train.py $CONFIG --launcher pytorch ${@:3}
"""


@pytest.mark.parametrize(
    ("command", "batch"),
    [
        pytest.param("torchrun --nproc_per_node 8 tools/train.py net/config.py --launcher pytorch", 16, id="2 x 8"),
        pytest.param("bash tools/dist_train.sh net/config.py 4", 8, id="2 x 4, by another script"),
        pytest.param("NNODES=2 tools/dist_train.sh net/config.py 4 --cfg-options data.samples_per_gpu=3 model.a='[1]'", 24, id="3 x 4 x 2"),
        pytest.param("srun --ntasks=16 --ntasks-per-node=8 python tools/train.py net/config.py --launcher=slurm", 32, id="2 x 16"),
        pytest.param("torchrun --nproc_per_node 8 tools/train.py --config net/config.py", 16, id="behind an option"),
    ],
)
def test_a_launch_names_its_configuration(tmp_path: Path, command: str, batch: int) -> None:
    files = {"net/config.py": OLD + "optimizer_config = dict()\n", "tools/dist_train.sh": STARTER, "tools/train.py": "import mmcv\n"}
    assert titled_batches(checked(tmp_path, {**files, "run.sh": command + "\n"})) == [("OpenMMLab (mmcv 1)", batch)]
    document = f"# Train\n\n```\n{command}\n```\n"
    assert titled_batches(checked(tmp_path / "document", {**files, "README.md": document})) == [("OpenMMLab (mmcv 1)", batch)]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("torchrun --nproc_per_node 8 tools/test.py net/config.py net.pth --launcher pytorch", id="a test"),
        pytest.param("python tools/get_flops.py net/config.py", id="figures of a model"),
        pytest.param("torchrun --nproc_per_node 8 tools/train.py net/other.py", id="no such file"),
        pytest.param("torchrun --nproc_per_node 8 tools/train.py net/model.py", id="another module"),
    ],
)
def test_what_trains_no_configuration_is_not_launched(tmp_path: Path, command: str) -> None:
    files = {"net/config.py": OLD + "optimizer_config = dict()\n", "net/model.py": "import torch\nbatch_size = 4\n"}
    assert titled_batches(checked(tmp_path, {**files, "run.sh": command + "\n"})) == []
