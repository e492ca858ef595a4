"""MindSpeed-LLM with FSDP2: ranks of one context read the same samples."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes

RECIPE = """\
model: {model_id: acme, model_name_or_path: acme/small}
parallel: {fsdp_size: 8, cp_size: 2}
training: {per_device_train_batch_size: 3, gradient_accumulation_steps: 4}
"""
RUN = "torchrun --nnodes 1 --nproc_per_node 8 train_fsdp2.py run.yaml"


def test_a_section_without_ranks_is_the_trainers(tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.yaml": RECIPE.replace("parallel: {fsdp_size: 8, cp_size: 2}\n", "")})
    assert [each.framework for each in report.files] == ["transformers-nested"]


def test_ranks_without_training_are_not_a_recipe(tmp_path: Path) -> None:
    report = checked(tmp_path, {"run.yaml": RECIPE.partition("training")[0]})
    assert [each.framework for each in report.files] == [None] * len(report.files)


def test_flags_without_their_file_leave_the_ranks_open(tmp_path: Path) -> None:
    flags = "--parallel.fsdp_size 8 --training.per_device_train_batch_size 1 --training.gradient_accumulation_steps 4"
    assert batches(checked(tmp_path, {"run.sh": f"{RUN} {flags}\n"})) == []


def test_flags_give_the_batch_that_a_file_leaves_out(tmp_path: Path) -> None:
    bare = RECIPE.replace("{per_device_train_batch_size: 3, gradient_accumulation_steps: 4}", "{stage: sft}").replace(
        "fsdp_size: 8, ", "fsdp_modules: [x], "
    )
    flags = "--parallel.fsdp_size 8 --training.per_device_train_batch_size 1 --training.gradient_accumulation_steps 4"
    assert batches(checked(tmp_path, {"run.yaml": bare, "run.sh": f"{RUN} {flags}\n"})) == [16]  # 1 x 4 x 8 / 2


@pytest.mark.parametrize(
    ("flags", "batch"),
    [
        pytest.param("", 48, id="3 x 4 x 8 / 2"),
        pytest.param(" --parallel.cp_size 1", 96, id="3 x 4 x 8"),
        pytest.param(" --training.per_device_train_batch_size 1 --parallel.cp_size 8", 4, id="1 x 4 x 8 / 8"),
        pytest.param(" --parallel.cp_size $CP", None, id="a variable"),
    ],
)
def test_the_ranks_of_a_context_share_a_batch(flags: str, batch: int | None, tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"run.yaml": RECIPE, "run.sh": f"{RUN}{flags}\n"})) == [batch]


def test_a_comment_is_compared_with_it(tmp_path: Path) -> None:
    assert codes(checked(tmp_path / "a", {"run.yaml": f"# global batch size 48\n{RECIPE}"})) == []
    assert codes(checked(tmp_path / "b", {"run.yaml": f"# global batch size 96\n{RECIPE}"})) == ["GBS101"]
