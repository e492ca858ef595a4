"""SkyRL checks every division of its batches before it starts."""

import pytest

from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name

from .building import outcomes, sizes, stumbles, title, value

RL = """\
trainer:
  train_batch_size: {train}
  policy_mini_batch_size: {mini}
  micro_train_batch_size_per_gpu: {micro}
{more}generator: {{n_samples_per_prompt: {n}}}
"""
PARALLEL = "tensor_model_parallel_size: 2, pipeline_model_parallel_size: 4"
MEGATRON = f"  {{strategy}}policy: {{{{sequence_parallel_size: 2, megatron_config: {{{{{PARALLEL}}}}}}}}}\n"
SFT = "micro_train_batch_size_per_gpu: {micro}\nbatch_size: {batch}\nstrategy: {strategy}\n{more}"


def rl(train: int = 1024, mini: int = 256, n: int = 5, micro: object = 64, more: str = "") -> str:
    return RL.format(train=train, mini=mini, n=n, micro=micro, more=more)


def sft(batch: int = 8, micro: int = 2, strategy: str = "megatron", more: str = "") -> str:
    return SFT.format(batch=batch, micro=micro, strategy=strategy, more=more)


def test_the_two_trainers_are_distinguished() -> None:
    assert title(rl()) == "SkyRL (RL)"
    assert title(sft()) == "SkyRL (SFT)"
    assert title("trainer: {train_batch_size: 8}\ngenerator: {n: 4}\n") is None
    assert title("batch_size: 8\nstrategy: fsdp\nplacement: cpu\n") is None


# run_gsm8k.sh of SkyRL: 256 x 5 = 1280 completions, 320 on each of 4 GPUs, 5 micro batches of 64, 4 steps.
def test_completions_follow_from_prompts() -> None:
    stated = sizes(rl(), world_size=4).stated
    expected = {Name.GLOBAL_BATCH_SIZE: 1280, Name.RANK_BATCH_SIZE: 320, Name.GRADIENT_ACCUMULATION_STEPS: 5, Name.STEPS_PER_ROLLOUT: 4}
    assert {name: value(stated[name]) for name in expected} == expected


@pytest.mark.parametrize(
    ("strategy", "ranks"), [("", 32), ("strategy: fsdp\n  ", 32), ("strategy: megatron\n  ", 8)], ids=["default", "fsdp", "megatron"]
)
def test_the_strategy_decides_which_parallel_sizes_count(strategy: str, ranks: int) -> None:
    text = rl(more=MEGATRON.format(strategy=strategy))
    assert value(sizes(text, world_size=64).stated[Name.DATA_PARALLEL_SIZE]) == ranks


@pytest.mark.parametrize(("tokens", "expected"), [(-1, 5), (16384, None)])
def test_micro_batches_filled_by_tokens_have_no_accumulation(tokens: int, expected: int | None) -> None:
    stated = sizes(rl(more=f"  max_tokens_per_microbatch: {tokens}\n"), world_size=4).stated
    assert value(stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) == expected


CRITIC_OF = "  critic: {{model: {{path: my/critic}}}}\n  placement: {{critic_num_gpus_per_node: {gpus}}}\n"
CRITIC = "  critic_mini_batch_size: 5\n"


@pytest.mark.parametrize(
    ("code", "text", "world", "expected"),
    [
        pytest.param("GBS202", rl(), 4, 0, id="in order"),
        pytest.param("GBS202", rl(), None, 0, id="GPUs not known"),
        pytest.param("GBS202", rl(more=CRITIC), 4, 0, id="no critic"),
        pytest.param("GBS202", rl(n=1, mini=100, train=200, micro=3), 32, 0, id="rounded, and still whole"),  # 100 // 32 = 3, 200 // 32 = 6
        pytest.param("GBS207", rl(), 4, 0, id="each rank has something"),
        pytest.param("GBS202", rl(train=1000), 4, 1, id="a rollout of no whole mini batches"),
        pytest.param("GBS202", rl(train=128), 4, 1, id="a rollout smaller than a mini batch"),
        pytest.param("GBS202", rl(micro=48), 4, 1, id="320 is not 48 x something"),
        pytest.param("GBS202", rl(n=1, mini=90, train=180, micro=1), 32, 1, id="rounded"),  # 180 // 32 = 5, 90 // 32 = 2
        pytest.param("GBS202", rl(micro=5, more=CRITIC + "  critic: {model: {path: my/critic}}\n"), 4, 1, id="a critic"),
        # 256 x 5 = 1280 completions on one rank of the critic, or 1280 // 3 = 426 on three.
        pytest.param("GBS202", rl(more=CRITIC_OF.format(gpus=1)), 4, 0, id="a critic on one GPU"),
        pytest.param("GBS202", rl(more=CRITIC_OF.format(gpus=3)), 4, 1, id="a critic without whole micro batches"),
        pytest.param("GBS207", rl(n=1, mini=8, train=64), 16, 1, id="a rank without a completion"),
    ],
)
def test_batches_must_divide(code: str, text: str, world: int | None, expected: int) -> None:
    found = outcomes(code, text, **({"world_size": world} if world else {}))
    assert len([outcome for outcome in found if isinstance(outcome, Finding)]) == expected


@pytest.mark.parametrize(("micro", "expected"), [("8", None), ("true", None), ("0", Treatment.STOPS), ("eight", Treatment.STOPS)])
def test_nothing_is_converted(micro: str, expected: str | None) -> None:
    assert stumbles(rl(micro=micro)) == ({"micro_train_batch_size_per_gpu": expected} if expected else {})


def test_the_sft_trainer_splits_the_model_in_four_by_default() -> None:
    stated = sizes(sft(), world_size=8).stated
    assert value(stated[Name.DATA_PARALLEL_SIZE]) == 2
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 2  # 8 / (2 x 2)
    assert value(sizes(sft(strategy="fsdp", batch=16), world_size=8).stated[Name.DATA_PARALLEL_SIZE]) == 8


def test_the_sft_trainer_checks_without_context_parallelism() -> None:
    def failing(text: str) -> int:
        return len([outcome for outcome in outcomes("GBS202", text, world_size=8) if isinstance(outcome, Finding)])

    context = "megatron_config: {tensor_model_parallel_size: 1, pipeline_model_parallel_size: 1, context_parallel_size: 2}\n"
    assert failing(sft()) == 0
    assert failing(sft(batch=16, more=context)) == 0
    assert failing(sft(batch=8, more=context)) == 1  # 8 on 8 GPUs is less than a micro batch of 2, though 4 ranks would do
    assert failing(sft(batch=8, more=f"{context}use_sequence_packing: true\n")) == 0
