"""ROLL: the worker that trains lists its GPUs, and each pipeline counts something else in a step."""

import json

import pytest

from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Name, Origin, Quantity, Reason

from .building import document, outcomes, sizes, stumbles, table, title, value

WORKER = """\
{worker}:
  training_args: {{per_device_train_batch_size: {micro}, gradient_accumulation_steps: {steps}}}
  model_args: {{ulysses_size: {ulysses}}}
  strategy_args:
    strategy_name: {strategy}
    strategy_config: {{tensor_model_parallel_size: {tensor}, pipeline_model_parallel_size: {pipeline}, expert_model_parallel_size: 8}}
  device_mapping: {devices}
  infer_batch_size: 4
"""
SIZES: dict[str, object] = {
    "worker": "actor_train",
    "micro": 1,
    "steps": 32,
    "ulysses": 1,
    "strategy": "megatron_train",
    "tensor": 1,
    "pipeline": 1,
    "devices": "list(range(0,16))",
}
INFER = "  strategy_args: {strategy_name: vllm, strategy_config: {tensor_parallel_size: 2}}\n  device_mapping: list(range(0,12))\n"


def worker(**given: object) -> str:
    return WORKER.format(**{**SIZES, **given})


def rlvr(rollout: object = 64, group: object = 8, more: object = "", **given: object) -> str:
    batch = f"rollout_batch_size: {rollout}\nnum_return_sequences_in_group: {group}\n"
    return f"{batch}{worker(**given)}{more}actor_infer:\n{INFER}"


def agentic(rollout: object = 128, group: int = 8, validation: int = 128, more: str = "", **given: object) -> str:
    managers = f"train_env_manager: {{num_env_groups: 16, group_size: {group}}}\nval_env_manager: {{num_env_groups: 32, group_size: 4}}\n"
    return f"rollout_batch_size: {rollout}\nval_batch_size: {validation}\n{managers}{worker(**given)}{more}"


def dpo(more: str = "", **given: object) -> str:
    return f"{more}beta: 0.1\nmax_steps: 500\nsave_steps: 100\nsequence_length: 512\n{worker(**given)}"


def on_policy(**given: object) -> str:
    return f"rollout_batch_size: 16\nnum_return_sequences_in_group: 8\n{worker(worker='student_train', **given)}student_infer:\n{INFER}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(f"rollout_batch_size: 64\nactor_infer:\n{INFER}", None, id="generates only"),
        pytest.param(rlvr(strategy="megatron_infer"), None, id="computes log probabilities only"),
        pytest.param(rlvr(strategy="deepspeed_train"), None, id="a strategy that this version has no more"),
        pytest.param("actor_train: {training_args: {per_device_train_batch_size: 1}}\nactor_infer: {}\n", None, id="no strategy"),
        pytest.param("student: {learning_rate: 1.0e-5}\nteacher: {path: a}\n", None, id="somebody's own distillation"),
        pytest.param(rlvr(), "ROLL (RLVR)", id="RLVR"),
        pytest.param(rlvr(strategy="fsdp2_train"), "ROLL (RLVR)", id="RLVR with FSDP2"),
        pytest.param(on_policy(), "ROLL (on-policy distillation)", id="on-policy distillation"),
        pytest.param(agentic(more=f"actor_infer:\n{INFER}"), "ROLL (agentic)", id="agentic"),
        pytest.param(dpo(), "ROLL (DPO)", id="DPO"),
        pytest.param(worker(worker="sft_train"), "ROLL (SFT)", id="SFT"),
        pytest.param(worker(worker="student") + "teacher: {infer_batch_size: 1}\n", "ROLL (distillation)", id="distillation"),
    ],
)
def test_a_pipeline_is_known_by_the_worker_that_trains(text: str, expected: str | None) -> None:
    assert title(text) == expected


# examples/qwen2.5-7B-rlvr_megatron/rlvr_config.yaml of ROLL: 1 x 32 on 16 ranks are 512 completions, as many as 64 x 8.
def test_completions_of_a_step_follow_from_the_ranks() -> None:
    stated = sizes(rlvr()).stated
    expected = {
        Name.WORLD_SIZE: 16,
        Name.DATA_PARALLEL_SIZE: 16,
        Name.GLOBAL_BATCH_SIZE: 512,
        Name.GENERATION_BATCH_SIZE: 512,
        Name.STEPS_PER_ROLLOUT: 1,
        Name.PROMPTS_PER_STEP: 64,
    }
    assert {name: value(stated.get(name)) for name in expected} == expected


@pytest.mark.parametrize(
    ("given", "ranks", "batch"),
    [
        # qwen3-235BA22B-rlvr_megatron/rlvr_config_140GB.yaml: 64 / (2 x 8) = 4, and experts divide nothing; 1 x 64 x 4
        pytest.param({"devices": "list(range(0,64))", "tensor": 2, "pipeline": 8, "steps": 64}, 4, 256, id="Megatron"),
        # qwen3-30BA3B-rlvr_fsdp2/rlvr_config_ep.yaml: 32 / 4 = 8; 1 x 4 x 8
        pytest.param({"devices": "list(range(0,32))", "strategy": "fsdp2_train", "ulysses": 4, "steps": 4}, 8, 32, id="FSDP2"),
        pytest.param({"devices": "list(range(0,32))", "strategy": "fsdp2_train", "tensor": 4, "steps": 4}, 32, 128, id="no Megatron"),
        pytest.param({"ulysses": 4}, 16, 512, id="no FSDP2"),
        pytest.param({"tensor": 3}, Reason.NOT_WHOLE, None, id="16 among 3, where Megatron stops"),
        pytest.param({"strategy": "fsdp2_train", "ulysses": 3}, Reason.NOT_WHOLE, None, id="16 among 3, where FSDP2 stops"),
    ],
)
def test_the_strategy_decides_which_parallel_sizes_count(given: dict[str, object], ranks: int | str, batch: int | None) -> None:
    stated = sizes(rlvr(**given)).stated
    assert [value(stated.get(name)) for name in (Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE)] == [ranks, batch]


@pytest.mark.parametrize(
    ("devices", "expected"),
    [
        pytest.param("~", None, id="none"),
        pytest.param("list(range(0,${gpus}))", None, id="a variable"),
        pytest.param("list(range(0,8,0))", None, id="a step of none"),
        pytest.param("os.system('x')", None, id="a program"),
        pytest.param("list(range(0,8)", None, id="a bracket too few"),
        pytest.param("[0, 1]", None, id="a list, which ROLL can't evaluate"),
        pytest.param('"[]"', None, id="an empty list"),
        pytest.param("list(range(8))", 8, id="so many"),
        pytest.param("list(range(8, 24))", 16, id="from and to"),
        pytest.param("list(range(0,16,2))", 8, id="every other one"),
        pytest.param("list([0,1,2,3,8,9,10,11])", 8, id="one by one"),
        pytest.param('"[6, 7]"', 2, id="in quotes"),
        pytest.param("list(range(0,4)) + list(range(8,12)) + [15]", 9, id="a sum"),
    ],
)
def test_the_gpus_that_train_are_those_that_are_listed(devices: str, expected: int | None) -> None:
    assert value(sizes(rlvr(devices=devices)).stated.get(Name.WORLD_SIZE)) == expected


def test_the_command_line_outranks_the_list() -> None:
    assert value(sizes(rlvr(), world_size=8).stated[Name.GLOBAL_BATCH_SIZE]) == 256  # 1 x 32 x 8
    assert Name.GLOBAL_BATCH_SIZE not in sizes(rlvr(), num_nodes=3).stated


# 4 GPUs train, 12 others generate: 16 in all.
@pytest.mark.parametrize(
    ("origin", "gpus", "expected"),
    [
        pytest.param(Origin.COMMENT, 4, 4, id="a comment about the GPUs that train"),
        pytest.param(Origin.COMMENT, 16, 4, id="a comment about all of them"),
        pytest.param(Origin.SETTINGS, 8, 4, id="settings for other recipes too"),
        pytest.param(Origin.GIVEN, 8, 8, id="a command line"),
        pytest.param(Origin.COMMENT, 8, None, id="a comment about other hardware"),
    ],
)
def test_a_comment_may_count_the_gpus_of_all_workers(origin: str, gpus: int, expected: int | None) -> None:
    recipe = document(rlvr(devices="list(range(12,16))"))
    settle = table("ROLL (RLVR)").settle
    assert settle is not None
    said = Quantity(Name.WORLD_SIZE, gpus, origin)
    assert value(settle(recipe, {Name.WORLD_SIZE: said}).get(Name.WORLD_SIZE, said)) == expected


@pytest.mark.parametrize("gpus", [None, 8])
def test_nothing_but_the_list_counts_the_gpus(gpus: int | None) -> None:
    hardware = f"num_nodes: 4\nnum_gpus_per_node: {gpus}\n" if gpus else ""
    assert value(sizes(hardware + rlvr()).stated[Name.WORLD_SIZE]) == 16


DYNAMIC = "  use_dynamic_batching_in_train: {}\n  max_tokens_per_microbatch_in_train: 8192\n"


@pytest.mark.parametrize(("on", "expected"), [("false", 512), ("true", None)])
def test_micro_batches_filled_by_tokens_leave_the_batch_open(on: str, expected: int | None) -> None:
    stated = sizes(rlvr(more=DYNAMIC.format(on))).stated
    assert value(stated.get(Name.GLOBAL_BATCH_SIZE)) == expected
    assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == 32


def test_packed_micro_batches_hold_as_many_samples() -> None:
    assert value(sizes(rlvr(more="  use_sequence_packing: true\n")).stated[Name.GLOBAL_BATCH_SIZE]) == 512


def test_defaults_are_those_of_the_configuration_classes() -> None:
    text = f"actor_train:\n  strategy_args: {{strategy_name: fsdp2_train}}\n  device_mapping: list(range(0,8))\nactor_infer:\n{INFER}"
    alone = sizes(text).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.GENERATION_BATCH_SIZE)
    assert [value(alone[name]) for name in names] == [64, 128]  # 8 x 1 x 8; 128 x 1
    composed = sizes(f"defaults: [base@_here_]\n{text}").stated
    assert [value(composed.get(name)) for name in names] == [None, None]


# examples/dpo_examples/qwen2.5-3B_dpo_megatron.yaml: 16 x 1 x 8 pairs of two sequences; evaluation 4 x 1 x 8.
def test_dpo_counts_pairs() -> None:
    stated = sizes(dpo(micro=16, steps=1, devices="list(range(0,8))")).stated
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == 128
    assert value(stated[Name.EVAL_GLOBAL_BATCH_SIZE]) == 32
    assert value(stated[Name.MAX_STEPS]) == 500
    assert (table("ROLL (DPO)").unit, table("ROLL (DPO)").sequences_per_sample) == ("pairs", 2)


# examples/qwen2.5-7B-distill_megatron/distill_megatron.yaml: 8 / (2 x 2 x 2) = 1 rank; 8 x 4 x 1, evaluation 4 x 4 x 1.
@pytest.mark.parametrize("name", ["student", "sft_train"])
def test_evaluation_takes_as_many_micro_batches_as_training(name: str) -> None:
    text = worker(worker=name, micro=8, steps=4, tensor=2, pipeline=2, devices="list(range(0,8))")
    stated = sizes(text.replace("expert_model", "context").replace(": 8}", ": 2}")).stated
    assert [value(stated[each]) for each in (Name.GLOBAL_BATCH_SIZE, Name.EVAL_GLOBAL_BATCH_SIZE)] == [32, 16]


# examples/qwen3-30BA3B-agentic_fsdp2/agentic_val_sokoban_30a3.yaml: 32 / 2 = 16 ranks; 1 x 16 x 16 of 128 trajectories.
def test_agentic_samples_are_not_bound_to_the_rollout() -> None:
    text = agentic(strategy="fsdp2_train", ulysses=2, steps=16, devices="list(range(0,32))")
    stated = sizes(text).stated
    assert [value(stated[name]) for name in (Name.GLOBAL_BATCH_SIZE, Name.GENERATION_BATCH_SIZE, Name.NUM_GENERATIONS)] == [256, 128, 8]
    assert Name.STEPS_PER_ROLLOUT not in stated
    assert findings("GBS202", text) == []


def findings(code: str, text: str) -> list[str]:
    return [outcome.message for outcome in outcomes(code, text) if isinstance(outcome, Finding)]


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        pytest.param("GBS202", rlvr(), 0, id="one step"),
        pytest.param("GBS202", rlvr(steps=8), 0, id="four steps"),
        pytest.param("GBS202", rlvr(devices="list(range(0,${gpus}))"), 0, id="GPUs not known"),
        pytest.param("GBS202", rlvr(steps=24, more=DYNAMIC.format("true")), 0, id="filled by tokens"),
        pytest.param("GBS202", rlvr(rollout=24, steps=12, strategy="fsdp2_train"), 0, id="FSDP2 does not check the prompts"),
        pytest.param("GBS202", on_policy(steps=8), 0, id="on-policy distillation"),
        pytest.param("GBS202", agentic(steps=24), 0, id="agentic rollouts are fitted"),
        pytest.param("GBS202", agentic(rollout=-1), 0, id="as many as there are"),
        pytest.param("GBS202", dpo(), 0, id="DPO, 128 by default on 16 ranks"),
        pytest.param("GBS202", dpo(devices="list(range(0,24))", strategy="fsdp2_train"), 0, id="DPO without Megatron"),
        pytest.param("GBS202", dpo(devices="list(range(0,24))", more="rollout_batch_size: 120\n"), 0, id="DPO, 120 on 24 ranks"),
        pytest.param("GBS202", worker(worker="sft_train", devices="list(range(0,24))"), 0, id="SFT"),
        pytest.param("GBS205", agentic(), 0, id="whole groups"),
        pytest.param("GBS205", agentic(rollout=-1, validation=-1), 0, id="no number of trajectories"),
        pytest.param("GBS202", rlvr(steps=24), 1, id="512 are not 384 x something"),
        pytest.param("GBS202", rlvr(steps=64), 1, id="a rollout smaller than a batch"),
        pytest.param("GBS202", rlvr(rollout=24, steps=12), 1, id="24 prompts on 16 Megatron ranks"),
        pytest.param("GBS202", on_policy(), 1, id="128 completions, 512 a step"),
        pytest.param("GBS202", agentic(rollout=120), 1, id="120 trajectories on 16 Megatron ranks"),
        pytest.param("GBS202", dpo(devices="list(range(0,24))"), 1, id="DPO, 128 by default on 24 ranks"),
        pytest.param("GBS205", agentic(rollout=128, group=12), 1, id="no whole groups"),
        pytest.param("GBS205", agentic(validation=126), 1, id="no whole groups in validation"),
    ],
)
def test_what_roll_checks(code: str, text: str, expected: int) -> None:
    assert len(findings(code, text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(rlvr(micro=2), {}, id="a number"),
        pytest.param(rlvr(micro="true"), {}, id="true is a number"),
        pytest.param(rlvr(micro='"${micro}"'), {}, id="a variable"),
        pytest.param(agentic(rollout=-1), {}, id="any number of trajectories"),
        pytest.param(rlvr(micro=2.0), {"per_device_train_batch_size": Treatment.STOPS}, id="types are checked"),
        pytest.param(rlvr(group='"8"'), {"num_return_sequences_in_group": Treatment.STOPS}, id="in quotes"),
        pytest.param(rlvr(micro="~"), {"per_device_train_batch_size": Treatment.STOPS}, id="null"),
        pytest.param(on_policy(micro=2.0), {"per_device_train_batch_size": Treatment.STOPS_LATE}, id="types are not checked"),
    ],
)
def test_values_are_taken_as_they_are(text: str, expected: dict[str, str]) -> None:
    assert stumbles(text) == expected


@pytest.mark.parametrize(
    "devices",
    [
        pytest.param("+".join(["list(range(0,99999))"] * 400), id="more GPUs than there are"),
        pytest.param("[0]" + "+[0]" * 5000, id="a text too long"),
        pytest.param("[" * 9000, id="brackets"),
        pytest.param("list(range(0,8,0))", id="no step"),
        pytest.param("__import__('os').system('x')", id="a program"),
    ],
)
def test_an_impossible_list_of_gpus_is_unknown(devices: str) -> None:
    assert not isinstance(sizes(rlvr(devices=json.dumps(devices))).get(Name.WORLD_SIZE), Quantity)
