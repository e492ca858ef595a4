"""MindSpeed-MM: with FSDP2 ranks of one context read the same samples; with Megatron a section of its file holds Megatron's flags."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

RECIPE = """\
parallel: {fsdp_plan: {apply_modules: [blocks]}, fully_shard_parallel_size: auto, ulysses_parallel_size: 2}
data: {dataset_param: {dataset_type: huggingface}, dataloader_param: {dataloader_mode: sampler}}
training: {micro_batch_size: 3, gradient_accumulation_steps: 4, train_iters: 100}
"""
RUN = "torchrun --nnodes 1 --nproc_per_node 8 mindspeed_mm/fsdp/train/trainer.py run.yaml"


@pytest.mark.parametrize(
    ("flags", "batch"),
    [
        pytest.param("", 48, id="3 x 4 x 8 / 2"),
        pytest.param(" parallel.ulysses_parallel_size=1", 96, id="3 x 4 x 8"),
        pytest.param(" parallel.ring_attention_size=4", 12, id="3 x 4 x 8 / (2 x 4)"),
        pytest.param(" training.gradient_accumulation_steps=null", 12, id="3 x 8 / 2"),
        pytest.param(" training.micro_batch_size=$MBS", None, id="a variable"),
        pytest.param(" data.dataloader_param.dataloader_mode=base", None, id="another data loader"),
    ],
)
def test_the_ranks_of_a_context_share_a_batch(flags: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.yaml": RECIPE, "run.sh": f"{RUN}{flags}\n"})) == [batch]


@pytest.mark.parametrize("kind", ["FunASR", "cosyvoice"])
def test_batches_of_tokens_are_not_read(kind: str, tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.yaml": RECIPE.replace("huggingface", kind), "run.sh": f"{RUN}\n"})
    assert [each.framework for each in report.files] == [None] * len(report.files)


def test_a_comment_is_compared_with_it(tmp_path: Path) -> None:
    assert codes(checked(tmp_path / "a", {"run.yaml": f"# global batch size 96 on 16 NPUs\n{RECIPE}"})) == []
    assert codes(checked(tmp_path / "b", {"run.yaml": f"# global batch size 192 on 16 NPUs\n{RECIPE}"})) == ["GBS101"]


MEGATRON = """\
MM_TOOL_PATH: tools.json
gpt_args:
  context_parallel_size: 2
  micro_batch_size: 1
  global_batch_size: 32
"""


@pytest.mark.parametrize(
    ("processes", "found"),
    [
        pytest.param(8, [], id="whole micro batches of 4 ranks"),
        pytest.param(6, ["GBS202"], id="3 ranks"),
    ],
)
def test_a_section_of_the_file_holds_flags_of_megatron(processes: int, found: list[str], tmp_path: Path) -> None:
    run = f"torchrun --nproc_per_node {processes} pretrain_transformers.py run.yaml --global-batch-size 7\n"
    report = checked(tmp_path, {"run.yaml": MEGATRON, "run.sh": run})
    assert (batches(report), codes(report)) == ([32], found)
