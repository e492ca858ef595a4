"""The shapes in which people state a batch beside a key, through a whole check: what stays silent, what holds, what is reported."""

from pathlib import Path

import pytest

from pytest_gbs import load
from tests.rules.claimed import checked, recipe

JOB = """\
compute:
  gpus: {gpus}
parameters:
  max_seq_len: 2048
  train_loader:
    name: text
  max_duration: 1ep
  global_train_batch_size: 64  # {comment}
  device_train_microbatch_size: 1
"""
NANOTRON = """\
parallelism:
  dp: {dp}
  pp: 1
  tp: 1
tokens:
  batch_accumulation_per_replica: 1  # batch_accumulation_per_replica * micro_batch_size * dp = 1 * 32 * 16 = 512
  micro_batch_size: 32
  sequence_length: 1024
  train_steps: 10
optimizer:
  zero_stage: 0
"""
AUTOMODEL = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler:
  global_batch_size: 8192  # GA = GBS / (world*lbs) = 8192 / (32*4) = 64
  local_batch_size: {micro}
  max_steps: 5
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
"""


@pytest.mark.parametrize(
    "comment",
    [
        "must be a multiple of 8*num_gpus",
        "at least 8 * num_gpus",
        "8 * num_gpus * accumulation",
        "per_device * num_gpus",
        "8 * num_workers of the loader",
    ],
)
def test_what_bounds_the_batch_by_the_gpus_is_not_a_claim(tmp_path: Path, comment: str) -> None:
    found = checked(tmp_path, JOB.format(gpus=16, comment=comment))
    assert (found.verdict, found.codes) == ("verified", [])
    assert found.undetermined == ()


@pytest.mark.parametrize("comment", ["8*num_gpus", "should be 8*num_gpus", "8 x number of GPUs", "Global batch size: 4 * 2 * world_size"])
def test_so_many_for_each_gpu(tmp_path: Path, comment: str) -> None:
    assert checked(tmp_path, JOB.format(gpus=8, comment=comment))[:2] == ("verified", [])
    wrong = checked(tmp_path, JOB.format(gpus=16, comment=comment))
    assert wrong.codes == ["GBS101"]
    assert wrong.findings[0].message == "comment says 8 x 16 GPUs = 128, but the settings give 64"
    assert wrong.findings[0].holds == "set parameters.global_train_batch_size to 128"


@pytest.mark.parametrize(("each", "verdict", "codes"), [(16, "verified", []), (8, "violated", ["GBS101"])])
def test_so_many_for_each_of_any_number_of_gpus(tmp_path: Path, each: int, verdict: str, codes: list[str]) -> None:
    # 2 x 8 on each GPU.
    found = checked(tmp_path, recipe(2, 8, header=f"global batch size = {each} * num_gpus"))
    assert found[:2] == (verdict, codes)
    assert [finding.message for finding in found.findings] == ["comment says 8 x 1 GPU = 8, but the settings give 16"] * len(codes)


def test_so_many_for_each_gpu_are_loaded_as_that(tmp_path: Path) -> None:
    (tmp_path / "sft.yaml").write_text(recipe(2, 8, header="global batch size = 16 * num_gpus"), encoding="utf-8")
    (found,) = load(tmp_path).recipes.values()
    assert [(stated.name, stated.value) for stated in found.claims] == [("rank_batch_size", 16)]


@pytest.mark.parametrize(
    ("accumulation", "comment", "verdict", "codes"),
    [
        # 2 x 1 on each GPU: the comment may say what to set on 16 GPUs.
        (1, "16 if 16 gpus", "unclaimed", []),
        (1, "16 for 16 gpus on a node", "unclaimed", []),
        # A batch size may be that of one device, of one pass over all of them, or the global one.
        (8, "bs=2 on 8 gpus", "unclaimed", []),
        (8, "bs=16 on 8 gpus", "unclaimed", []),
        (8, "bs=8 on 4 gpus", "unclaimed", []),
        (8, "bs=128 on 8 gpus", "verified", []),
        (4, "bs=128 on 8 gpus", "warned", ["GBS106"]),
        (4, "batch size 128 on 8 GPUs", "warned", ["GBS106"]),
        (8, "32 if 2 gpus", "verified", []),
        (4, "bsz 128 (2 x 4 x 16)", "verified", []),
        (4, "bsz 128 (2 x 4 x 8)", "violated", ["GBS102"]),
        (4, "eff. bs 128 on 16 GPUs", "verified", []),
        (4, "eff. bs 128 on 8 GPUs", "violated", ["GBS101"]),
        (3, "GBS=32", "violated", ["GBS101"]),
        (4, "512 effective batch (the paper's)", "undetermined", []),
        (3, "512 effective batch (the paper's)", "violated", ["GBS101"]),
        (3, "512 effective", "violated", ["GBS101"]),
        (3, "38,631 rows / 16 = 2,414 steps", "violated", ["GBS101"]),
        (3, "128 / (2 * 8) = 8", "violated", ["GBS104"]),
    ],
)
def test_a_comment_behind_the_accumulation(tmp_path: Path, accumulation: int, comment: str, verdict: str, codes: list[str]) -> None:
    assert checked(tmp_path, recipe(2, accumulation, trailing=comment))[:2] == (verdict, codes)


def test_factors_behind_their_names(tmp_path: Path) -> None:
    assert checked(tmp_path, NANOTRON.format(dp=16))[:2] == ("verified", [])
    wrong = checked(tmp_path, NANOTRON.format(dp=2))
    assert [finding.message for finding in wrong.findings] == ["comment says 512, but the settings give 64"]


def test_an_accumulation_worked_out_from_the_batch(tmp_path: Path) -> None:
    assert checked(tmp_path, AUTOMODEL.format(micro=4))[:2] == ("verified", [])
    assert checked(tmp_path, AUTOMODEL.format(micro=1))[:2] == ("violated", ["GBS104"])


def test_tokens_a_thousand_times_too_many(tmp_path: Path) -> None:
    text = recipe(4, 8, header="1 node of 8 GPUs\n# a 500M GBS", more="packing: true")
    assert checked(tmp_path, text.replace("500M", "1M"))[:2] == ("verified", [])  # 4 x 8 x 8 x 4,096 tokens
    assert checked(tmp_path, text)[:2] == ("violated", ["GBS101"])
