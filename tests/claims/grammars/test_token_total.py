"""Batches counted in tokens."""

import pytest

from pytest_gbs.model.declaration import Force
from tests.claims.grammars.support import batch, batches, behind

TOKENS = "tokens_per_step"


@pytest.mark.parametrize(
    "text",
    [
        "~1B tokens on single GPU takes 25 hours",
        "0.002 = 100M tokens",
        "trained for 2T tokens",
        "8192 tokens per sample",
        "tokens_per_second = 64 * 4096 = 262144",
        "max 4096 tokens per GPU",
        "~1940 tok/s on one card",
        "131072/16 = 8192 tokens/rank at the worst case",
        "at most 16384 tokens in a single step of vLLM inference",
        "micro batch of 8192 tokens",
        "eval: 1M tokens per step",
        "the teacher sees 1M tokens per step",
        "512 tokens per step",
        "2 token per expert, 4096 in all",
        "loss per token per step: 4096",
        "8192-token batches fit",
        "a 1M token micro batch",
        "1M token evaluation batches",
        "one 2M token shard, a batch of 4",
    ],
)
def test_other_tokens_are_not_a_batch(text: str) -> None:
    assert batches(text) == []
    assert [d for d in behind("per_device_train_batch_size", text) if d.name == TOKENS and d.force == Force.STATES] == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("~4M tokens per step", 4_194_304),
        ("1,048,576 tokens per optimizer step", 1_048_576),
        ("0.5M tokens/batch", 524_288),
        ("token per iter = 491,520", 491_520),
        ("2 million tokens per batch", 2_097_152),
        ("tokens per step: 4M", 4_194_304),
        ("tokens_per_iter = 64 * 4096 = 262144", 262_144),
        ("global batch size 64 * 4096 seq len = 262,144 tokens", 262_144),
        ("global batch size 64 x 4096 tokens = 262144 tokens", 262_144),
        ("GBS = 64 x 4096 tokens per sample = 256k", 262_144),
        ("batch size of 2M tokens", 2_097_152),
        ("4M token global batch size on 64 nodes", 4_194_304),
        ("0.5M-token batches", 524_288),
        ("2M tokens batch size", 2_097_152),
        ("500,000 token training batch", 500_000),
        ("At seq=4096, batch=16: ~65k tokens/iter, ~280 iters/hour", 65_000),
    ],
)
def test_reads_tokens_per_step(text: str, value: int) -> None:
    assert batches(text) == [(TOKENS, value)]


@pytest.mark.parametrize("key", ["global_train_batch_size", "global_batch_size", "gradient_accumulation_steps"])
def test_tokens_behind_the_batch_are_those_of_the_batch(key: str) -> None:
    assert [(d.name, d.value, d.unit) for d in behind(key, "~1M tokens")] == [(TOKENS, 1_048_576, "tokens")]


@pytest.mark.parametrize("key", ["max_length", "per_device_train_batch_size", "max_duration"])
def test_tokens_behind_another_key_are_not(key: str) -> None:
    assert behind(key, "~1M tokens") == ()


def test_samples_and_tokens_of_one_sentence_are_two_claims() -> None:
    text = "Effective batch of 32 sequences, ~0.5M tokens per optimizer step."
    assert batches(text) == [("global_batch_size", 32), (TOKENS, 524_288)]


def test_about_loosens_the_number() -> None:
    found = batch("~65k tokens per step")
    assert found.admits(65_536)
    assert not found.admits(131_072)


def test_history_is_not_stated() -> None:
    assert batch("the doremi paper do 500k tokens per batch").force == Force.HISTORY
