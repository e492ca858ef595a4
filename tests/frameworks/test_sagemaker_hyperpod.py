"""SageMaker HyperPod recipes: what they state, and what nobody outside knows."""

from __future__ import annotations

import pytest

from pytest_gbs.core.outcome import Finding
from pytest_gbs.core.quantity import Name

from .building import outcomes, sizes, stumbles, title, value

RUN = "run: {name: my-run, model_type: x}\ntrainer: {num_nodes: 2, devices: 8}\n"
LLMFT = RUN + (
    "training_config:\n  model_config: {model_name_or_path: x}\n  training_args: {train_batch_size: BATCH, micro_train_batch_size: MICRO}\n"
)
NOVA = (
    "run: {name: my-run, model_type: 'amazon.nova-pro-v1:0:300k', replicas: 6}\n"
    "training_config: {max_length: 32768, global_batch_size: 16}\n"
)
RL = RUN + (
    "training_config:\n  data: {train_batch_size: 256}\n"
    "  actor_rollout_ref: {actor: {ppo_mini_batch_size: 64, ppo_micro_batch_size_per_gpu: 4}, rollout: {n: 6}}\n"
)
SFT = RUN + "training_config:\n  data: {train_batch_size: 64, micro_batch_size_per_gpu: 1}\n"


def _llmft(batch: object, micro: object) -> str:
    return LLMFT.replace("BATCH", str(batch)).replace("MICRO", str(micro))


def test_other_launchers_are_told_apart() -> None:
    assert title("run: {name: x}\ntrainer: {num_nodes: 2}\nmodel: {hidden: 8}\n") is None
    assert title("training_args: {train_batch_size: 8}\nmodel_config: {}\n") is None


@pytest.mark.parametrize(
    ("text", "variant", "batch", "unit_size"),
    [
        pytest.param(_llmft(batch=128, micro=2), "LLMFT", 128, (Name.MICRO_BATCH_SIZE, 2), id="llmft"),
        pytest.param(NOVA, "Nova", 16, (Name.NUM_NODES, 6), id="nova"),
        pytest.param(RL, "verl, RL", 384, (Name.PROMPTS_PER_ROLLOUT, 256), id="64 prompts x 6 completions"),
        pytest.param(SFT, "verl, fine-tuning", 64, (Name.MICRO_BATCH_SIZE, 1), id="sft"),
    ],
)
def test_what_a_recipe_states_is_known(text: str, variant: str, batch: int, unit_size: tuple[str, int]) -> None:
    assert title(text) == f"SageMaker HyperPod ({variant})"
    stated = sizes(text, num_nodes=6).stated
    assert value(stated.get(Name.GLOBAL_BATCH_SIZE)) == batch
    assert value(stated.get(unit_size[0])) == unit_size[1]


def test_nobody_guesses_an_accumulation() -> None:
    for text in (_llmft(batch=128, micro=2), NOVA, RL, SFT):
        assert value(sizes(text, num_nodes=2, gpus_per_node=8).stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) is None


def test_sizes_that_the_launcher_replaces_are_not_known() -> None:
    text = _llmft(batch=128, micro=2) + "scale_config: {1: {trainer: {num_nodes: 1}}}\n"
    assert value(sizes(text).stated.get(Name.GLOBAL_BATCH_SIZE)) is None


def test_micro_batches_that_are_filled_by_tokens_have_no_size() -> None:
    text = SFT.replace("micro_batch_size_per_gpu: 1", "micro_batch_size_per_gpu: 1, use_dynamic_bsz: true")
    assert value(sizes(text).stated.get(Name.MICRO_BATCH_SIZE)) is None


def test_a_batch_above_the_micro_batch_is_in_order() -> None:
    assert not any(isinstance(each, Finding) for each in outcomes("GBS207", _llmft(batch=2, micro=2)))


def test_the_launcher_refuses_a_batch_below_the_micro_batch() -> None:
    assert [type(each) for each in outcomes("GBS207", _llmft(batch=2, micro=4))] == [Finding]


def test_the_launcher_refuses_no_batch() -> None:
    assert stumbles(_llmft(batch=0, micro=-1)) == {"train_batch_size": "stops", "micro_train_batch_size": "stops"}
    assert stumbles(_llmft(batch="'{{global_batch_size}}'", micro=1)) == {}
