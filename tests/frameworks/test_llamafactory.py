import pytest

from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.framework import Treatment
from pytest_gbs.model.outcome import Finding, Undetermined, Verified
from pytest_gbs.model.quantity import Conflict, Name, Reason
from pytest_gbs.model.run import Run
from pytest_gbs.rules.gbs209_missing_batch_key import check as missing_keys

from .building import document, outcomes, sizes, stumbles, table, title, value

RUN = "model_name_or_path: my/model\ndataset: my_data\ntemplate: qwen3\nlearning_rate: 1e-4\nfinetuning_type: lora\n"
SFT = RUN + "stage: sft\n"
BATCH = "per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {steps}\n"
V1 = "model: my/model\ntrain_dataset: data/sft.yaml\noutput_dir: out\n"
MEGATRON = SFT + BATCH.format(micro=1, steps=8)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("stage: sft\nfinetuning_type: lora\ndo_predict: true\nper_device_eval_batch_size: 1\n", id="prediction"),
        pytest.param("stage: 2\nsave_steps: 10000\nbatch_size: 2\nstrategy: deepspeed\n", id="a stage of ZeRO"),
        pytest.param("model_name_or_path: a\nadapter_name_or_path: b\ntemplate: c\nexport_dir: d\nfinetuning_type: lora\n", id="merge"),
        pytest.param("model_name_or_path: a\ntemplate: b\ninfer_backend: huggingface\n", id="chat"),
        pytest.param("model: a\npeft_config: {name: lora, export_dir: b}\n", id="v1 export"),
        pytest.param(f"{MEGATRON}megatron: {{tensor_model_parallel_size: 2}}\n", id="another trainer's sizes"),
        pytest.param("identity: {path: data/identity.json, source: local}\n", id="v1 data"),
    ],
)
def test_what_does_not_train_is_not_a_recipe(text: str) -> None:
    assert title(text) is None


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(SFT, "sft.yaml", "LLaMA-Factory", id="SFT"),
        pytest.param(RUN, "sft.yaml", "LLaMA-Factory", id="SFT by default"),
        pytest.param(RUN + "stage: kto\n", "dpo.yaml", "LLaMA-Factory", id="KTO, whatever the path says"),
        pytest.param(RUN + "stage: pt\n", "a.yaml", "LLaMA-Factory (pre-training)", id="pre-training"),
        pytest.param(RUN + "stage: dpo\n", "a.yaml", "LLaMA-Factory (preferences)", id="DPO"),
        pytest.param(RUN + "stage: rm\n", "a.yaml", "LLaMA-Factory (preferences)", id="reward model"),
        pytest.param(RUN + "stage: ppo\n", "a.yaml", "LLaMA-Factory (PPO)", id="PPO"),
        pytest.param(SFT + "tensor_model_parallel_size: 2\n", "a.yaml", "LLaMA-Factory (Megatron)", id="some Megatron"),
        pytest.param(SFT + "use_distributed_optimizer: true\n", "mca/a.yaml", "LLaMA-Factory (mcore_adapter)", id="mcore by path"),
        pytest.param(
            SFT + "context_parallel_size: 1\n", "examples/megatron_bridge/a.yaml", "LLaMA-Factory (Megatron-Bridge)", id="bridge by path"
        ),
        pytest.param(
            SFT + "context_parallel_size: 1\nmixed_precision: bf16_mixed\n", "mca/a.yaml", "LLaMA-Factory (Megatron-Bridge)", id="by key"
        ),
        pytest.param(V1 + "micro_batch_size: 1\n", "a.yaml", "LLaMA-Factory v1", id="v1"),
    ],
)
def test_the_table_is_that_of_stage_and_backend(text: str, path: str, expected: str) -> None:
    assert title(text, path) == expected


# Global batch = micro x accumulation x ranks, by hand.
@pytest.mark.parametrize(
    ("text", "hardware", "expected"),
    [
        pytest.param(SFT + BATCH.format(micro=2, steps=8), {}, None, id="no hardware"),
        pytest.param(SFT + BATCH.format(micro=2, steps=8), {"world_size": 16}, 256, id="16 GPUs"),
        pytest.param(SFT + "gradient_accumulation_steps: 4\n", {"world_size": 7}, 224, id="micro batch of 8 by default"),
        pytest.param(SFT, {"num_nodes": 2, "gpus_per_node": 8}, 128, id="all defaults"),
        pytest.param(RUN + "stage: ppo\nppo_buffer_size: 4\n" + BATCH.format(micro=2, steps=2), {"world_size": 8}, 32, id="PPO"),
        pytest.param(MEGATRON + "tensor_model_parallel_size: 2\n", {"world_size": 8}, 32, id="tensor parallel"),
        pytest.param(MEGATRON + "pipeline_model_parallel_size: 4\nexpert_model_parallel_size: 1\n", {"world_size": 8}, 16, id="pipeline"),
    ],
)
def test_the_global_batch_is_that_of_the_trainer(text: str, hardware: dict[str, int], expected: int | None) -> None:
    assert sizes(text, **hardware).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_a_ppo_rollout_feeds_as_many_steps_as_the_buffer_holds() -> None:
    text = RUN + "stage: ppo\nppo_buffer_size: 4\n" + BATCH.format(micro=2, steps=2)
    assert sizes(text, world_size=8).value(Name.GENERATION_BATCH_SIZE) == 128


@pytest.mark.parametrize(("workers", "expected"), [("4", 4), ("1", None), ("null", None)], ids=["four", "the default", "null"])
def test_ray_workers_are_the_gpus(workers: str, expected: int | None) -> None:
    text = f"{SFT}ray_num_workers: {workers}\n"
    assert value(read_sizes(document(text), table("LLaMA-Factory")).get(Name.WORLD_SIZE)) == expected
    assert stumbles(text) == {}


EXPERTS = MEGATRON + "pipeline_model_parallel_size: 4\nexpert_model_parallel_size: 2\n"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(EXPERTS, "megatron/moe.yaml", None, id="an unknown backend"),
        pytest.param(EXPERTS, "mca/moe.yaml", 16, id="mcore_adapter does not divide by experts"),
        pytest.param("# USE_MCA=1 llamafactory-cli train moe.yaml\n" + EXPERTS, "moe.yaml", 16, id="a comment says mcore_adapter"),
        pytest.param(EXPERTS, "mbridge/moe.yaml", 8, id="Megatron-Bridge divides by experts"),
        pytest.param(EXPERTS + "use_packed_sequences: false\n", "moe.yaml", 8, id="a key of Megatron-Bridge"),
        pytest.param(EXPERTS + "# with USE_MEGATRON_BRIDGE=1\n", "moe.yaml", 8, id="a comment says Megatron-Bridge"),
    ],
)
def test_experts_divide_by_backend(text: str, path: str, expected: int | None) -> None:
    assert sizes(text, path, world_size=8).value(Name.GLOBAL_BATCH_SIZE) == expected


def test_a_parallel_size_is_positive() -> None:
    assert stumbles(MEGATRON + "tensor_model_parallel_size: 2\n") == {}
    assert stumbles(MEGATRON + "tensor_model_parallel_size: 0\n") == {"tensor_model_parallel_size": Treatment.STOPS}


# Odd values: OmegaConf reads them, not converted, and its interpolations stay text.
@pytest.mark.parametrize(
    ("written", "expected"),
    [
        pytest.param("8", None, id="a number"),
        pytest.param("${BATCH}", None, id="a shell may fill it in"),
        pytest.param("<BATCH>", None, id="a person may fill it in"),
        pytest.param("'8'", Treatment.STOPS_LATE, id="in quotes"),
        pytest.param("eight", Treatment.STOPS_LATE, id="a word"),
        pytest.param("1e1", Treatment.STOPS_LATE, id="a float to OmegaConf"),
        pytest.param("0", Treatment.STOPS_LATE, id="zero"),
        pytest.param("${oc.env:BATCH,8}", Treatment.STOPS_LATE, id="an unresolved interpolation"),
    ],
)
def test_odd_micro_batches_stop_once_training_runs(written: str, expected: str | None) -> None:
    found = stumbles(f"{SFT}per_device_train_batch_size: {written}\n")
    assert found == ({"per_device_train_batch_size": expected} if expected else {})


def test_an_exponent_without_a_point_is_a_number_to_omegaconf() -> None:
    assert table("LLaMA-Factory").texts == ()


@pytest.mark.parametrize(
    ("lines", "fires"),
    [
        pytest.param("", False, id="no stream"),
        pytest.param("streaming: false\n", False, id="switched off"),
        pytest.param("streaming: true\nmax_steps: 1000\n", False, id="with a length"),
        pytest.param("streaming: true\n", True, id="without a length"),
    ],
)
def test_a_stream_needs_a_number_of_steps(lines: str, fires: bool) -> None:
    text = SFT + lines
    run = Run(document(text), table("LLaMA-Factory"), None, sizes(text), (), ())
    assert bool(list(missing_keys(run))) is fires


# v1: the accumulation follows from the global batch.
@pytest.mark.parametrize(
    ("lines", "world", "expected"),
    [
        pytest.param("micro_batch_size: 2\n", 8, (16, 1), id="no global batch: each micro batch is a step"),
        pytest.param("micro_batch_size: 2\nglobal_batch_size: null\n", 8, (16, 1), id="null is none"),
        pytest.param("micro_batch_size: 2\nglobal_batch_size: 64\n", 8, (64, 4), id="given"),
        pytest.param("global_batch_size: 64\ncp_size: 2\n", 8, (64, 16), id="context parallel, micro batch of 1"),
        pytest.param("micro_batch_size: 4\nglobal_batch_size: 64\ndp_size: 8\n", 8, (64, 2), id="data-parallel size given"),
    ],
)
def test_v1_accumulates_up_to_the_global_batch(lines: str, world: int, expected: tuple[int, int]) -> None:
    found = sizes(V1 + "cutoff_len: 2048\n" + lines, world_size=world)
    assert (found.value(Name.GLOBAL_BATCH_SIZE), found.value(Name.GRADIENT_ACCUMULATION_STEPS)) == expected


def test_v1_leaves_the_accumulation_open_without_hardware() -> None:
    found = sizes(V1 + "micro_batch_size: 2\nglobal_batch_size: 64\n").stated
    assert Name.GRADIENT_ACCUMULATION_STEPS not in found
    assert value(found[Name.GLOBAL_BATCH_SIZE]) == 64


def test_v1_divides_the_global_batch_exactly() -> None:
    text = V1 + "micro_batch_size: 2\nglobal_batch_size: 48\n"
    assert [type(each) for each in outcomes("GBS202", text, world_size=8)] == [Verified, Verified]  # 48 = 3 x 2 x 8
    assert [type(each) for each in outcomes("GBS202", text, world_size=16)] == [Finding, Verified]
    assert isinstance(outcomes("GBS202", text)[0], Undetermined)
    assert len(outcomes("GBS202", V1 + "micro_batch_size: 2\n", world_size=16)) == 1


@pytest.mark.parametrize(
    ("lines", "name", "clashes"),
    [
        pytest.param("mp_replicate_size: 2\nmp_shard_size: 4\n", "model_shards", False, id="2 x 4 of 8"),
        pytest.param("mp_replicate_size: 2\n", "model_shards", False, id="shards follow"),
        pytest.param("mp_replicate_size: 3\nmp_shard_size: 4\n", "model_shards", True, id="3 x 4 of 8"),
        pytest.param("cp_size: 2\ndp_size: 4\n", Name.DATA_PARALLEL_SIZE, False, id="4 x 2 of 8"),
        pytest.param("dp_size: 4\n", Name.DATA_PARALLEL_SIZE, True, id="4 of 8"),
    ],
)
def test_v1_meshes_hold_all_gpus(lines: str, name: str, clashes: bool) -> None:
    found = sizes(V1 + "micro_batch_size: 1\n" + lines, world_size=8).stated[name]
    assert isinstance(found, Conflict) is clashes


def test_v1_replicas_must_divide_the_gpus() -> None:
    text = V1 + "micro_batch_size: 1\nmp_replicate_size: 3\n"
    (good,) = outcomes("GBS202", text, world_size=9)
    (bad,) = outcomes("GBS202", text, world_size=8)
    assert isinstance(good, Verified)
    assert isinstance(bad, Finding)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        pytest.param("global_batch_size: 64", None, id="a number"),
        pytest.param("global_batch_size: null", None, id="null"),
        pytest.param("global_batch_size: '64'", Treatment.STOPS, id="in quotes"),
        pytest.param("global_batch_size: -4", Treatment.STOPS, id="negative"),
        pytest.param("micro_batch_size: null", Treatment.STOPS, id="no micro batch"),
        pytest.param("micro_batch_size: ${oc.env:MICRO}", Treatment.STOPS, id="an unresolved interpolation"),
    ],
)
def test_odd_v1_sizes_stop_at_start(line: str, expected: str | None) -> None:
    assert list(stumbles(f"{V1}cutoff_len: 1024\n{line}\n").values()) == ([expected] if expected else [])


def test_command_line_settings_are_pairs_and_deepspeed_is_a_companion() -> None:
    assert {table(name).arguments for name in ("LLaMA-Factory", "LLaMA-Factory v1", "LLaMA-Factory (Megatron)")} == {"pairs"}
    assert table("LLaMA-Factory").companions == (("deepspeed",),)


def test_a_placeholder_leaves_the_batch_unknown() -> None:
    stated = sizes(SFT + "per_device_train_batch_size: ${oc.env:BATCH,8}\n", world_size=8).stated
    assert value(stated[Name.MICRO_BATCH_SIZE]) == Reason.NOT_AN_INTEGER
    assert Name.GLOBAL_BATCH_SIZE not in stated


def test_v1_looks_at_no_degree_in_a_single_process() -> None:
    text = V1 + "micro_batch_size: 2\ncp_size: 2\nmp_replicate_size: 2\n"
    assert sizes(text, world_size=1).global_batch_size == 2
    assert sizes(text, world_size=8).global_batch_size == 8
    assert [type(each) for each in outcomes("GBS202", text, world_size=1)] == [Verified]
