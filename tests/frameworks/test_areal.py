"""AReaL reads a batch of prompts, and trains on their completions in minibatches."""

import pytest

from pytest_gbs.model.quantity import Name

from .building import sizes, table, title, value

HEAD = "experiment_name: mine\ntrial_name: first\ncluster: {n_nodes: 1, n_gpus_per_node: 8}\n"
DATA = "train_dataset: {path: my/data, type: %s, batch_size: %s}\n"
RL = HEAD + DATA + "gconfig: {n_samples: %s}\nactor: {backend: 'fsdp:d4', path: my/model%s}\n"
SFT = HEAD + DATA + "actor: {backend: 'fsdp:d8', path: my/model}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("train_dataset: {batch_size: 8}\nmodel: resnet\n", id="somebody's vision model"),
        pytest.param(HEAD + "valid_dataset: {batch_size: 8}\nactor: {path: my/model}\n", id="evaluation only"),
        pytest.param("experiment_name: a\ntrial_name: b\ntrain_dataset: {batch_size: 8}\n", id="nothing that trains"),
        pytest.param(HEAD + "gconfig: {n_samples: 4}\nrollout: {max_concurrent_rollouts: 8}\n", id="rollouts only"),
    ],
)
def test_parts_and_look_alikes_are_not_recipes(text: str) -> None:
    assert title(text) is None


def test_the_data_tell_what_a_batch_counts() -> None:
    assert title(RL % ("rl", 256, 4, "")) == "AReaL (RL)"
    assert title(SFT % ("sft", 128)) == "AReaL (SFT)"
    assert title(SFT % ("rw", 128)) == "AReaL (preferences)"
    assert title(SFT % ("dpo", 128) + "ref: {path: my/model}\n") == "AReaL (preferences)"
    assert (table("AReaL (preferences)").unit, table("AReaL (preferences)").sequences_per_sample) == ("pairs", 2)


# examples/math: 256 prompts x 4 completions in 1 minibatch (gsm8k_grpo.yaml), 32 x 16 in 4 (boba_grpo.yaml); 4 by default.
@pytest.mark.parametrize(
    ("prompts", "n", "more", "expected"),
    [
        (256, 4, ", ppo_n_minibatches: 1", 1024),
        (32, 16, ", ppo_n_minibatches: 4", 128),
        (32, 16, "", 128),
        (30, 1, "", "not-whole"),
        (30, 1, ", ppo_n_minibatches: '${n}'", None),
    ],
)
def test_a_rollout_is_trained_in_minibatches(prompts: int, n: int, more: str, expected: int | str | None) -> None:
    assert value(sizes(RL % ("rl", prompts, n, more)).stated.get(Name.GLOBAL_BATCH_SIZE)) == expected


@pytest.mark.parametrize("kind", ["sft", "rw", "dpo"])
@pytest.mark.parametrize("world", [1, 3, 8])
def test_a_batch_is_global_on_any_hardware(kind: str, world: int) -> None:
    assert sizes(SFT % (kind, 128), world_size=world).global_batch_size == 128
