import pytest

from pytest_gbs.frameworks import recognise
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Outcome
from pytest_gbs.model.program import Program
from pytest_gbs.model.quantity import Conflict, Name, Quantity, Reason
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs203_contradictory_batch import check as contradictions
from pytest_gbs.rules.gbs209_missing_batch_key import check as missing

from .building import document, outcomes, sizes, stumbles, title, value

PARTS = """\
model: {_component_: torchtune.models.llama3_1.llama3_1_8b}
tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 8192}
optimizer: {_component_: torch.optim.AdamW, lr: 2e-5}
epochs: 1
"""
LOSS = "loss: {_component_: torchtune.modules.loss.LinearCrossEntropyLoss}\n"
DPO = "loss: {_component_: torchtune.rlhf.loss.DPOLoss, beta: 0.1}\n"
BATCH = "batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"
FULL = PARTS + LOSS + BATCH.format(micro=2, steps=8)
LORA = FULL.replace("llama3_1_8b}", "lora_llama3_1_8b, lora_attn_modules: [q_proj]}")
QUANTIZER = "quantizer: {_component_: torchtune.training.quantization.Int8DynActInt4WeightQATQuantizer}\n"
TEACHER = (
    "teacher_model: {_component_: torchtune.models.llama3_1.llama3_1_8b}\nkd_loss: {_component_: torchtune.modules.loss.ForwardKLLoss}\n"
)
PLAN = "tensor_parallel_plan: {_component_: torchtune.models.llama3.base_llama_tp_plan}\n"
PPO = PARTS + BATCH.format(micro=16, steps=2) + "ppo_batch_size: 8\nforward_batch_size: 4\nnum_steps: 1000\n"
GRPO = PARTS + "batch_size: 1\ngrpo_samples: 16\nforward_batch_size: 1\n"
ASYNC = "model: {_component_: a.b}\norchestration: {num_inference_workers: 4, num_training_workers: 2}\ntraining: {batch_size: 16}\n"


def run(text: str, /, **hardware: int) -> Run:
    """The run of a recipe in a world of the given sizes."""
    read_from = document(text)
    found = recognise(read_from)
    assert found is not None
    assert found.name == "torchtune"
    return Run(read_from, found, None, sizes(text, **hardware), (), ())


def messages(found: list[Outcome]) -> list[str]:
    """What the findings say."""
    return [each.message for each in found if isinstance(each, Finding)]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("tokenizer: {_component_: a.b}\nmodel: {_component_: a.b}\nbatch_size: 8\ntasks: [a]\n", id="evaluation"),
        pytest.param("tokenizer: {_component_: a.b}\nmodel: {_component_: a.b}\nprompt: {user: hello}\n", id="generation"),
        pytest.param("optimizer: {_component_: a.b}\ntokenizer: {_component_: a.b}\n", id="no batch"),
        pytest.param("optimizer: {lr: 1}\ntokenizer: {path: a}\nbatch_size: 8\n", id="another's keys"),
    ],
)
def test_what_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(FULL, "8B_full.yaml", "torchtune (distributed)", id="nothing says one device"),
        pytest.param(FULL, "8B_full_single_device.yaml", "torchtune (single device)", id="the path does"),
        pytest.param(
            "# Config for multi-device training in lora_finetune_single_device.py\n" + FULL,
            "lora.yaml",
            "torchtune (single device)",
            id="the program named above does",
        ),
        pytest.param(
            "# Config in full_finetune_distributed.py. For a single device use\n# 8B_full_single_device.yaml\n" + FULL,
            "single/full.yaml",
            "torchtune (distributed)",
            id="the first program named counts",
        ),
        pytest.param("# for a single device\n" + FULL, "full.yaml", "torchtune (distributed)", id="prose is not a program"),
        pytest.param(PARTS + DPO + BATCH, "dpo.yaml", "torchtune (DPO, distributed)", id="DPO"),
        pytest.param(PARTS + DPO + BATCH, "dpo_single_device.yaml", "torchtune (DPO, single device)", id="DPO on one"),
        pytest.param(FULL + TEACHER, "kd.yaml", "torchtune (distillation, distributed)", id="distillation"),
        pytest.param(FULL + TEACHER, "kd_single_device.yaml", "torchtune (distillation, single device)", id="distillation on one"),
        pytest.param(FULL + QUANTIZER, "qat.yaml", "torchtune (distributed)", id="QAT"),
        pytest.param(LORA + QUANTIZER, "qat_lora.yaml", "torchtune (QAT with LoRA, distributed)", id="QAT with LoRA"),
        pytest.param(PPO, "ppo.yaml", "torchtune (PPO)", id="PPO"),
        pytest.param(GRPO, "grpo.yaml", "torchtune (GRPO)", id="GRPO"),
        pytest.param(ASYNC, "grpo.yaml", "torchtune (asynchronous GRPO)", id="asynchronous"),
    ],
)
def test_the_recipe_is_recognised_by_keys_comments_and_path(text: str, path: str, expected: str) -> None:
    assert title(text, path) == expected


def test_the_program_of_a_launch_counts_before_the_comments() -> None:
    text = "# tune run lora_finetune_single_device --config mine\n" + FULL
    found = recognise(document(text, "mine.yaml"), Program("full_finetune_distributed"))
    assert found is not None
    assert found.title == "torchtune (distributed)"


# Global batch = batch_size x accumulation x data-parallel ranks, by hand.
@pytest.mark.parametrize(
    ("text", "path", "hardware", "expected", "unit"),
    [
        pytest.param(FULL, "full.yaml", {"world_size": 4}, 64, "samples", id="2 x 8 x 4"),
        pytest.param(FULL, "full.yaml", {"num_nodes": 2, "gpus_per_node": 8}, 256, "samples", id="2 nodes"),
        pytest.param(FULL + PLAN + "tensor_parallel_dim: 8\n", "full.yaml", {"world_size": 16}, 32, "samples", id="tensor"),
        pytest.param(FULL + "context_parallel_dim: 2\n", "full.yaml", {"world_size": 4}, 32, "samples", id="context"),
        pytest.param(FULL + "data_parallel_shard_dim: -1\n", "full.yaml", {"world_size": 4}, 64, "samples", id="the rest"),
        pytest.param(
            FULL + "data_parallel_shard_dim: 4\ndata_parallel_replicate_dim: 2\n", "full.yaml", {}, 128, "samples", id="GPUs by themselves"
        ),
        pytest.param(FULL, "full_single_device.yaml", {"world_size": 1}, 16, "samples", id="one device"),
        pytest.param(FULL, "full_single_device.yaml", {}, 16, "samples", id="one device, unasked"),
        pytest.param(FULL + TEACHER + "tensor_parallel_dim: 2\n", "kd.yaml", {"world_size": 4}, 64, "samples", id="no tensor parallelism"),
        pytest.param(
            LORA + QUANTIZER + "context_parallel_dim: 2\n", "q.yaml", {"world_size": 4}, 64, "samples", id="nor with QAT and LoRA"
        ),
        pytest.param(PARTS + DPO + BATCH.format(micro=4, steps=8), "dpo.yaml", {"world_size": 4}, 128, "pairs", id="pairs"),
        pytest.param(PPO, "ppo.yaml", {}, 8, "completions", id="PPO states it"),
        pytest.param(GRPO, "grpo.yaml", {"world_size": 4}, 64, "completions", id="1 x 16 x 4"),
        pytest.param(ASYNC, "grpo.yaml", {"world_size": 8}, 32, "completions", id="16 x 2 that train"),
    ],
)
def test_the_global_batch_follows(text: str, path: str, hardware: dict[str, int], expected: int, unit: str) -> None:
    batch = sizes(text, path, **hardware).stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.unit) == (expected, unit)


def test_accumulation_divides_where_ppo_states_the_batch() -> None:
    assert sizes(PPO).value(Name.MICRO_BATCH_SIZE) == 4
    assert sizes(GRPO, world_size=4).value(Name.PROMPTS_PER_STEP) == 4


def test_without_hardware_the_global_batch_is_not_known() -> None:
    assert sizes(FULL).value(Name.GLOBAL_BATCH_SIZE) is None
    assert value(sizes(FULL.replace("batch_size: 2", "batch_size: ${MICRO}")).stated[Name.MICRO_BATCH_SIZE]) == Reason.INTERPOLATED


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("", None, id="never"),
        pytest.param("dataset_val: {_component_: a.b}\n", 8, id="as it trains"),
        pytest.param("dataset_val: {_component_: a.b}\nbatch_size_val: 4\n", 16, id="its own"),
        pytest.param("batch_size_val: 4\n", None, id="nothing to validate on"),
    ],
)
def test_the_validation_batch_is_there_where_something_validates(line: str, expected: int | None) -> None:
    assert sizes(FULL + line, world_size=4).value(Name.EVAL_GLOBAL_BATCH_SIZE) == expected


@pytest.mark.parametrize("written", ["8", "true", "0x10", "1_024", "${BATCH}"])
def test_whole_numbers_stay_silent(written: str) -> None:
    assert stumbles(PARTS + LOSS + BATCH.format(micro=written, steps=written)) == {}


@pytest.mark.parametrize("written", ["'8'", "8.5", "eight", "0", "-8", "null", "[8]"])
def test_other_values_are_stumbled_over(written: str) -> None:
    found = stumbles(PARTS + LOSS + BATCH.format(micro=written, steps=written))
    assert found == dict.fromkeys(("batch_size", "gradient_accumulation_steps"), Treatment.STOPS_LATE)


def test_a_degree_of_nothing_stops_and_the_rest_is_not_a_mistake() -> None:
    assert stumbles(FULL + "data_parallel_shard_dim: -1\n") == {}
    assert stumbles(FULL + "data_parallel_shard_dim: 0\ntensor_parallel_dim: 0\n") == dict.fromkeys(
        ("data_parallel_shard_dim", "tensor_parallel_dim"), Treatment.STOPS
    )


@pytest.mark.parametrize(
    ("text", "world"),
    [
        pytest.param(FULL + "data_parallel_shard_dim: 4\ndata_parallel_replicate_dim: 2\n", 8, id="filled"),
        pytest.param(FULL + "data_parallel_replicate_dim: 2\n", 6, id="the rest are shards"),
        pytest.param(FULL, 7, id="any number"),
        pytest.param(LORA + "tensor_parallel_dim: 1\n", 8, id="LoRA on whole models"),
        pytest.param(FULL + PLAN + "tensor_parallel_dim: 2\n", 8, id="a plan"),
        pytest.param(FULL + "optimizer_in_bwd: false\nclip_grad_norm: 1.0\n", 8, id="no step in the backward pass"),
        pytest.param(
            FULL.replace("steps: 8", "steps: 1") + "optimizer_in_bwd: true\nclip_grad_norm: null\n", 8, id="nothing to accumulate"
        ),
    ],
)
def test_what_the_recipe_takes_stays_silent(text: str, world: int) -> None:
    found = [*contradictions(run(text, world_size=world)), *missing(run(text)), *outcomes("GBS202", text, world_size=world)]
    assert messages(found) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(LORA + "tensor_parallel_dim: 2\n", "model.lora_attn_modules and tensor_parallel_dim are both set", id="LoRA"),
        pytest.param(FULL + "optimizer_in_bwd: true\n", "gradient_accumulation_steps and optimizer_in_bwd are both set", id="accumulation"),
        pytest.param(
            FULL.replace("steps: 8", "steps: 1") + "optimizer_in_bwd: true\nclip_grad_norm: 1.0\n",
            "clip_grad_norm and optimizer_in_bwd are both set",
            id="clipping",
        ),
    ],
)
def test_keys_that_exclude_each_other_are_found(text: str, expected: str) -> None:
    (found,) = messages(list(contradictions(run(text))))
    assert found.startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(PARTS + LOSS + "batch_size: 2\n", "gradient_accumulation_steps is missing", id="accumulation"),
        pytest.param(FULL + "tensor_parallel_dim: 2\n", "tensor_parallel_plan is missing", id="plan"),
    ],
)
def test_keys_without_a_default_are_missed(text: str, expected: str) -> None:
    (found,) = messages(list(missing(run(text))))
    assert found.startswith(expected)


def test_a_mesh_of_another_size_is_a_contradiction() -> None:
    text = FULL + "data_parallel_shard_dim: 2\ndata_parallel_replicate_dim: 4\n"
    assert isinstance(sizes(text, world_size=16).stated[Name.DATA_PARALLEL_SIZE], Conflict)
    assert len(messages(list(contradictions(run(text, world_size=16))))) == 1


def test_replicas_that_do_not_divide_the_ranks_are_found() -> None:
    assert len(messages(outcomes("GBS202", FULL + "data_parallel_replicate_dim: 2\n", world_size=7))) == 1


@pytest.mark.parametrize(
    ("changed", "count"),
    [
        pytest.param("", 0, id="16, 8, 4"),
        pytest.param("forward_batch_size: 5\n", 1, id="forward"),
        pytest.param("ppo_batch_size: 12\n", 1, id="ppo"),
        pytest.param("gradient_accumulation_steps: 3\n", 1, id="accumulation"),
    ],
)
def test_ppo_asks_for_whole_batches(changed: str, count: int) -> None:
    assert len(messages(outcomes("GBS202", PPO + changed, "ppo.yaml"))) == count
