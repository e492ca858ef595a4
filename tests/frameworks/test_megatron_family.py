"""nanotron, GPT-NeoX, NeMo, Automodel, Megatron-LM, Megatron Bridge, NeMo RL: what is given, what follows, and what each checks."""

from fractions import Fraction

import pytest

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.model.equation import Enforcement, Monomial
from pytest_gbs.model.framework import Loader, Treatment
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.quantity import Conflict, Name, Origin, Quantity, Reason

from .building import document, outcomes, sizes, stumbles, table, title, value

NANOTRON = (
    "general: {run: x}\nparallelism: {dp: 4, tp: 2, pp: 1}\nmodel: {}\n"
    "tokens: {micro_batch_size: 3, batch_accumulation_per_replica: 5, sequence_length: 4096, train_steps: 100}\n"
)
NEOX = "num_layers: 12\noptimizer: {type: Adam}\nlr_decay_style: cosine\n"
NEMO = "trainer: {devices: 8, num_nodes: 2, accumulate_grad_batches: 1}\n"
PRETRAINING = NEMO + "model: {micro_batch_size: 4, global_batch_size: 256, tensor_model_parallel_size: 2}\n"
FINE_TUNING = NEMO + (
    "model:\n  tensor_model_parallel_size: 2\n  pipeline_model_parallel_size: 1\n  global_batch_size: 8\n  micro_batch_size: 1\n"
    "  data: {train_ds: {global_batch_size: 128, micro_batch_size: 4}}\n"
)
ASR = NEMO + "model: {train_ds: {batch_size: 16}}\n"
AUTOMODEL = "recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel: {}\nstep_scheduler: {global_batch_size: 64, local_batch_size: 2}\n"
TESTED = "MODEL_ARGS:\n  --micro-batch-size: 2\n  --train-iters: 100\n"
BRIDGE = (
    "train: {train_iters: 10, global_batch_size: 64, micro_batch_size: 2}\nrng: {seed: 1}\n"
    "model: {tensor_model_parallel_size: 2, pipeline_model_parallel_size: 1, context_parallel_size: 1}\n"
)
RL = (
    "policy:\n  train_global_batch_size: 128\n  train_micro_batch_size: 2\n"
    "  megatron_cfg: {enabled: false, tensor_model_parallel_size: 8}\n"
    "  dtensor_cfg: {enabled: true, tensor_parallel_size: 2, context_parallel_size: 1}\n"
)
GRPO = RL + "grpo: {num_prompts_per_step: 32, num_generations_per_prompt: 16}\n"

RECIPES = {
    "nanotron": (NANOTRON, "nanotron"),
    "GPT-NeoX": (NEOX + "train_micro_batch_size_per_gpu: 4\n", "GPT-NeoX"),
    "GPT-NeoX with dashes": (NEOX.replace("_", "-") + "train-micro-batch-size-per-gpu: 4\n", "GPT-NeoX"),
    "GPT-NeoX pairs": (NEOX + "train_batch_size: 8\ndpo_beta: 0.1\n", "GPT-NeoX (preference pairs)"),
    "NeMo pre-training": (PRETRAINING, "NeMo (Megatron, pre-training)"),
    "NeMo fine-tuning": (FINE_TUNING, "NeMo (Megatron, fine-tuning)"),
    "NeMo ASR": (ASR, "NeMo (batch per GPU)"),
    "NeMo-Aligner SFT": ("trainer: {sft: {max_epochs: 1}}\nmodel: {data: {train_ds: {micro_batch_size: 1}}}\n", "NeMo-Aligner (SFT)"),
    "NeMo-Aligner DPO": ("trainer: {dpo: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (preference pairs)"),
    "NeMo-Aligner KTO": ("trainer: {kto: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (KTO)"),
    "NeMo-Aligner SPIN": ("trainer: {spin: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (SPIN)"),
    "NeMo-Aligner PPO": ("trainer: {ppo: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (PPO)"),
    "NeMo-Aligner RS": ("trainer: {rs: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (rejection sampling)"),
    "NeMo-Aligner REINFORCE": ("trainer: {reinforce: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n", "NeMo-Aligner (REINFORCE)"),
    "NeMo-Aligner distillation": (
        "trainer: {knowledge_distillation: {max_epochs: 1}}\nmodel: {micro_batch_size: 1}\n",
        "NeMo-Aligner (distillation)",
    ),
    "Automodel": (AUTOMODEL, "NeMo Automodel"),
    "Automodel, a teacher apart": (AUTOMODEL + "separate_meshes: true\n", "NeMo Automodel (separate meshes)"),
    "Automodel, a teacher beside": (AUTOMODEL + "separate_meshes: false\n", "NeMo Automodel"),
    "Automodel, a draft model": ("recipe: TrainEagle3Recipe\nrecipe_args: {micro_batch_size: 1}\n", "NeMo Automodel (draft models)"),
    "Megatron's tests": (TESTED, "Megatron-LM (functional test)"),
    "Megatron's arguments": ("micro_batch_size: 1\nglobal_batch_size: 8\nnum_layers: 2\ntrain_iters: 10\n", "Megatron-LM"),
    "Bridge": (BRIDGE, "Megatron Bridge"),
    "GRPO": (GRPO, "NeMo RL (GRPO)"),
    "DPO": (RL + "dpo: {max_num_steps: 10}\n", "NeMo RL (DPO)"),
}
LOOK_ALIKES = {
    "a model alone": "pipe_parallel_size: 1\nmodel_parallel_size: 1\nnum_layers: 32\n",
    "paths": "data_path: data/enwik8\nvocab_file: x\nsave: checkpoints\n",
    "DeepSpeed": "train_micro_batch_size_per_gpu: 4\nzero_optimization: {stage: 1}\noptimizer: {type: Adam}\n",
    "inference with Megatron": "MODEL_ARGS:\n  --micro-batch-size: 1\n  --inference-max-requests: 8\n",
    "clusters of Megatron's tests": "spec: {nodes: 1, gpus: 8}\nproducts: []\n",
    "generation with NeMo": NEMO + "inference: {greedy: true}\nmodel: {micro_batch_size: 1, global_batch_size: 1}\n",
    "evaluation with NeMo": NEMO + "model: {global_batch_size: 1, data: {test_ds: {global_batch_size: 1}}}\n",
    "overlap of NeMo": "fc1_fprop: {method: pipeline}\nqkv_dgrad: {method: bulk}\n",
    "a child of NeMo RL": "defaults: parent.yaml\npolicy: {model_name: x}\ngrpo: {max_num_steps: 1}\ncluster: {num_nodes: 2}\n",
    "evaluation with NeMo RL": "generation: {backend: vllm}\neval: {metric: pass@k}\ncluster: {num_nodes: 1}\n",
    "a model card of Bridge": "model: {name: x}\nparallelism: {tp: 8}\n",
    # jvonrad/XScript-Pretraining, configs/base_main.yaml (7b8c9b0).
    "a program of its own": "model: {dim: 2048, n_layers: 16}\ntrain: {micro_batch_size: 8, global_batch_tokens: 1.0e6}\noptim: {eps: 1}\n",
}


@pytest.mark.parametrize(("text", "expected"), RECIPES.values(), ids=RECIPES)
def test_recipes_are_recognised_by_their_keys(text: str, expected: str) -> None:
    assert title(text) == expected


@pytest.mark.parametrize("text", LOOK_ALIKES.values(), ids=LOOK_ALIKES)
def test_look_alikes_are_none_of_the_family(text: str) -> None:
    assert title(text) is None


# Global batch, accumulation and data-parallel size, by hand.
FOLLOWS = {
    "nanotron: 3 x 5 x 4": (NANOTRON, {}, (60, 5, 4)),
    "NeoX: 4 x 1 x 8": (NEOX + "train_micro_batch_size_per_gpu: 4\n", {"world_size": 8}, (32, 1, 8)),
    "NeoX: 0 stages are one": (
        NEOX + "pipe_parallel_size: 0\nmodel_parallel_size: 2\ntrain-micro-batch-size-per-gpu: 4\ngradient_accumulation_steps: 2\n",
        {"world_size": 256},
        (1024, 2, 128),
    ),
    "NeoX: a fork with context parallelism": (
        NEOX + "model_parallel_size: 2\ncontext_parallel_size: 4\ntrain_micro_batch_size_per_gpu: 4\n",
        {"world_size": 64},
        (32, 1, 8),
    ),
    "NeoX: the accumulation of nothing follows": (
        NEOX + "train_batch_size: 64\ntrain_micro_batch_size_per_gpu: 4\ngradient_accumulation_steps: null\n",
        {"world_size": 8},
        (64, 2, 8),
    ),
    "NeMo: 256 / (4 x 8)": (PRETRAINING, {"num_nodes": 2, "gpus_per_node": 8}, (256, 8, 8)),
    "NeMo: the data's own": (FINE_TUNING, {"world_size": 16}, (128, 4, 8)),
    "NeMo: no more ranks than processes": (PRETRAINING.replace("size: 2}", "size: 8}"), {"world_size": 2}, (256, 64, 1)),
    "NeMo: a batch per GPU": (ASR.replace("batches: 1", "batches: 4"), {"world_size": 8}, (512, 4, 8)),
    "Automodel: 64 / (2 x 8)": (AUTOMODEL, {"world_size": 8}, (64, 4, 8)),
    "Automodel: both by default": (AUTOMODEL.replace("{global_batch_size: 64, local_batch_size: 2}", "{}"), {"world_size": 4}, (32, 8, 4)),
    "Automodel: what is not a size is none": (
        AUTOMODEL + "distributed: {tp_size: 0, cp_size: null, pp_size: -1, dp_size: none}\n",
        {"world_size": 8},
        (64, 4, 8),
    ),
    "Megatron: without a global batch": (TESTED, {"world_size": 8}, (16, 1, 8)),
    "Megatron: context parallelism divides": (
        TESTED + "  --global-batch-size: '64'\n  --context-parallel-size: 2\n  --expert-model-parallel-size: 4\n",
        {"world_size": 8},
        (64, 8, 4),
    ),
    "Bridge: 64 / (2 x 4)": (BRIDGE, {"world_size": 8}, (64, 8, 4)),
    "NeMo RL: the backend that is on": (GRPO, {"world_size": 8}, (128, 16, 4)),
}


@pytest.mark.parametrize(("text", "hardware", "expected"), FOLLOWS.values(), ids=FOLLOWS)
def test_what_is_not_given_follows(text: str, hardware: dict[str, int], expected: tuple[int, int, int]) -> None:
    stated = sizes(text, **hardware).stated
    names = (Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)
    assert tuple(value(stated.get(name)) for name in names) == expected


@pytest.mark.parametrize(
    ("kind", "unit"), [("GPT-NeoX (preference pairs)", "pairs"), ("NeMo RL (DPO)", "pairs"), ("NeMo RL (GRPO)", "completions")]
)
def test_what_a_batch_counts(kind: str, unit: str) -> None:
    assert table(kind).unit == unit
    assert table(kind).sequences_per_sample == (2 if unit == "pairs" else 1)


def test_nanotron_states_the_number_of_processes() -> None:
    assert value(sizes(NANOTRON).stated[Name.WORLD_SIZE]) == 8
    assert isinstance(sizes(NANOTRON, world_size=16).stated[Name.WORLD_SIZE], Conflict)


def test_a_part_of_a_neox_configuration_leaves_the_parallel_sizes_open() -> None:
    text = NEOX.replace("num_layers: 12\n", "") + "train_micro_batch_size_per_gpu: 4\n"
    assert sizes(text, world_size=8).value(Name.DATA_PARALLEL_SIZE) is None


def test_another_name_of_the_accumulation_is_taken_only_where_it_makes_no_difference() -> None:
    text = NEOX + "train_micro_batch_size_per_gpu: 4\ngas: "
    assert sizes(text + "1\n", world_size=8).global_batch_size == 32
    assert sizes(text + "2\n", world_size=8).global_batch_size is None


def test_what_a_checkpoint_or_a_python_recipe_brings_along_is_not_known() -> None:
    without = FINE_TUNING.replace("  tensor_model_parallel_size: 2\n", "")
    assert sizes(without, world_size=8).value(Name.DATA_PARALLEL_SIZE) is None
    assert sizes(BRIDGE.replace(", context_parallel_size: 1", ""), world_size=8).value(Name.DATA_PARALLEL_SIZE) is None
    assert sizes(BRIDGE.replace(", micro_batch_size: 2", ""), world_size=8).value(Name.GRADIENT_ACCUMULATION_STEPS) is None


@pytest.mark.parametrize("devices", ["1", "-1", "auto", "[0, 1]"])
def test_devices_that_are_a_placeholder_are_not_hardware(devices: str) -> None:
    text = PRETRAINING.replace("devices: 8", f"devices: {devices}")
    assert sizes(text).value(Name.WORLD_SIZE) is None
    assert stumbles(text) == {}


def test_buckets_make_the_batch_of_a_gpu_unknown() -> None:
    micro = sizes(ASR.replace("16}", "16, bucketing_batch_size: [8, 4]}")).stated[Name.MICRO_BATCH_SIZE]
    assert value(micro) == Reason.NOT_AN_INTEGER or value(micro) == Reason.AUTO


def test_a_schedule_ends_with_its_last_stage() -> None:
    stated = sizes(TESTED + "  --step-batch-size-schedule: 0:768 250B:1536\n", world_size=8).stated
    batch = stated[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.stages) == (1536, (768, 1536))


def test_a_schedule_that_is_not_understood_leaves_the_global_batch_unknown() -> None:
    stated = sizes(TESTED + "  --step-batch-size-schedule: 0:768 later:1536\n", world_size=8).stated
    assert value(stated[Name.GLOBAL_BATCH_SIZE]) == Reason.SCHEDULE
    assert value(stated.get(Name.GRADIENT_ACCUMULATION_STEPS)) is None


def generating(nodes: int, gpus: str, of: str) -> str:
    """A recipe whose cluster has `nodes` nodes of 8 GPUs, some of which only generate."""
    apart = f"  generation: {{colocated: {{enabled: false, resources: {{gpus_per_node: {gpus}, num_nodes: {of}}}}}}}\n"
    head, tail = GRPO.split("grpo:")
    return f"{head}{apart}grpo:{tail}cluster: {{num_nodes: {nodes}, gpus_per_node: 8}}\n"


@pytest.mark.parametrize(
    ("text", "hardware", "expected"),
    [
        pytest.param(GRPO, {"num_nodes": 2, "gpus_per_node": 8}, 16, id="all of them train"),
        pytest.param(generating(1, "4", "null"), {"num_nodes": 1, "gpus_per_node": 8}, 4, id="half of the one node"),
        pytest.param(generating(4, "8", "1"), {"num_nodes": 4, "gpus_per_node": 8}, 24, id="a node of four"),
        pytest.param(generating(4, "8", "4"), {"num_nodes": 4, "gpus_per_node": 8}, None, id="nothing left"),
        pytest.param(generating(4, "8", "1"), {"world_size": 32}, None, id="nodes not known"),
        pytest.param(GRPO + "env: {reward_model: {enabled: true}}\n", {"num_nodes": 4, "gpus_per_node": 8}, None, id="a reward model"),
    ],
)
def test_gpus_that_generate_do_not_train(text: str, hardware: dict[str, int], expected: int | None) -> None:
    assert sizes(text, **hardware).value(Name.WORLD_SIZE) == expected


def test_a_rollout_holds_several_steps() -> None:
    stated = sizes(GRPO).stated
    assert value(stated[Name.GENERATION_BATCH_SIZE]) == 512
    assert value(stated[Name.STEPS_PER_ROLLOUT]) == 4
    assert value(stated[Name.PROMPTS_PER_STEP]) == 8


DECREASED = "  --decrease-batch-size-if-needed: true\n  --eval-global-batch-size: 32\n"


def test_megatron_decreases_the_batch_if_a_flag_asks_for_it() -> None:
    geometry = sizes(TESTED + "  --global-batch-size: 100\n" + DECREASED, world_size=8)
    realised = geometry.realised[Name.GLOBAL_BATCH_SIZE]
    assert isinstance(realised, Quantity)
    assert (realised.value, realised.origin) == (96, Origin.DERIVED)
    steps = geometry.realised[Name.GRADIENT_ACCUMULATION_STEPS]
    assert isinstance(steps, Quantity)
    assert steps.value == 6
    assert sizes(TESTED + "  --global-batch-size: 100\n", world_size=8).realised == {}


def test_megatron_has_no_accumulation_where_it_stops() -> None:
    # 16 samples of all ranks in one micro batch.
    assert sizes(TESTED + "  --global-batch-size: 32\n", world_size=8).value(Name.GRADIENT_ACCUMULATION_STEPS) == 2
    for batch in ("100", "2"):
        stated = sizes(TESTED + f"  --global-batch-size: {batch}\n", world_size=8).stated
        assert value(stated[Name.GRADIENT_ACCUMULATION_STEPS]) == Reason.NOT_WHOLE
    assert sizes(TESTED + "  --global-batch-size: 2\n" + DECREASED, world_size=8).realised == {}  # nothing is left of it
    unknown = sizes(TESTED + "  --global-batch-size: $BATCH\n", world_size=8).stated
    found = symbolic(Name.GRADIENT_ACCUMULATION_STEPS, unknown, table("Megatron-LM (functional test)").equations)
    assert found == Monomial(Fraction(1, 16), (Name.GLOBAL_BATCH_SIZE,))


# Silent cases first: text, hardware.
DIVIDES = {
    "NeMo": (PRETRAINING, {"world_size": 16}),
    "NeMo, unknown hardware": (PRETRAINING, {}),
    "Automodel": (AUTOMODEL, {"world_size": 32}),
    "Automodel, experts on data-parallel ranks": (AUTOMODEL + "distributed: {ep_size: 8}\n", {"world_size": 8}),
    "Megatron": (TESTED + "  --global-batch-size: 64\n", {"world_size": 32}),
    "Megatron, decreasing": (TESTED + "  --global-batch-size: 100\n" + DECREASED, {"world_size": 8}),
    "Bridge": (BRIDGE, {"world_size": 64}),
    "Bridge, context parallelism of its own in evaluation": (BRIDGE + "dist: {eval_context_parallel_size: 2}\n", {"world_size": 8}),
    "NeMo RL": (GRPO, {"world_size": 128}),
    "NeMo RL, filled by tokens": (
        GRPO.replace("size: 2\n", "size: 3\n").replace("  meg", "  dynamic_batching: {enabled: true}\n  meg"),
        {"world_size": 8},
    ),
    "NeMo RL, on policy": (GRPO.replace(": 128", ": 512") + "loss_fn: {force_on_policy_ratio: true}\n", {"world_size": 8}),
}
LEAVES_A_REST = {
    "NeMo": (PRETRAINING.replace("256", "250"), {"world_size": 16}),
    "NeMo, experts": (PRETRAINING.replace("size: 2}", "size: 2, expert_model_parallel_size: 8}"), {"world_size": 8}),
    "Automodel": (AUTOMODEL, {"world_size": 64}),
    "Automodel, more experts than ranks": (AUTOMODEL + "distributed: {ep_size: 16}\n", {"world_size": 8}),
    "Automodel, replicas": (AUTOMODEL + "distributed: {dp_replicate_size: 3}\n", {"world_size": 8}),
    "Automodel, pipeline": (AUTOMODEL + "distributed: {pp_size: 2, pipeline: {pp_microbatch_size: 4}}\n", {"world_size": 8}),
    "Megatron": (TESTED + "  --global-batch-size: 100\n", {"world_size": 8}),
    "Megatron, decreasing but for the evaluation": (
        TESTED + "  --global-batch-size: 100\n  --decrease-batch-size-if-needed: true\n",
        {"world_size": 8},
    ),
    "Megatron, evaluation": (TESTED + "  --global-batch-size: 64\n  --eval-global-batch-size: 24\n", {"world_size": 8}),
    "Megatron, mixture": (TESTED + "  --num-experts: 8\n  --expert-model-parallel-size: 8\n", {"world_size": 4}),
    "Bridge": (BRIDGE.replace("64", "66"), {"world_size": 8}),
    "NeMo RL, ranks": (GRPO, {"world_size": 12}),
    "NeMo RL, rollout": (GRPO.replace(": 32", ": 33"), {"world_size": 8}),
    "NeMo RL, not on policy": (GRPO + "loss_fn: {force_on_policy_ratio: true}\n", {"world_size": 8}),
    "NeoX": (NEOX + "train_batch_size: 33\ngradient_accumulation_steps: 2\n", {"world_size": 8}),
}


@pytest.mark.parametrize(("text", "hardware"), DIVIDES.values(), ids=DIVIDES)
def test_batches_that_divide_are_in_order(text: str, hardware: dict[str, int]) -> None:
    assert [each for each in outcomes("GBS202", text, **hardware) if isinstance(each, Finding)] == []


@pytest.mark.parametrize(("text", "hardware"), LEAVES_A_REST.values(), ids=LEAVES_A_REST)
def test_batches_that_leave_a_rest_stop_the_framework(text: str, hardware: dict[str, int]) -> None:
    assert any(isinstance(each, Finding) for each in outcomes("GBS202", text, **hardware))


@pytest.mark.parametrize(
    ("hardware", "words"),
    [
        ({"world_size": 8}, "8 GPUs are not divisible by"),
        ({"num_nodes": 1}, "no number of GPUs on 1 node is divisible by"),
    ],
)
def test_what_does_not_divide_is_reported_in_words(hardware: dict[str, int], words: str) -> None:
    experts = "  --global-batch-size: 64\n  --num-experts: 128\n  --expert-model-parallel-size: 128\n"
    found = next(each for each in outcomes("GBS202", TESTED + experts, **hardware) if isinstance(each, Finding))
    assert found.message.startswith(words)


@pytest.mark.parametrize(("times", "expected"), [("1", 0), ("null", 0), ("'${times}'", 0), ("4", 1)])
def test_nemo_refuses_to_accumulate_beside_the_batch_sizes(times: str, expected: int) -> None:
    of = document(PRETRAINING.replace("batches: 1", f"batches: {times}"))
    stops = [each.condition for each in table("NeMo (Megatron, pre-training)").switches if each.enforcement == Enforcement.STOPS]
    assert sum(holds(condition, of, Loader.OMEGACONF) for condition in stops) == expected


def test_kto_needs_two_samples_in_a_micro_batch() -> None:
    text = NEOX + "train_micro_batch_size_per_gpu: 1\ntrain_impl: "
    assert [each for each in outcomes("GBS207", text + "normal\n") if isinstance(each, Finding)] == []
    assert any(isinstance(each, Finding) for each in outcomes("GBS207", text + "kto\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(NANOTRON, {}, id="numbers"),
        pytest.param(NEOX + "train_batch_size: null\ntrain_micro_batch_size_per_gpu: 0x10\n", {}, id="NeoX: hexadecimal and null"),
        pytest.param(AUTOMODEL.replace("64", "'64'"), {}, id="Automodel: a number in quotes"),
        pytest.param(GRPO.replace("128", "128.0"), {}, id="NeMo RL: a whole float"),
        pytest.param(PRETRAINING.replace("256", "'${my.batch}'"), {}, id="NeMo: an interpolation"),
        pytest.param(PRETRAINING.replace("num_nodes: 2", "num_nodes: '${oc.decode:${oc.env:NODES}}'"), {}, id="NeMo: nodes, decoded"),
        pytest.param(PRETRAINING.replace("num_nodes: 2", "num_nodes: '???'"), {}, id="NeMo: nodes to be filled in"),
        pytest.param(
            NANOTRON.replace("replica: 5", "replica: 5.0"), {"batch_accumulation_per_replica": Treatment.STOPS}, id="nanotron: float"
        ),
        pytest.param(NANOTRON.replace("dp: 4", "dp: -4"), {"dp": Treatment.STOPS}, id="nanotron: negative"),
        pytest.param(
            NEOX + "train_micro_batch_size_per_gpu: '4'\n", {"train_micro_batch_size_per_gpu": Treatment.STOPS}, id="NeoX: quotes"
        ),
        pytest.param(PRETRAINING.replace("256", "'256'"), {"global_batch_size": Treatment.STOPS}, id="NeMo: quotes"),
        pytest.param(
            PRETRAINING.replace("num_nodes: 2", "num_nodes: '${oc.env:NODES,1}'"), {"num_nodes": Treatment.STOPS}, id="NeMo: nodes are text"
        ),
        pytest.param(PRETRAINING.replace("num_nodes: 2", "num_nodes: 0"), {"num_nodes": Treatment.STOPS}, id="NeMo: no nodes"),
        pytest.param(AUTOMODEL.replace("64", "0"), {"global_batch_size": Treatment.STOPS}, id="Automodel: zero"),
        pytest.param(TESTED.replace("size: 2", "size: 2.0"), {"--micro-batch-size": Treatment.STOPS}, id="Megatron: float"),
        pytest.param(GRPO.replace("128", "null"), {"train_global_batch_size": Treatment.STOPS}, id="NeMo RL: null"),
        pytest.param(generating(2, "null", "1"), {"gpus_per_node": Treatment.STOPS}, id="NeMo RL: the generating GPUs are unknown"),
    ],
)
def test_values_the_frameworks_stumble_over(text: str, expected: dict[str, str]) -> None:
    assert stumbles(text) == expected
