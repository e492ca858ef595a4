"""slime states a rollout in prompts and a step in completions; here its flags stand as a launch hands them over."""

import pytest

from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, title, value

HEAD = "hf_checkpoint: my/model\nrollout_batch_size: {prompts}\nn_samples_per_prompt: {n}\n"
RANKS = "tensor_model_parallel_size: 2\ncontext_parallel_size: 2\n"


def rl(prompts: int = 32, n: int = 8, more: str = "global_batch_size: 256\n") -> str:
    return HEAD.format(prompts=prompts, n=n) + more


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("rollout_batch_size: 32\nn_samples_per_prompt: 8\ntrain_batch_size: 128\npretrain: my/model\n", id="OpenRLHF"),
        pytest.param("rollout_batch_size: 32\nglobal_batch_size: 128\n", id="no checkpoint"),
        pytest.param("hf_checkpoint: my/model\nglobal_batch_size: 128\nmicro_batch_size: 1\n", id="Megatron's flags"),
        pytest.param("hf_checkpoint: my/model\ntensor_parallel_size: 2\nport: 8000\n", id="a server"),
    ],
)
def test_flags_of_others_are_left_alone(text: str) -> None:
    assert "slime" not in (title(text) or "")


def test_the_loss_shows_the_unit() -> None:
    assert title(rl()) == "slime (RL)"
    assert title(rl(more="global_batch_size: 32\nloss_type: sft_loss\n")) == "slime (SFT)"


# scripts/run-qwen3-4B.sh: 32 prompts x 8 = 256 completions, one step of 256. Half the batch, or twice the prompts, are two steps.
@pytest.mark.parametrize(
    ("text", "batch", "steps"),
    [
        pytest.param(rl(), 256, 1, id="one step"),
        pytest.param(rl(more="global_batch_size: 128\n"), 128, 2, id="two steps"),
        pytest.param(rl(more="global_batch_size: 100\n"), 100, 2, id="56 completions are dropped"),
        pytest.param(rl(more="num_steps_per_rollout: 2\n"), 128, 2, id="steps are given"),  # 32 x 8 // 2
        pytest.param(rl(prompts=33, n=1, more="num_steps_per_rollout: 2\n"), 16, 2, id="rounded down"),  # 33 // 2
        pytest.param(rl(more=""), None, None, id="nothing is given"),
    ],
)
def test_batch_and_steps_follow_from_each_other(text: str, batch: int | None, steps: int | None) -> None:
    stated = sizes(text).stated
    assert value(stated.get(Name.GENERATION_BATCH_SIZE)) in (256, 33)
    assert (value(stated.get(Name.GLOBAL_BATCH_SIZE)), value(stated.get(Name.STEPS_PER_ROLLOUT))) == (batch, steps)


# 16 GPUs / (2 x 2) = 4 ranks; 256 micro batches of 1 are 64 for each, 128 of 2 are 32.
@pytest.mark.parametrize(
    ("more", "accumulation"),
    [("", 64), ("micro_batch_size: 2\n", 32), ("use_dynamic_batch_size: true\nmax_tokens_per_gpu: 9216\n", None)],
    ids=["one by one", "two by two", "filled by tokens"],
)
def test_ranks_share_the_micro_batches(more: str, accumulation: int | None) -> None:
    stated = sizes(rl(more="global_batch_size: 256\n" + RANKS + more), world_size=16).stated
    assert value(stated[Name.DATA_PARALLEL_SIZE]) == 4
    assert value(stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) == accumulation


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        pytest.param("GBS202", rl(more="global_batch_size: 256\n" + RANKS), [Verified], id="64 micro batches each"),
        pytest.param("GBS202", rl(more="global_batch_size: 254\nuse_dynamic_batch_size: true\n" + RANKS), [], id="split as needed"),
        # 30 in micro batches of 8 are four, the last of them short: one for each of 4 ranks.
        pytest.param("GBS202", rl(more="global_batch_size: 30\nmicro_batch_size: 8\n" + RANKS), [Verified], id="a short micro batch"),
        pytest.param("GBS207", rl(), [Verified], id="a rollout holds a step"),
        pytest.param("GBS207", rl(prompts=16), [Finding], id="128 completions for steps of 256"),
        pytest.param("GBS202", rl(more="global_batch_size: 254\n" + RANKS), [Finding], id="254 for 4 ranks"),
        pytest.param("GBS202", rl(more="global_batch_size: ${BATCH}\n" + RANKS), [Undetermined], id="a batch from outside"),
    ],
)
def test_each_rank_has_as_many_micro_batches(code: str, text: str, expected: list[type]) -> None:
    assert [type(outcome) for outcome in outcomes(code, text, world_size=16)] == expected
