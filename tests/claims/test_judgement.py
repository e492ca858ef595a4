"""A claim is judged by what training has: as accelerate splits it, as the framework rounds it, per optimizer step."""

from pathlib import Path

import pytest

from tests.rules.claimed import Checked, checked, recipe

SPLIT = recipe(8, 1, "gbs: {claim} on 2 gpus", more="accelerator_config: {{split_batches: true}}")
LITGPT = """\
# global batch size {claim}
checkpoint_dir: checkpoints/my/model
devices: {devices}
train:
  global_batch_size: 14
  micro_batch_size: 1
  lr_warmup_steps: 100
"""
MEGATRON = """\
# gbs: {claim} on 8 gpus
micro_batch_size: 4
global_batch_size: 72
decrease_batch_size_if_needed: true
eval_global_batch_size: 64
num_layers: 2
seq_length: 64
train_iters: 10
"""
GRPO = """\
# {claim} on 2 GPUs
model_name_or_path: my/model
dataset_name: my/data
num_generations: 8
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
{more}
"""


@pytest.mark.parametrize(
    ("text", "verdict", "codes"),
    [
        # accelerate hands 4 of the 8 to each of the two processes.
        pytest.param(SPLIT.format(claim=8), "verified", [], id="split batches are shared out"),
        pytest.param(SPLIT.format(claim=16), "violated", ["GBS101"], id="split batches are not multiplied"),
        # 14 // 4 = 3 micro batches of 1 on each of 4 GPUs.
        pytest.param(LITGPT.format(claim=12, devices=4), "warned", ["GBS451"], id="what litgpt rounds to"),
        pytest.param(LITGPT.format(claim=14, devices=4), "violated", ["GBS101"], id="what litgpt rounds"),
        # On 1 GPU it is 14, on 4 it is 12, and on any number more than 7.
        pytest.param(LITGPT.format(claim=12, devices="auto"), "undetermined", [], id="what litgpt may round to"),
        pytest.param(LITGPT.format(claim=6, devices="auto"), "violated", ["GBS101"], id="what litgpt rounds to nowhere"),
        # 72 // (4 x 8) = 2 micro batches of 4 on each of 8 GPUs.
        pytest.param(MEGATRON.format(claim=64), "verified", [], id="what Megatron decreases to"),
        pytest.param(MEGATRON.format(claim=72), "violated", ["GBS101"], id="what Megatron decreases"),
    ],
)
def test_a_claim_goes_by_what_trains(tmp_path: Path, text: str, verdict: str, codes: list[str]) -> None:
    assert checked(tmp_path, text)[:2] == (verdict, codes)


QUOTED = """\
# {heading} (8 GPUs):
#   {said}
micro_batch_size: 8
global_batch_size: 64
num_layers: 2
seq_length: 64
train_iters: 10
"""


@pytest.mark.parametrize(
    ("heading", "said", "codes"),
    [
        pytest.param("Schedule", "per_device_train_batch_size=128, 8 GPUs → global=1024", [], id="a Trainer's key in a recipe of Megatron"),
        pytest.param("Schedule, matched to FLA", "micro_batch_size=128, 8 GPUs, global batch size 1024", [], id="another run's"),
        pytest.param("Schedule", "micro_batch_size=128, 8 GPUs, global batch size 1024", ["GBS104"], id="its own key"),
        pytest.param("Schedule", "8 GPUs, global batch size 1024", ["GBS101"], id="no key"),
    ],
)
def test_a_batch_of_another_program_is_that_programs(tmp_path: Path, heading: str, said: str, codes: list[str]) -> None:
    assert checked(tmp_path, QUOTED.format(heading=heading, said=said)).codes == codes


def test_a_batch_by_the_own_key_of_a_recipe_is_its_own(tmp_path: Path) -> None:
    text = recipe(8, 1, "per_device_train_batch_size=128, 8 GPUs: global batch size 1024")
    assert checked(tmp_path, text).codes == ["GBS104"]


@pytest.mark.parametrize(
    ("claim", "more", "verdict"),
    [
        # 4 x 2 x 2 = 16 completions in a step, 4 x 2 x 4 = 32 in a generation, of 4 prompts.
        pytest.param("gbs: 16", "steps_per_generation: 4", "verified", id="a step"),
        pytest.param("gbs: 32", "steps_per_generation: 4", "violated", id="our annotation means a step"),
        pytest.param("global batch size 32", "steps_per_generation: 4", "verified", id="prose may mean a generation"),
        pytest.param("global batch size 64", "steps_per_generation: 4", "violated", id="neither"),
        pytest.param("2 prompts per step", "", "verified", id="a generation for each step"),
        pytest.param("2 examples per step", "", "verified", id="examples may be prompts"),
        pytest.param("16 samples per step", "", "verified", id="samples may be completions"),
        pytest.param("3 examples per step", "", "violated", id="examples that are neither"),
        pytest.param("global batch size of 2 prompts", "", "verified", id="a batch that counts prompts"),
        pytest.param("global batch size of 16 prompts", "", "violated", id="a batch that counts prompts, not completions"),
        pytest.param("2 prompts per step", "steps_per_generation: 4", "undetermined", id="a step has parts of groups"),
    ],
)
def test_completions_are_counted_by_optimizer_steps(tmp_path: Path, claim: str, more: str, verdict: str) -> None:
    assert checked(tmp_path, GRPO.format(claim=claim, more=more), name="grpo.yaml").verdict == verdict


def test_a_rounded_batch_is_repaired_by_what_is_asked_for(tmp_path: Path) -> None:
    (found,) = checked(tmp_path, LITGPT.format(claim=16, devices=4)).findings
    assert found.details == (
        "12 = 3 accumulation x 1 micro x 4 data-parallel (1 node x 4 GPUs), which is"
        " train.global_batch_size 14 rounded down to whole micro batches",
    )
    assert found.holds == "set train.global_batch_size to 16, or change the comment to 12"
    (found,) = checked(tmp_path, LITGPT.format(claim=15, devices=4)).findings
    assert found.holds.endswith("change the comment to 12")
    assert "global_batch_size" not in found.holds


def commented(folder: Path, said: str, micro: int, accumulation: int) -> Checked:
    """What comes of a recipe of TRL below one comment."""
    settings = f"per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {accumulation}\n"
    return checked(folder, f"# {said}\nmodel_name_or_path: m\ndataset_name: d\nlearning_rate: 1e-5\n{settings}output_dir: o\n")


@pytest.mark.parametrize(
    ("said", "verdict", "implies"),
    [
        # 2 x 4 on 8 GPUs is 64.
        pytest.param("effective batch size 16 a pass on 8 GPUs, 64 once accumulated", "undetermined", "it also says 64", id="either"),
        pytest.param("effective batch size 16 a pass on 8 GPUs, 1,064 once accumulated", "violated", "", id="part of a number"),
        pytest.param("effective batch size 16 on 8 GPUs with 64k vocabulary", "violated", "", id="another unit"),
        pytest.param("effective batch size 32 (4 accumulation, 8 GPUs)", "violated", "", id="neither"),
    ],
)
def test_a_statement_that_also_says_what_the_settings_give_is_not_called_false(
    tmp_path: Path, said: str, verdict: str, implies: str
) -> None:
    found = commented(tmp_path, said, 2, 4)
    assert found.verdict == verdict
    assert implies in str(found.undetermined)


@pytest.mark.parametrize(
    ("said", "verdict", "codes"),
    [
        # 16 a GPU without accumulation: 128 on 8 GPUs, which is what `16 * 8` says.
        pytest.param("total batch size is 16 * 8 = 128", "undetermined", [], id="micro batch and GPUs"),
        pytest.param("total batch size 128 (8 * 16)", "undetermined", [], id="GPUs and micro batch"),
        pytest.param("total batch size 16 * 8 = 128 on 8 GPUs", "verified", [], id="GPUs beside it"),
        pytest.param("total batch size 16 * 1 * 8 = 128", "verified", [], id="all three"),
        pytest.param("total batch size (bs 16 x 8) = 128, 1 accum (8 GPUs)", "verified", [], id="a remark behind the accumulation"),
        pytest.param("total batch size 9 * 8 = 72", "violated", ["GBS101"], id="no multiple of 16"),
        pytest.param("total batch size 16 * 4 * 8 = 512 on 8 GPUs", "violated", ["GBS104"], id="accumulation of another time"),
    ],
)
def test_a_factor_without_a_name_may_be_the_gpus(tmp_path: Path, said: str, verdict: str, codes: list[str]) -> None:
    found = commented(tmp_path, said, 16, 1)
    assert (found.verdict, found.codes) == (verdict, codes)


@pytest.mark.parametrize(
    ("said", "verdict", "codes"),
    [
        # 2 per pass and 4 passes are 8 per step on each of 8 GPUs.
        pytest.param("effective batch 64 = 8 per gpu * 8", "undetermined", [], id="per GPU and step"),
        pytest.param("effective batch 64 = 8 samples per gpu per step * 8 GPUs", "verified", [], id="in more words"),
        pytest.param("effective batch 64 = 2 * 32 on 8 GPUs", "verified", [], id="passes of all GPUs"),
        pytest.param("effective batch 64 = 8 per gpu * 8 GPUs * 1 accum", "verified", [], id="an accumulation of 1 beside it"),
        pytest.param("effective batch 256 = 8 per gpu * 4 accum * 8 GPUs", "violated", ["GBS104"], id="the accumulation beside it"),
        pytest.param("effective batch 128 = 16 per gpu * 8 GPUs", "violated", ["GBS104"], id="twice as many"),
        pytest.param("effective batch 128 = 4 * 32 on 8 GPUs", "violated", ["GBS104"], id="another micro batch"),
    ],
)
def test_one_factor_may_be_several_sizes(tmp_path: Path, said: str, verdict: str, codes: list[str]) -> None:
    found = commented(tmp_path, said, 2, 4)
    assert (found.verdict, found.codes) == (verdict, codes)


@pytest.mark.parametrize(
    ("said", "micro", "verdict", "codes"),
    [
        # 2 x 4 x 1,024 tokens on one GPU.
        pytest.param("effective batch = 2 x 4 x 1024 = 8,192 tokens/step", 2, "undetermined", [], id="on one GPU"),
        pytest.param("effective batch = 2 x 4 x 1024 = 8,192 tokens/step", 3, "violated", ["GBS101"], id="of another micro batch"),
        pytest.param("effective batch = 2 x 4 x 8 x 1024 = 65,536 tokens/step", 2, "verified", [], id="the rest is the GPUs"),
    ],
)
def test_the_sequence_length_among_factors_is_not_a_number_of_gpus(
    tmp_path: Path, said: str, micro: int, verdict: str, codes: list[str]
) -> None:
    settings = f"per_device_train_batch_size: {micro}\ngradient_accumulation_steps: 4\nmax_length: 1024\npacking: true\n"
    found = checked(tmp_path, f"# {said}\nmodel_name_or_path: m\ndataset_name: d\nlearning_rate: 1e-5\n{settings}output_dir: o\n")
    assert (found.verdict, found.codes) == (verdict, codes)


def test_a_claim_whose_own_hardware_contradicts_itself_shows_what_the_settings_give(tmp_path: Path) -> None:
    (finding,) = commented(tmp_path, "GBS 120 with dp 8 on 2 GPUs", 3, 5).findings
    assert finding.message == "comment says 120, but the settings give 30"
