"""Programs of Composer: the batch is given, the program divides it by the GPUs."""

from pathlib import Path

import pytest

from tests.rules.claimed import checked

from .building import sizes, title, value

NAMED = "global_train_batch_size: 32\ndevice_train_microbatch_size: {micro}\nmax_duration: 200ba\nrun_name: x\n"
JOB = "compute:\n  gpus: 8\nparameters:\n  " + NAMED.format(micro="auto").replace("\n", "\n  ").rstrip() + "\n"


@pytest.mark.parametrize(
    "text",
    [
        "global_train_batch_size: 32\nmax_duration: 200ba\n",
        "device_train_microbatch_size: 4\nmax_duration: 200ba\n",
        NAMED.format(micro=4).replace("max_duration", "duration"),
        NAMED.format(micro=4) + "save_interval_unsharded: 1000\n",
    ],
)
def test_what_is_not_a_recipe_of_composer(text: str) -> None:
    assert not (title(text) or "").startswith("Composer")


def test_llm_foundry_has_a_loader_of_its_own() -> None:
    assert title(NAMED.format(micro=4) + "train_loader:\n  name: text\n") == "llm-foundry"


@pytest.mark.parametrize(("text", "called"), [(NAMED.format(micro=4), "Composer"), (JOB, "Composer (MosaicML job)")])
def test_a_program_of_its_own(text: str, called: str) -> None:
    assert title(text) == called


def test_a_gpu_takes_its_part_in_micro_batches() -> None:
    found = sizes(NAMED.format(micro=3), world_size=4)
    # 32 on 4 GPUs are 8 each: micro batches of 3, 3 and 2.
    assert (value(found.get("global_batch_size")), value(found.get("gradient_accumulation_steps"))) == (32, 3)


@pytest.mark.parametrize(("each", "verdict"), [(4, "verified"), (2, "violated")])
def test_what_each_gpu_of_a_job_takes(tmp_path: Path, each: int, verdict: str) -> None:
    text = JOB.replace("batch_size: 32", f"batch_size: 32  # Training total batch size ({each} per 40gb A100, 8 cards)", 1)
    assert value(sizes(text).get("micro_batch_size")) == "auto"
    assert checked(tmp_path, text).verdict == verdict


GROUPS = """\
dataset:
  train_batch_size: 96{comment}
  eval_batch_size: 48
trainer:
  _target_: composer.Trainer
  device_train_microbatch_size: 4
  max_duration: 100ba
"""


@pytest.mark.parametrize("key", ["train_batch_size", "device_train_microbatch_size", "max_duration"])
def test_groups_without_one_of_their_keys_are_not_composers(key: str) -> None:
    assert title(GROUPS.format(comment="").replace(f" {key}", " other")) is None


def test_the_arguments_of_the_trainer_in_a_group() -> None:
    found = sizes(GROUPS.format(comment=""), world_size=8)
    # 96 on 8 GPUs are 12 each: three micro batches of 4. The batch of the evaluation is another one.
    assert (value(found.get("global_batch_size")), value(found.get("gradient_accumulation_steps"))) == (96, 3)


@pytest.mark.parametrize(("stated", "verdict"), [(96, "verified"), (48, "violated")])
def test_a_comment_on_the_batch_of_a_group(tmp_path: Path, stated: int, verdict: str) -> None:
    assert checked(tmp_path, GROUPS.format(comment=f"  # global batch size {stated}")).verdict == verdict


@pytest.mark.parametrize("text", [GROUPS.format(comment=""), NAMED.format(micro=4)])
def test_a_micro_batch_without_a_value_stops_no_trainer(tmp_path: Path, text: str) -> None:
    assert checked(tmp_path, text.replace("microbatch_size: 4", "microbatch_size:")).verdict == "unclaimed"
