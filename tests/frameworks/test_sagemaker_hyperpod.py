"""SageMaker HyperPod recipes: what they state, and what can not be known outside of it."""

import pytest

from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name

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
PPO = (
    "run: {name: my-run, model_type: 'amazon.nova-pro-v1:0:300k', actor_train_replicas: 6, cm_replicas: 1}\n"
    "ppo_critic: {trainer: {num_nodes: '${recipes.run.cm_replicas}'}, model: {global_batch_size: 32}}\n"
    "ppo_actor_train:\n  max_length: 8192\n  max_steps: 640\n  trajectory_buffer_scale: 8\n"
    "  trainer: {num_nodes: '${recipes.run.actor_train_replicas}'}\n  model: {global_batch_size: 160}\n"
)
CHECKPOINTLESS = (
    "run: {name: my-run, model_type: hyperpod_checkpointless_nemo}\n"
    "data: {global_batch_size: BATCH, micro_batch_size: 1, seq_length: 2048}\n"
    "strategy: {tensor_model_parallel_size: TP, pipeline_model_parallel_size: PP, context_parallel_size: 1,\n"
    "  expert_model_parallel_size: EP, num_distributed_optimizer_instances: 2}\n"
    "trainer: {accumulate_grad_batches: 1, devices: 8, num_nodes: NODES, max_steps: 1000}\n"
)


def _checkpointless(batch: object, tensor: int, pipeline: int, nodes: int, experts: int = 1) -> str:
    text = CHECKPOINTLESS.replace("BATCH", str(batch)).replace("TP", str(tensor)).replace("PP", str(pipeline))
    return text.replace("NODES", str(nodes)).replace("EP", str(experts))


def _llmft(batch: object, micro: object) -> str:
    return LLMFT.replace("BATCH", str(batch)).replace("MICRO", str(micro))


def test_other_launchers_are_distinguished() -> None:
    assert title("run: {name: x}\ntrainer: {num_nodes: 2}\nmodel: {hidden: 8}\n") is None
    assert title("training_args: {train_batch_size: 8}\nmodel_config: {}\n") is None
    assert title(_checkpointless(2, 8, 1, 2).replace("hyperpod_checkpointless_nemo", "hf")) is None
    assert title("run: {name: x}\ntraining_config: {model: {global_batch_size: 32}, task_type: ppo_cm}\n") is None


@pytest.mark.parametrize(
    ("text", "variant", "batch", "unit_size"),
    [
        pytest.param(_llmft(batch=128, micro=2), "LLMFT", 128, (Name.MICRO_BATCH_SIZE, 2), id="llmft"),
        pytest.param(NOVA, "Nova", 16, (Name.NUM_NODES, 6), id="nova"),
        pytest.param(PPO, "Nova, PPO", 160, (Name.NUM_NODES, 6), id="the actor of PPO, not the critic"),
        pytest.param(RL, "verl, RL", 384, (Name.PROMPTS_PER_ROLLOUT, 256), id="64 prompts x 6 completions"),
        pytest.param(SFT, "verl, fine-tuning", 64, (Name.MICRO_BATCH_SIZE, 1), id="sft"),
    ],
)
def test_what_a_recipe_states_is_known(text: str, variant: str, batch: int, unit_size: tuple[str, int]) -> None:
    assert title(text) == f"SageMaker HyperPod ({variant})"
    stated = sizes(text, num_nodes=6).stated
    assert value(stated.get(Name.GLOBAL_BATCH_SIZE)) == batch
    assert value(stated.get(unit_size[0])) == unit_size[1]


def test_an_accumulation_is_not_guessed() -> None:
    for text in (_llmft(batch=128, micro=2), NOVA, PPO, RL, SFT):
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


def test_steps_of_ppo_that_cannot_be_counted_are_not_shown() -> None:
    assert sizes(PPO).stated.get(Name.MAX_STEPS) is None
    assert stumbles(PPO.replace("160", "'{{global_batch_size}}'")) == {}


@pytest.mark.parametrize(
    ("batch", "tensor", "pipeline", "nodes", "ranks", "steps"),
    [
        pytest.param(2, 8, 1, 2, 2, 1, id="llama3_70b_lora: 16 GPUs / 8 = 2 ranks, 2 = 1 x 1 x 2"),
        pytest.param(512, 8, 4, 16, 4, 128, id="llama3_70b_pretrain: 128 GPUs / 32 = 4 ranks, 512 = 1 x 128 x 4"),
        pytest.param(256, 4, 2, 16, 16, 16, id="gpt_oss_120b: 128 GPUs / 8 = 16 ranks, 256 = 1 x 16 x 16"),
    ],
)
def test_checkpointless_accumulation_follows_from_the_batch(
    batch: int, tensor: int, pipeline: int, nodes: int, ranks: int, steps: int
) -> None:
    text = _checkpointless(batch, tensor, pipeline, nodes, experts=2)
    assert title(text) == "SageMaker HyperPod (checkpointless)"
    found = sizes(text, num_nodes=nodes, gpus_per_node=8).stated
    assert value(found.get(Name.GLOBAL_BATCH_SIZE)) == batch
    assert value(found.get(Name.DATA_PARALLEL_SIZE)) == ranks
    assert value(found.get(Name.GRADIENT_ACCUMULATION_STEPS)) == steps
    assert value(found.get(Name.MAX_STEPS)) == 1000
    assert not any(isinstance(each, Finding) for each in outcomes("GBS202", text, num_nodes=nodes, gpus_per_node=8))


def test_context_parallel_ranks_share_their_samples() -> None:
    text = _checkpointless(512, 8, 4, 16).replace("context_parallel_size: 1", "context_parallel_size: 2")
    assert value(sizes(text, num_nodes=16, gpus_per_node=8).stated.get(Name.DATA_PARALLEL_SIZE)) == 2


def test_parallel_sizes_that_are_not_there_are_1() -> None:
    text = _checkpointless(32, 1, 1, 2).replace("tensor_model_parallel_size: 1, ", "").replace("context_parallel_size: 1,", "")
    assert value(sizes(text, num_nodes=2, gpus_per_node=8).stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) == 2


def test_a_checkpointless_batch_of_no_whole_micro_batches_stops() -> None:
    for batch, tensor, pipeline, nodes in ((510, 8, 4, 16), (2, 8, 1, 4)):
        text = _checkpointless(batch, tensor, pipeline, nodes)
        assert [type(each) for each in outcomes("GBS202", text, num_nodes=nodes, gpus_per_node=8)].count(Finding) == 1


def test_experts_are_not_a_divisor_but_must_find_their_processes() -> None:
    text = _checkpointless(256, 4, 2, 2, experts=4)  # 16 GPUs / 8 = 2 ranks; 16 % (4 x 4 x 2)
    assert value(sizes(text, num_nodes=2, gpus_per_node=8).stated.get(Name.DATA_PARALLEL_SIZE)) == 2
    assert [type(each) for each in outcomes("GBS202", text, num_nodes=2, gpus_per_node=8)].count(Finding) == 1
    for running, nodes in ((text, 4), (text.replace("num_dist", "expert_tensor_parallel_size: 1, num_dist"), 2)):
        assert not any(isinstance(each, Finding) for each in outcomes("GBS202", running, num_nodes=nodes, gpus_per_node=8))


def test_the_batch_is_unknown_if_lightning_accumulates_too() -> None:
    text = _checkpointless(510, 8, 4, 16).replace("accumulate_grad_batches: 1", "accumulate_grad_batches: 4")
    assert value(sizes(text).stated.get(Name.GLOBAL_BATCH_SIZE)) is None
    assert not any(isinstance(each, Finding) for each in outcomes("GBS202", text, num_nodes=16, gpus_per_node=8))


def test_checkpointless_batches_are_whole_numbers_above_0() -> None:
    assert stumbles(_checkpointless("'{{global_batch_size}}'", 8, 1, 2)) == {}
    assert stumbles(_checkpointless(0, 8, 1, 2)) == {"global_batch_size": "stops"}
    assert stumbles(_checkpointless(8.0, 8, 1, 2)) == {"global_batch_size": "stops-late"}
