"""Divisions that the frameworks check, and GPUs that must divide among parallel sizes; numbers from TRL's own checks."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.settings import Settings
from tests.rules.claimed import checked, launcher
from tests.support import check


def grpo(micro: int, accumulation: int, generations: int, more: str = "") -> str:
    return (
        "model_name_or_path: my/model\ndataset_name: my/prompts\nreward_funcs: [accuracy]\n"
        f"per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {accumulation}\nnum_generations: {generations}\n{more}"
    )


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(grpo(16, 4, 14), 7, id="448 completions are 32 groups of 14"),
        pytest.param(grpo(4, 4, 8), None, id="16 per GPU are always whole groups of 8"),
        pytest.param(grpo(16, 4, 14), None, id="some number of GPUs works"),
        # 4 x 2 x 3 = 24 completions a generation, although 4 x 2 x 4 = 32 a step would do as well
        pytest.param(grpo(4, 4, 8, "steps_per_generation: 3\n"), 2, id="fewer steps per generation"),
        pytest.param(grpo(4, 2, 4, "generation_batch_size: 64\n"), 8, id="64 is 2 x 32"),
        pytest.param(grpo(4, 2, 8, "per_device_eval_batch_size: 3\n"), 2, id="no evaluation, no check of it"),
    ],
)
def test_whole_groups_are_silent(tmp_path: Path, text: str, world: int | None) -> None:
    assert checked(tmp_path, text, given=Given(world_size=world)).codes == []


@pytest.mark.parametrize(
    ("text", "world", "code"),
    [
        pytest.param(grpo(16, 4, 14), 8, "GBS205", id="512 is 36.6 groups of 14"),
        pytest.param(grpo(4, 2, 4, "generation_batch_size: 36\n"), 8, "GBS202", id="36 is not a multiple of 4 x 8"),
        pytest.param(grpo(4, 2, 8, "eval_strategy: steps\nper_device_eval_batch_size: 3\n"), 2, "GBS205", id="6 in evaluation"),
        pytest.param(grpo(4, 2, 8, "generation_batch_size: 36\n"), None, "GBS204", id="36 holds no whole groups on any GPUs"),
        pytest.param(grpo(4, 2, 8, "generation_batch_size: 64\nsteps_per_generation: 4\n"), 8, "GBS203", id="both ways at once"),
    ],
)
def test_broken_groups_are_an_error(tmp_path: Path, text: str, world: int | None, code: str) -> None:
    result = checked(tmp_path, text, given=Given(world_size=world))
    assert (result.codes, result.severities) == ([code], ["error"])


def test_it_says_which_numbers_of_gpus_would_work(tmp_path: Path) -> None:
    (finding,) = checked(tmp_path, grpo(16, 4, 14), given=Given(world_size=8)).findings
    assert finding.message == "generation batch size 512 is not divisible by num_generations 14; TRL stops at start"
    assert finding.holds == "use a multiple of 7 GPUs, or set gradient_accumulation_steps to 7"


def test_what_only_some_versions_of_a_range_refuse_is_a_warning_that_says_so(tmp_path: Path) -> None:
    settings = Settings(versions=(("trl", ">=0.14"),))
    (finding,) = checked(tmp_path, grpo(16, 4, 14), given=Given(world_size=8), settings=settings).findings
    assert finding.severity == "warning"
    assert finding.message.endswith("TRL stops at start (before 0.17 it does not check this)")


def parallel(tensor: int, shard: int) -> str:
    sizes = f"  parallelism_config_dp_shard_size: {shard}\n  parallelism_config_tp_size: {tensor}\n"
    return launcher(tensor * shard, kind="FSDP") + "parallelism_config:\n" + sizes


SFT = "model_name_or_path: my/model\ndataset_name: my/data\nmax_length: 8\nper_device_train_batch_size: 4\n"


@pytest.mark.parametrize(("tensor", "world"), [(2, 8), (1, 9), (4, None)], ids=["divides", "nothing to divide", "GPUs unknown"])
def test_gpus_that_divide_are_silent(tmp_path: Path, tensor: int, world: int | None) -> None:
    assert checked(tmp_path, SFT, given=Given(world_size=world), a_yaml=parallel(tensor, 4)).codes == []


NEMO = "trainer: {devices: 8, num_nodes: 1}\nmodel: {micro_batch_size: 1, global_batch_size: 64, tensor_model_parallel_size: %s}\n"
CLAMPED = NEMO.replace("%s", "2, pipeline_model_parallel_size: 16")


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(NEMO % 16, 8, id="NeMo takes 8, which divides"),
        pytest.param(CLAMPED, 32, id="NeMo takes what the file says where there are as many"),
    ],
)
def test_a_size_that_is_clamped_is_in_order_where_it_divides(tmp_path: Path, text: str, world: int) -> None:
    assert checked(tmp_path, text, given=Given(world_size=world)).codes == []


@pytest.mark.parametrize(
    ("world", "message"),
    [
        pytest.param(8, "8 GPUs are not a multiple of tensor 2 x pipeline 8 (16, clamped to the GPUs) = 16", id="clamped"),
        pytest.param(16, "16 GPUs are not a multiple of tensor 2 x pipeline 16 = 32", id="as the file says"),
    ],
)
def test_a_size_that_is_clamped_is_shown_as_the_file_says_it(tmp_path: Path, world: int, message: str) -> None:
    (finding,) = checked(tmp_path, CLAMPED, given=Given(world_size=world)).findings
    assert (finding.message, finding.holds) == (message, "use a multiple of 32 GPUs")
    assert [CLAMPED[each.at.start : each.at.stop] for each in finding.related] == ["16"]


@pytest.mark.parametrize(
    ("world", "severity", "message"),
    [
        pytest.param(9, "warning", "9 GPUs are not a multiple of tensor 2", id="one is left over"),
        pytest.param(1, "error", "1 GPU is not a multiple of tensor 2", id="too few"),
    ],
)
def test_gpus_that_do_not_divide_are_found(tmp_path: Path, world: int, severity: str, message: str) -> None:
    result = checked(tmp_path, SFT, given=Given(world_size=world), a_yaml=parallel(2, 4))
    assert (result.codes, result.severities) == (["GBS201"], [severity])
    assert result.findings[0].message == message


LEVANTER = """\
data: {{id: my/data}}
model: {{type: llama}}
trainer: {{mp: bfloat16, train_batch_size: 480, model_axis_size: {axis}}}
"""


@pytest.mark.parametrize(
    ("axis", "given"),
    [
        pytest.param(1, Given(num_nodes=1, gpus_per_node=8), id="no model axis"),
        pytest.param(4, Given(num_nodes=1, gpus_per_node=8), id="the axis divides the devices"),
        pytest.param(16, Given(num_nodes=2, gpus_per_node=8), id="the devices divide the axis"),
        pytest.param(3, Given(world_size=48), id="GPUs per node unknown"),
        pytest.param(3, Given(), id="nothing known"),
    ],
)
def test_a_model_axis_of_which_one_divides_the_other_is_silent(tmp_path: Path, axis: int, given: Given) -> None:
    assert checked(tmp_path, LEVANTER.format(axis=axis), given=given).codes == []


def test_a_process_for_each_gpu_has_one_device(tmp_path: Path) -> None:
    tasks = "#!/bin/bash\n#SBATCH --nodes=6\n#SBATCH --ntasks-per-node=8\n"
    (tmp_path / "run.sh").write_text(f"{tasks}srun python -m levanter.main.train_lm --config_path a.yaml\n")
    (tmp_path / "a.yaml").write_text(LEVANTER.format(axis=3))
    report = check(WorkTree(tmp_path), (), Settings(), Given(), keep_runs=True)
    assert [run.launch is not None for file in report.files for run in file.runs] == [False, True]
    assert [finding for file in report.files for finding in file.findings] == []


def test_a_model_axis_of_which_neither_divides_the_other_is_found(tmp_path: Path) -> None:
    result = checked(tmp_path, LEVANTER.format(axis=3), given=Given(num_nodes=6, gpus_per_node=8))  # 48 / 3 is whole, 8 / 3 is not
    assert (result.codes, result.severities) == (["GBS201"], ["error"])
    (finding,) = result.findings
    assert finding.message == "neither trainer.model_axis_size 3 nor 8 GPUs per node is divisible by the other; Levanter stops at start"
    assert finding.assumptions == (Assumption(Assuming.ONE_PROCESS),)
    assert finding.holds == "set trainer.model_axis_size to 2 or 4"


MEGATRON = "torchrun {nodes}--nproc_per_node=8 pretrain_gpt.py --tensor-model-parallel-size 4 --pipeline-model-parallel-size 4 {batch}\n"
BATCH = "--num-layers 8 --seq-length 64 --micro-batch-size 1 --global-batch-size 512"


def _document(folder: Path, nodes: str) -> list[str]:
    (folder / "pretrain_gpt.py").write_text("from megatron.training import pretrain\n", encoding="utf-8")
    (folder / "guide.md").write_text(f"# On 64 GPUs\n\n```bash\n{MEGATRON.format(nodes=nodes, batch=BATCH)}```\n", encoding="utf-8")
    return [finding.code for file in check(WorkTree(folder), ("guide.md",), Settings(), Given()).files for finding in file.findings]


def test_a_documents_command_for_one_of_several_nodes_is_silent(tmp_path: Path) -> None:
    assert _document(tmp_path, "") == []


def test_a_documents_command_that_says_how_many_nodes_is_found(tmp_path: Path) -> None:
    assert sorted(_document(tmp_path, "--nnodes=1 ")) == ["GBS201", "GBS303"]  # nor are 8 of them the 64 of the heading


def test_a_script_has_the_nodes_of_its_launcher(tmp_path: Path) -> None:
    (tmp_path / "pretrain_gpt.py").write_text("from megatron.training import pretrain\n", encoding="utf-8")
    (tmp_path / "run.sh").write_text(MEGATRON.format(nodes="", batch=BATCH), encoding="utf-8")
    found = check(WorkTree(tmp_path), ("run.sh",), Settings(), Given())
    assert [finding.code for file in found.files for finding in file.findings] == ["GBS201"]
