import pytest

from pytest_gbs.frameworks.hooks import fill_accumulation
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Verified
from pytest_gbs.model.quantity import Conflict, Name, Origin, Quantity

from .building import document, outcomes, sizes, stumbles, table, title, value

RUN = "model: my/model\ndataset: [my/data#500]\ntuner_type: lora\nnum_train_epochs: 1\n"
BATCH = "per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"
GRPO = RUN + "rlhf_type: grpo\n"
MEGATRON = RUN + "lr_warmup_fraction: 0.05\n"
ROLLOUTS = MEGATRON + "rlhf_type: grpo\n"
UNSLOTH = "training: {{batch_size: 3, max_steps: 0, {}}}\nlora: {{lora_r: 16}}\n"
STUDIO = "training: {{batch_size: {micro}, gradient_accumulation_steps: {steps}, learning_rate: 2e-4}}\nlora: {{lora_r: 16}}\n"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("model: a\ndataset: b\nsampler_type: distill\nmax_length: 2048\nuse_ray: false\n", id="sampling"),
        pytest.param("model: a\nadapters: b\ninfer_backend: vllm\ntuner_type: lora\nnum_train_epochs: 1\ndataset: c\n", id="inference"),
        pytest.param("model: a\ndataset: b\nlearning_rate: 1e-4\nnum_train_epochs: 1\n", id="anybody's script"),
        pytest.param("name: a\ntraining: {batch_size: 2, learning_rate: 1e-4}\n", id="anybody's training section"),
        pytest.param("model_type: resnet\nbatch_size: 8\ngradient_accumulation_steps: 2\n", id="anybody's type of model"),
    ],
)
def test_what_swift_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(RUN, "ms-swift", id="SFT"),
        # KeNiu042/CReFT-CAD, GRPO/judge.sh
        pytest.param(GRPO.replace("model: my/model", "ckpt_dir: out/checkpoint-155"), "ms-swift (GRPO)", id="of a checkpoint"),
        pytest.param(RUN + "rlhf_type: kto\n", "ms-swift", id="KTO"),
        pytest.param(RUN + "rlhf_type: dpo\n", "ms-swift (preferences)", id="DPO"),
        pytest.param(GRPO, "ms-swift (GRPO)", id="GRPO"),
        pytest.param(MEGATRON, "Megatron-SWIFT", id="Megatron"),
        pytest.param(MEGATRON + "rlhf_type: rm\n", "Megatron-SWIFT (preferences)", id="Megatron, reward model"),
        pytest.param(ROLLOUTS, "Megatron-SWIFT (GRPO)", id="Megatron GRPO"),
        pytest.param(STUDIO.format(micro=2, steps=4), "unsloth", id="unsloth"),
        pytest.param(UNSLOTH.format("per_device_train_batch_size: 4"), "transformers Trainer (training)", id="the Trainer's key beside it"),
    ],
)
def test_the_table_is_that_of_the_kind_of_training(text: str, expected: str) -> None:
    assert title(text) == expected


# Accumulation left open: 16 samples per step, rounded up, by hand.
@pytest.mark.parametrize(
    ("micro", "world", "steps"),
    [(1, 1, 16), (1, 8, 2), (2, 8, 1), (10, 1, 2), (3, 4, 2), (8, 16, 1), (1, 512, 1)],
    ids=str,
)
def test_an_open_accumulation_is_filled_up_to_sixteen(micro: int, world: int, steps: int) -> None:
    found = sizes(f"{RUN}per_device_train_batch_size: {micro}\n", world_size=world)
    filled = found.stated[Name.GRADIENT_ACCUMULATION_STEPS]
    assert isinstance(filled, Quantity)
    assert (filled.value, filled.origin) == (steps, Origin.DEFAULT)
    assert found.value(Name.GLOBAL_BATCH_SIZE) == micro * steps * world


def test_an_open_accumulation_is_not_known_without_hardware() -> None:
    found = sizes(RUN + "per_device_train_batch_size: 1\n").stated
    assert Name.GRADIENT_ACCUMULATION_STEPS not in found
    assert Name.GLOBAL_BATCH_SIZE not in found


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("gradient_accumulation_steps: 3\n", id="stated"),
        pytest.param("gradient_accumulation_steps: ${STEPS}\n", id="stated elsewhere"),
        pytest.param("per_device_train_batch_size: 0\n", id="no micro batch"),
    ],
)
def test_only_an_open_accumulation_is_filled(lines: str) -> None:
    read_from = document(RUN + lines)
    known = read_sizes(read_from, table("ms-swift")) | {Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, 2, Origin.GIVEN)}
    assert fill_accumulation(read_from, known) == {}


@pytest.mark.parametrize(
    ("text", "world", "expected"),
    [
        pytest.param(RUN + BATCH.format(micro=4, steps=8), 8, 256, id="the Trainer's product"),
        pytest.param(RUN + BATCH.format(micro=4, steps=8) + "sequence_parallel_size: 4\n", 8, 64, id="ranks that share a sequence"),
        pytest.param(RUN + "sequence_parallel_size: 4\n", 8, 4, id="filled up for all ranks, shared by four"),
        pytest.param(RUN + BATCH.format(micro=4, steps=8) + "deepspeed_autotp_size: 2\n", 8, 128, id="tensor parallel"),
        pytest.param(GRPO, 4, 4, id="GRPO accumulates nothing by default"),
        pytest.param(MEGATRON, 8, 16, id="Megatron: 16 by default"),
        pytest.param(MEGATRON + "global_batch_size: 64\n", 8, 64, id="Megatron: given"),
        pytest.param(STUDIO.format(micro=2, steps=4), 1, 8, id="unsloth"),
        pytest.param(UNSLOTH.format("train_on_completions: true"), 1, 12, id="unsloth accumulates 4 by default"),
        pytest.param(UNSLOTH.format("grad_accum: 2"), 1, None, id="another program with such sections has defaults of its own"),
    ],
)
def test_the_global_batch_is_that_of_the_framework(text: str, world: int, expected: int | None) -> None:
    assert sizes(text, world_size=world).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_megatron_accumulates_what_model_parallelism_leaves() -> None:
    text = MEGATRON + "micro_batch_size: 2\nglobal_batch_size: 16\npipeline_model_parallel_size: 4\ncontext_parallel_size: 2\n"
    assert sizes(text, world_size=8).value(Name.GRADIENT_ACCUMULATION_STEPS) == 8
    assert sizes(text + "expert_model_parallel_size: 2\n", world_size=8).value(Name.DATA_PARALLEL_SIZE) == 1


def test_a_global_batch_must_hold_whole_micro_batches() -> None:
    text = MEGATRON + "micro_batch_size: 2\nglobal_batch_size: 12\ntensor_model_parallel_size: 4\n"
    assert [type(each) for each in outcomes("GBS202", text, world_size=8)] == [Verified, Verified]  # 12 = 3 x 2 x 2
    assert [type(each) for each in outcomes("GBS202", text, world_size=16)] == [Finding, Verified]  # 2 x 4 = 8


def test_ranks_must_divide_among_the_experts() -> None:
    text = MEGATRON + "tensor_model_parallel_size: 2\nexpert_model_parallel_size: 4\n"
    assert isinstance(outcomes("GBS202", text, world_size=8)[1], Verified)
    assert isinstance(outcomes("GBS202", text, world_size=2)[1], Finding)


RAY = ROLLOUTS + "micro_batch_size: 2\nglobal_batch_size: 16\nnum_generations: 8\nsteps_per_generation: 4\n"


def test_under_ray_the_role_that_trains_has_its_own_gpus() -> None:
    text = RAY + "train: {gpus: 4, tensor_model_parallel_size: 2}\nrollout: {gpus: 2}\n"
    own = read_sizes(document(text), table("Megatron-SWIFT (GRPO)"))
    assert value(own[Name.WORLD_SIZE]) == 4
    assert value(own[Name.TENSOR_PARALLEL_SIZE]) == 2
    assert value(own[Name.PIPELINE_PARALLEL_SIZE]) == 1


@pytest.mark.parametrize(
    ("lines", "generation"),
    [
        pytest.param("global_batch_size: 32\n", 32, id="one step by default"),
        pytest.param("global_batch_size: 32\nsteps_per_generation: 4\n", 128, id="steps given"),
        pytest.param("global_batch_size: 32\ngeneration_batch_size: 64\n", 64, id="batch given"),
        pytest.param("global_batch_size: 32\ngeneration_batch_size: 64\nsteps_per_generation: 2\n", 64, id="both, in agreement"),
    ],
)
def test_a_megatron_generation_feeds_whole_steps(lines: str, generation: int) -> None:
    assert sizes(ROLLOUTS + lines, world_size=8).value(Name.GENERATION_BATCH_SIZE) == generation


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(ROLLOUTS + "global_batch_size: 32\ngeneration_batch_size: 64\nsteps_per_generation: 3\n", id="Megatron"),
        pytest.param(GRPO + BATCH.format(micro=1, steps=1) + "generation_batch_size: 64\nsteps_per_generation: 3\n", id="Trainer"),
    ],
)
def test_batch_and_steps_of_a_generation_must_agree(text: str) -> None:
    assert isinstance(sizes(text, world_size=8).stated[Name.GENERATION_BATCH_SIZE], Conflict)


def test_the_trainer_takes_batch_and_steps_that_agree() -> None:
    text = GRPO + BATCH.format(micro=2, steps=1) + "generation_batch_size: 64\nsteps_per_generation: 4\n"
    assert value(sizes(text, world_size=8).stated[Name.GENERATION_BATCH_SIZE]) == 64
    assert table("ms-swift (GRPO)").exclusions == ()


def test_prompts_of_a_generation_are_whole_micro_batches_of_each_rank() -> None:
    assert [type(each) for each in outcomes("GBS205", RAY, world_size=4)] == [Verified] * 3  # 64 = 8 x 4 x 2
    assert [type(each) for each in outcomes("GBS205", RAY, world_size=8)] == [Verified, Finding, Verified]


def test_groups_must_be_whole() -> None:
    text = GRPO + BATCH.format(micro=2, steps=2)
    assert isinstance(outcomes("GBS205", text, world_size=8)[0], Verified)  # 32 = 4 x 8 generations by default
    assert any(isinstance(each, Finding) for each in outcomes("GBS205", text, world_size=1))
    (alone,) = (each for each in outcomes("GBS205", text + "num_generations: 1\n", world_size=1) if isinstance(each, Finding))
    assert alone.message == "num_generations 1 is less than 2; ms-swift stops at start"
    assert isinstance(outcomes("GBS202", text + "generation_batch_size: 24\n", world_size=8)[0], Finding)
    assert outcomes("GBS202", text, world_size=8) == []


def test_variables_of_the_file_are_its_hardware() -> None:
    own = read_sizes(document(RUN + "ENV: {NPROC_PER_NODE: '4', NNODES: 2}\n"), table("ms-swift"))
    assert (value(own[Name.GPUS_PER_NODE]), value(own[Name.NUM_NODES])) == (4, 2)


# Every value becomes a word that int() reads.
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("8", None, id="a number"),
        pytest.param("'8'", None, id="in quotes"),
        pytest.param("${BATCH}", None, id="a placeholder"),
        pytest.param("eight", Treatment.STOPS, id="a word"),
        pytest.param("8.0", Treatment.STOPS, id="a float"),
        pytest.param("true", Treatment.STOPS, id="true"),
        pytest.param("null", Treatment.STOPS, id="null"),
        pytest.param("[8]", Treatment.STOPS, id="a list"),
        pytest.param("0", Treatment.STOPS_LATE, id="zero"),
        pytest.param("-1", Treatment.NO_STEPS, id="negative"),
    ],
)
def test_odd_accumulations_are_treated_as_argparse_does(written: str, expected: str | None) -> None:
    found = stumbles(f"{RUN}gradient_accumulation_steps: {written}\n")
    assert found == ({"gradient_accumulation_steps": expected} if expected else {})


@pytest.mark.parametrize("key", ["micro_batch_size", "global_batch_size", "tensor_model_parallel_size"])
def test_megatron_sizes_must_be_positive(key: str) -> None:
    assert stumbles(f"{MEGATRON}{key}: 2\n") == {}
    assert stumbles(f"{MEGATRON}{key}: 0\n") == {key: Treatment.STOPS}


@pytest.mark.parametrize(("line", "expected"), [("max_steps: 0", None), ("max_steps: 30", 30)], ids=["off", "on"])
def test_a_zero_switches_steps_off_for_unsloth(line: str, expected: int | None) -> None:
    text = f"training: {{batch_size: 2, {line}, save_steps: 0}}\nlora: {{lora_r: 16}}\n"
    assert value(sizes(text).stated.get(Name.MAX_STEPS)) == expected
    assert stumbles(text) == {}


def test_flags_of_unsloth_name_no_section() -> None:
    text = STUDIO.format(micro=2, steps=4) + "batch_size: 8\n"  # as a command line plants it
    assert sizes(text, world_size=1).value(Name.GLOBAL_BATCH_SIZE) == 32


# Before version 3: 2 x 4 x 3 processes, and 2 on 2 processes filled up to 16 by an accumulation of 4.
@pytest.mark.parametrize(("steps", "world", "expected"), [("gradient_accumulation_steps: 4\n", 3, 24), ("", 2, 16)])
def test_older_versions_name_a_type_of_model_and_a_batch(steps: str, world: int, expected: int) -> None:
    text = "model_type: qwen2\nsft_type: lora\ndataset: a\nbatch_size: 2\n" + steps
    assert (title(text), sizes(text, world_size=world).value(Name.GLOBAL_BATCH_SIZE)) == ("ms-swift (before 3)", expected)
