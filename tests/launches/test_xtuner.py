"""xtuner train: a configuration by its path, or one of the program's own by its name; a launch that can't run is reported once."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

CONFIG = """\
from mmengine.dataset import DefaultSampler
from mmengine.optim import OptimWrapper
from xtuner.dataset import process_hf_dataset

batch_size = 2  # per_device
accumulative_counts = 4  # bs = 8 GPUs * 2 batch_size_per_device * 4 acc = 64
sequence_parallel_size = {sequence}
train_dataloader = dict(batch_size=batch_size, sampler=dict(type=DefaultSampler))
optim_wrapper = dict(type=OptimWrapper, accumulative_counts=accumulative_counts)
"""
OWN = "xtuner/configs/qwen/qwen_7b_lora.py"


def document(command: str) -> str:
    """A document that shows a command."""
    return f"# Train\n\n```bash\n{command}\n```\n"


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        pytest.param("xtuner train qwen_14b_lora", [], id="no such configuration"),
        pytest.param("xtuner train $CONFIG", [], id="a variable"),
        pytest.param("xtuner train qwen_7b_lora --cfg-options train_dataloader.batch_size=1", [], id="changed"),
        pytest.param("xtuner train qwen_7b_lora", [8], id="its own, on one GPU"),
        pytest.param("NPROC_PER_NODE=8 xtuner train qwen_7b_lora --deepspeed deepspeed_zero2", [64], id="its own, on eight"),
        pytest.param(f"NNODES=2 NPROC_PER_NODE=8 xtuner train {OWN}", [128], id="a path"),
        pytest.param("srun --ntasks=16 xtuner train qwen_7b_lora --launcher slurm", [128], id="Slurm"),
    ],
)
def test_the_batch_of_a_command(tmp_path: Path, command: str, wanted: list[int]) -> None:
    assert batches(checked(tmp_path, {OWN: CONFIG.format(sequence=1), "README.md": document(command)})) == wanted


def test_a_name_that_two_configurations_have_is_none_of_them(tmp_path: Path) -> None:
    config = CONFIG.format(sequence=1)
    found = checked(
        tmp_path, {OWN: config, "xtuner/configs/old/qwen_7b_lora.py": config, "README.md": document("xtuner train qwen_7b_lora")}
    )
    assert batches(found) == []


def test_a_launch_that_cannot_share_its_gpus_has_no_batch_to_compare(tmp_path: Path) -> None:
    given = {OWN: CONFIG.format(sequence=2), "README.md": document("NPROC_PER_NODE=1 xtuner train qwen_7b_lora")}
    assert "GBS301" not in codes(checked(tmp_path, given))
    assert "GBS301" in codes(checked(tmp_path, given | {"README.md": document("NPROC_PER_NODE=2 xtuner train qwen_7b_lora")}))
