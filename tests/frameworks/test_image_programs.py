"""MAE, ConvNeXt and OpenVLA: programs that take flags, started by torchrun or by themselves; numbers worked out by hand."""

from pathlib import Path

import pytest

from tests.launches.building import checked, titled_batches

PARSES = "import argparse\nparser = argparse.ArgumentParser()\n"
MAE = "--model mae_vit_base --blr 1.5e-4 --data_path /data --epochs 800"
AUDIO = "--model vit_base --blr 1e-3 --dataset audio --data_train train.json --epochs 100"
CONVNEXT = "--model convnext_tiny --drop_path 0.1 --data_path /data"
VLA = "--vla_path openvla/openvla-7b --dataset_name bridge --learning_rate 5e-4"


def trained(folder: Path, command: str) -> list[tuple[str, int | None]]:
    """The framework and the global batch of each launch of a script that holds `command`."""
    names = (
        "main",
        "main_pretrain",
        "main_finetune",
        "submitit_pretrain",
        "submitit_finetune",
        "run_with_submitit",
        "vla-scripts/finetune",
        "train",
    )
    report = checked(folder, {**{f"{name}.py": PARSES for name in names}, "run.sh": f"{command}\n"})
    return titled_batches(report)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param("python main_pretrain.py --batch_size 256 --method byol --backbone resnet18", id="another main_pretrain"),
        pytest.param(f"torchrun --nproc_per_node=8 main_pretrain.py --batch_size 8 {CONVNEXT}", id="flags of another"),
        pytest.param("torchrun --nproc_per_node=8 main.py --batch_size 128 --model resnet50", id="another main"),
        pytest.param(f"torchrun --nproc_per_node=8 train.py --batch_size 128 --update_freq 2 {CONVNEXT}", id="another name"),
        pytest.param("torchrun --nproc_per_node=8 vla-scripts/finetune.py --batch_size 16 --learning_rate 1e-4", id="no model of OpenVLA"),
        pytest.param(f"python main_eval.py --batch_size 8 {MAE}", id="an evaluation"),
    ],
)
def test_programs_of_others_say_nothing(tmp_path: Path, command: str) -> None:
    assert not any(title.startswith(("MAE", "ConvNeXt", "OpenVLA")) for title, _ in trained(tmp_path, command))


@pytest.mark.parametrize(
    ("command", "title", "batch"),
    [
        pytest.param(f"torchrun --nproc_per_node=8 main_finetune.py --accum_iter 4 --batch_size 32 {MAE}", "MAE", 1024, id="32 x 4 x 8"),
        pytest.param(f"torchrun --nnodes 2 --nproc_per_node=8 main_pretrain.py --batch_size 64 {MAE}", "MAE", 1024, id="64 x 16"),
        pytest.param(f"python submitit_pretrain.py --nodes 8 --batch_size 64 {MAE}", "MAE (submitit)", 4096, id="64 x 8 nodes of 8"),
        pytest.param(f"python submitit_pretrain.py --ngpus 4 --batch_size 64 {MAE}", "MAE (submitit)", 512, id="64 x 2 nodes of 4"),
        pytest.param(f"python submitit_finetune.py --nodes 4 --batch_size 4 {AUDIO}", "MAE (submitit)", 128, id="4 x 4 nodes of 8"),
        pytest.param(
            f"torchrun --nproc_per_node=8 main.py --batch_size 128 --update_freq 4 {CONVNEXT}", "ConvNeXt", 4096, id="128 x 4 x 8"
        ),
        pytest.param(
            f"python run_with_submitit.py --nodes 4 --ngpus 8 --batch_size 128 --update_freq 1 {CONVNEXT}",
            "ConvNeXt (submitit)",
            4096,
            id="128 x 4 nodes of 8",
        ),
        pytest.param(
            f"torchrun --nproc-per-node 2 vla-scripts/finetune.py --batch_size 8 --grad_accumulation_steps 4 {VLA}", "OpenVLA", 64, id="VLA"
        ),
    ],
)
def test_the_batch_of_a_command(tmp_path: Path, command: str, title: str, batch: int) -> None:
    assert trained(tmp_path, command) == [(title, batch)]
