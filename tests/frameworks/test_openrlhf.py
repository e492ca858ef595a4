"""OpenRLHF has flags only, dotted since 0.10.2 and plain before; here they stand as a launch hands them over."""

import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Name

from .building import document, outcomes, sizes, stumbles, title, value

COMMON = "ds: {zero_stage: 3, param_dtype: bf16%s}\nckpt: {output_dir: out}\n"
OFFLINE = COMMON + "train: {batch_size: %s, micro_batch_size: %s}\n"
PPO = COMMON + "train: {batch_size: %s, micro_batch_size: %s%s}\nrollout: {batch_size: %s, n_samples_per_prompt: 8, micro_batch_size: 4}\n"
PLAIN = "pretrain: my/model\nzero_stage: 3\ntrain_batch_size: 128\nmicro_train_batch_size: 8\nring_attn_size: 2\n"


def offline(batch: object = 128, micro: object = 8, more: str = "") -> str:
    return OFFLINE % (more, batch, micro)


def ppo(batch: int = 128, micro: int = 8, train: str = "", rollout: int = 128, more: str = "") -> str:
    return PPO % (more, batch, micro, train, rollout)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("train: {batch_size: 8, micro_batch_size: 1}\nmodel: {name: a}\n", id="somebody's own trainer"),
        pytest.param("train: {batch_size: 8}\npretrain: false\npolicy: {name: a}\n", id="one that says whether it starts from a model"),
        pytest.param("train: {global_batch_size: 8, micro_batch_size: 1}\ndataset: {seq_length: 4096}\n", id="Megatron Bridge"),
        pytest.param("train_batch_size: 8\nzero_optimization: {stage: 2}\n", id="DeepSpeed"),
    ],
)
def test_flags_of_others_are_left_alone(text: str) -> None:
    assert "OpenRLHF" not in (title(text) or "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(offline(), "OpenRLHF (SFT)", id="nothing says which"),
        pytest.param(ppo(), "OpenRLHF (PPO)", id="rollouts"),
        pytest.param(PLAIN, "OpenRLHF (SFT)", id="plain flags"),
        pytest.param(f"{PLAIN}rollout_batch_size: 1024\n", "OpenRLHF (PPO)", id="plain flags with rollouts"),
    ],
)
def test_flags_are_recognised(text: str, expected: str) -> None:
    assert title(text) == expected


@pytest.mark.parametrize(("script", "unit", "micro"), [("sft", "samples", 8), ("dpo", "pairs", 8), ("rm", "pairs", 1)])
def test_the_script_decides_unit_and_defaults(script: str, unit: str, micro: int) -> None:
    found = recognise(document(COMMON % ""), Program(f"openrlhf/cli/train_{script}"))
    assert found is not None
    assert found.title == f"OpenRLHF ({script.upper()})"
    assert found.unit == unit
    assert [row.default for row in found.rows if row.name == Name.MICRO_BATCH_SIZE and row.default] == [micro]


@pytest.mark.parametrize(
    ("text", "world", "accumulation"),
    [
        pytest.param(offline(256, 2), 8, 16, id="train_sft.sh: 256 / (2 x 8)"),
        pytest.param(ppo(128, 8), 8, 2, id="train_dapo: 128 / (8 x 8)"),
        pytest.param(ppo(1024, 1, more=", ring_attn_size: 2"), 4, 512, id="rings of 2: 1024 / 2"),
        pytest.param(offline(2048, 8, more=", ring_attn_size: 4"), 128, 8, id="rings of 4: 2048 / (8 x 32)"),
        pytest.param(offline(128, 8, more=", tensor_parallel_size: 2, ring_attn_size: 4"), 8, 16, id="both: 128 / 8"),
        pytest.param(PLAIN, 8, 4, id="plain: 128 / (8 x 4)"),
    ],
)
def test_accumulation_follows_from_the_batch(text: str, world: int, accumulation: int) -> None:
    assert value(sizes(text, world_size=world).stated[Name.GRADIENT_ACCUMULATION_STEPS]) == accumulation


def test_the_batch_of_ppo_counts_completions() -> None:
    stated = sizes(ppo(), num_nodes=1, gpus_per_node=8).stated
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == 128
    assert value(stated[Name.GENERATION_BATCH_SIZE]) == 1024


DYNAMIC = ", dynamic_batch_enable: true"


def test_a_dynamic_batch_is_not_checked_but_rounded_down() -> None:
    found = sizes(ppo(100, train=DYNAMIC), world_size=8)
    assert Name.GRADIENT_ACCUMULATION_STEPS not in found.stated
    assert value(found.realised[Name.GLOBAL_BATCH_SIZE]) == 96
    assert outcomes("GBS202", ppo(100, train=DYNAMIC), world_size=8) == []


def test_deepspeed_takes_whole_micro_batches_only() -> None:
    assert isinstance(outcomes("GBS202", offline(), world_size=8)[0], Verified)
    assert isinstance(outcomes("GBS202", offline(), world_size=6)[0], Finding)
    assert isinstance(outcomes("GBS202", offline(), world_size=32)[0], Finding)  # 128 is less than 8 x 32
    assert isinstance(outcomes("GBS202", offline())[0], Undetermined)


def test_a_rollout_gives_each_rank_of_the_actor_something() -> None:
    assert isinstance(outcomes("GBS207", ppo(), world_size=8)[0], Verified)  # 1024 / 4 = 256 micro batches
    assert isinstance(outcomes("GBS207", ppo(8, 1, rollout=2), world_size=8)[0], Finding)  # 16 / 4 = 4, fewer than 8 ranks


@pytest.mark.parametrize(("batch", "expected"), [("64", None), ("$(BATCH)", None), ("auto", Treatment.STOPS), ("0", Treatment.STOPS)])
def test_flags_are_whole_numbers(batch: str, expected: str | None) -> None:
    assert stumbles(offline(batch)) == ({"batch_size": expected} if expected else {})
