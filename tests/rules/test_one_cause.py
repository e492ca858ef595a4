"""One cause is one finding: what another finding explains is not reported again."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.rules.claimed import recipe
from tests.support import check

LAUNCH = "torchrun --nproc_per_node {gpus} train.py --config sft.yaml{more}\n"


def codes(folder: Path, files: dict[str, str]) -> list[str]:
    report = check(WorkTree(write(folder, files)), (), Settings(), Given())
    return sorted(finding.code for finding in report.findings())


FALSE = recipe(4, 2, "GBS 128 on 8 GPUs")  # 4 x 2 x 8 = 64


@pytest.mark.parametrize(
    ("gpus", "more", "found"),
    [
        pytest.param(8, "", ["GBS101"], id="the number that the recipe gives, too"),
        pytest.param(8, " --gradient_accumulation_steps 4", [], id="the number claimed"),
        pytest.param(4, "", ["GBS101", "GBS301"], id="a third number"),
    ],
)
def test_a_claim_that_is_false_already_is_not_false_of_a_launch_for_the_same_number(
    tmp_path: Path, gpus: int, more: str, found: list[str]
) -> None:
    assert codes(tmp_path, {"sft.yaml": FALSE, "run.sh": LAUNCH.format(gpus=gpus, more=more)}) == found


@pytest.mark.parametrize(
    ("header", "found"),
    [
        pytest.param("GBS 64 on 8 GPUs\n# 262,144 tokens per step", [], id="both in order"),
        pytest.param("GBS 64 on 8 GPUs\n# 1,048,576 tokens per step", ["GBS101"], id="the tokens alone"),
        pytest.param("GBS 128 on 8 GPUs\n# 524,288 tokens per step", ["GBS101"], id="the tokens of the false batch"),
        pytest.param("GBS 128 on 8 GPUs\n# 4,194,304 tokens per step", ["GBS101", "GBS101"], id="tokens of neither"),
    ],
)
def test_tokens_of_a_false_batch_are_not_reported_beside_it(tmp_path: Path, header: str, found: list[str]) -> None:
    assert codes(tmp_path, {"sft.yaml": recipe(4, 2, header)}) == found


NEMO = """\
grpo: {{num_prompts_per_step: 16, num_generations_per_prompt: 8, max_num_steps: 10}}
policy:
  train_global_batch_size: 128
  train_micro_batch_size: {micro}
  max_total_sequence_length: 512
  dtensor_cfg: {{enabled: true, tensor_parallel_size: {tensor}, context_parallel_size: 1}}
cluster: {{num_nodes: 1, gpus_per_node: 6}}
"""


@pytest.mark.parametrize(
    ("micro", "tensor", "found"),
    [
        pytest.param(32, 3, [], id="both divide"),  # 128 / (32 x 2)
        pytest.param(32, 2, ["GBS202"], id="the batch does not"),
        pytest.param(32, 4, ["GBS201"], id="the GPUs do not, and the batch among them"),
    ],
)
def test_a_batch_does_not_divide_among_gpus_that_do_not_divide_themselves(
    tmp_path: Path, micro: int, tensor: int, found: list[str]
) -> None:
    assert codes(tmp_path, {"grpo.yaml": NEMO.format(micro=micro, tensor=tensor)}) == found


def test_the_place_of_a_launch_is_not_called_the_claim(tmp_path: Path) -> None:
    codes(tmp_path, {"sft.yaml": recipe(4, 2, "GBS 64 on 8 GPUs"), "run.sh": LAUNCH.format(gpus=4, more="")})
    report = check(WorkTree(tmp_path), (), Settings(), Given())
    (finding,) = report.findings()
    assert finding.at.source == "run.sh"
    assert finding.label != "claimed"
    assert [each.label for each in finding.related if each.at.source == "sft.yaml"][-1] == "claimed"


MEGATRON = """\
torchrun --nproc_per_node {gpus} pretrain_gpt.py --num-layers 8 --seq-length 512 --micro-batch-size 1 --global-batch-size 64 \\
    --tensor-model-parallel-size 8 --pipeline-model-parallel-size 2 --num-experts 8 --expert-model-parallel-size 8
"""


@pytest.mark.parametrize(("gpus", "found"), [(128, []), (64, ["GBS202"]), (24, ["GBS201"])])
def test_gpus_that_do_not_divide_at_all_are_not_divided_otherwise_too(tmp_path: Path, gpus: int, found: list[str]) -> None:
    assert codes(tmp_path, {"run.sh": MEGATRON.format(gpus=gpus)}) == found
