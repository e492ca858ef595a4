"""The trainers around plain PyTorch and JAX: mostly the global batch is given, and what a rank accumulates follows."""

import pytest

from pytest_gbs.files.decode import decode
from pytest_gbs.frameworks import recognise, tables
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.document import Document
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Finding, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Conflict, Name, Origin, Quantity, Reason
from pytest_gbs.readers import read
from tests.support import corpus

from .building import document, outcomes, sizes, stumbles, title, value

BATCH, MICRO, STEPS, RANKS = Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE
T = "train.toml"

TITAN = """\
[job]
dump_folder = "./outputs"
[model]
name = "llama3"
flavor = "8B"
[training]
seq_len = 8192
{training}
[parallelism]
{parallelism}
"""
FOUNDRY = """\
max_seq_len: 2048
train_loader: {{name: text}}
max_duration: 1ep
optimizer: {{name: decoupled_adamw}}
global_train_batch_size: {batch}
device_train_microbatch_size: {micro}
"""
OLMO = """\
model: {{d_model: 2048, max_sequence_length: 4096}}
save_folder: runs
data: {{paths: [a.npy]}}
global_train_batch_size: {batch}
device_train_microbatch_size: {micro}
"""
LITGPT = """\
checkpoint_dir: checkpoints/my/model
devices: {devices}
num_nodes: {nodes}
train:
  global_batch_size: {batch}
  micro_batch_size: {micro}
  lr_warmup_steps: 100
"""
LEVANTER = """\
data: {{id: my/text}}
model: {{type: llama, seq_len: 4096}}
trainer:
  mp: p=f32,c=bfloat16
  num_train_steps: 1000
{trainer}
"""
LINGUA = """\
steps: 1000
grad_acc_steps: {steps}
distributed: {{fsdp_type: full_shard, tp_size: {tensor}, dp_shard: {shards}}}
data: {{root_dir: data, batch_size: {micro}, seq_len: 4096, n_views: 2}}
"""
PLM = """\
steps: 1000
optim: {{lr: 1.0e-5, lr_min_ratio: 0.01}}
distributed: {{fsdp_type: full_shard, tp_size: 2}}
data: {{datamix: pictures, batch_size: {micro}, num_workers: 4}}
"""
LIGHTNING = """\
trainer:
  max_epochs: 3
  devices: {devices}
  num_nodes: {nodes}
  accumulate_grad_batches: {steps}
model: {{class_path: my.Model}}
data: {{class_path: my.Data, init_args: {{batch_size: 4}}}}
"""
CORE = """\
run_name: olmo
data_loader: {{global_batch_size: {batch}}}
train_module: {{rank_microbatch_size: {micro}, max_sequence_length: 4096, tp_config: {{degree: {tensor}}}, cp_config: null}}
"""


def titan(training: str, parallelism: str = "") -> str:
    """A recipe for torchtitan with these lines in two of its sections."""
    return TITAN.format(training=training, parallelism=parallelism)


def levanter(*lines: str) -> str:
    """A recipe for Levanter with these settings of its trainer."""
    return LEVANTER.format(trainer="".join(f"  {line}\n" for line in lines))


NOT_RECIPES = {
    "a project": ("[tool.x]\nlocal_batch_size = 8\n[project]\nname = 'a'\n", "pyproject.toml"),
    "sections of others": ("[training]\nbatch_size = 8\nsteps = 10\n", "config.toml"),
    "torchtitan with a mesh of its own": (
        titan("local_batch_size = 2")
        + '[experimental]\ncustom_args_module = "torchtitan.experiments.deepseek_v3.train_configs.custom_args"\n',
        "a.toml",
    ),
    "torchtitan's keys as YAML": ("training: {local_batch_size: 8, steps: 10}\nmodel: {flavor: 8B}\njob: {dump_folder: x}\n", "a.yaml"),
    "an evaluation with llm-foundry": (
        "max_seq_len: 1\ndevice_eval_batch_size: 4\nmodels: []\nicl_tasks: x\nfsdp_config: {}\n",
        "eval.yaml",
    ),
    "a training batch alone": ("global_train_batch_size: 8\n", "part.yaml"),
    "a model of litgpt": ("name: pythia\nblock_size: 512\nn_layer: 6\n", "model_config.yaml"),
    "a part of Levanter": ("type: adam\nlearning_rate: 1E-3\n", "optim.yaml"),
    "an evaluation with Lingua": ("data: {batch_size: 4}\ngenerator: {max_tokens: 8}\nharness: {tasks: []}\n", "eval.yaml"),
    "a Trainer without classes": ("trainer: {max_epochs: 3, accumulate_grad_batches: 4, devices: 8}\nbatch_size: 4\n", "trainer.yaml"),
    "NeMo": ("trainer: {max_epochs: 3, devices: 8}\nmodel: {class_path: x, global_batch_size: 8, micro_batch_size: 1}\n", "nemo.yaml"),
}
OURS = {"torchtitan", "llm-foundry", "olmo", "olmo-core", "litgpt", "levanter", "lingua", "lightning"}


@pytest.mark.parametrize(("text", "path"), NOT_RECIPES.values(), ids=NOT_RECIPES)
def test_what_only_looks_alike_is_not_taken(text: str, path: str) -> None:
    found = title(text, path)
    assert found not in {each.title for each in tables() if each.name in OURS}


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        pytest.param(titan("local_batch_size = 1"), T, "torchtitan (TOML)", id="torchtitan"),
        pytest.param(titan("batch_size = 1"), T, "torchtitan (TOML)", id="torchtitan of long ago"),
        pytest.param(
            titan("batch_size = 1") + '[experimental]\ncustom_args_module = "torchtitan.experiments.flux.job_config"\n',
            T,
            "torchtitan (TOML)",
            id="torchtitan with arguments of its own",
        ),
        pytest.param(FOUNDRY.format(batch=8, micro=1), "a.yaml", "llm-foundry", id="llm-foundry"),
        pytest.param(OLMO.format(batch=8, micro=1), "a.yaml", "OLMo", id="OLMo"),
        pytest.param(LITGPT.format(devices=1, nodes=1, batch=8, micro=1), "a.yaml", "litgpt (finetune)", id="litgpt finetune"),
        pytest.param(
            "model_name: x\ntokenizer_dir: y\ntrain: {max_tokens: 1, micro_batch_size: 4}\n", "a.yaml", "litgpt (pretrain)", id="pretrain"
        ),
        pytest.param(levanter("train_batch_size: 8"), "a.yaml", "Levanter", id="Levanter"),
        pytest.param(LINGUA.format(steps=1, tensor=1, shards=1, micro=2), "a.yaml", "Meta Lingua", id="Lingua"),
        pytest.param(PLM.format(micro=2), "a.yaml", "Meta Lingua", id="PerceptionLM"),
        pytest.param(LIGHTNING.format(devices=8, nodes=1, steps=1), "a.yaml", "PyTorch Lightning (CLI)", id="Lightning"),
        pytest.param(CORE.format(batch=8, micro=1, tensor=1), "a.yaml", "OLMo-core", id="OLMo-core"),
    ],
)
def test_recipes_are_recognised_by_their_keys(text: str, path: str, expected: str) -> None:
    assert title(text, path) == expected


IN_GROUPS = "[fault_tolerance]\nenable = true\ngroup_size = 2"

# global, micro, accumulation, data-parallel, by hand from each framework's own lines.
SIZES = {
    # 64 / (8 tensor) = 8 ranks; without a global batch one local batch per step
    "titan, no global batch": (titan("local_batch_size = 8", "tensor_parallel_degree = 8"), T, 64, (64, 8, 1, 8)),
    "titan, -1": (titan("local_batch_size = 8\nglobal_batch_size = -1", "tensor_parallel_degree = 8"), T, 64, (64, 8, 1, 8)),
    "titan, given": (titan("local_batch_size = 2\nglobal_batch_size = 1_024"), T, 64, (1024, 2, 8, 64)),
    # 256 / (8 x 2 x 2) = 8; expert parallelism reuses ranks
    "titan, all degrees": (
        titan(
            "local_batch_size = 4\nglobal_batch_size = 128",
            "tensor_parallel_degree = 8\npipeline_parallel_degree = 2\ncontext_parallel_degree = 2\nexpert_parallel_degree = 8",
        ),
        T,
        256,
        (128, 4, 4, 8),
    ),
    "titan, defaults": (titan(""), T, 4, (32, 8, 1, 4)),
    "titan, of long ago": (
        titan("batch_size = 2\ntensor_parallel_degree = 2", "") + "[experimental]\npipeline_parallel_degree = 2\n",
        T,
        16,
        (8, 2, 1, 4),
    ),
    # docs/torchft.md of NousResearch/torchtitan at d9cc6b4: two groups of 4 GPUs, each started by itself
    "titan, groups": (titan("local_batch_size = 1", IN_GROUPS), T, 4, (8, 1, 1, 4)),
    "titan, groups with a batch": (titan("local_batch_size = 1\nglobal_batch_size = 16", IN_GROUPS), T, 4, (16, 1, 2, 4)),
    "titan, groups switched off": (titan("local_batch_size = 1", IN_GROUPS.replace("true", "false")), T, 4, (4, 1, 1, 4)),
    "titan, groups of unknown number": (
        titan("local_batch_size = 1", "[fault_tolerance]\nenable = true"),
        T,
        4,
        (None, 1, 1, 4),
    ),
    "titan, groups that step apart": (
        titan("local_batch_size = 1", IN_GROUPS + '\nsemi_sync_method = "diloco"'),
        T,
        4,
        (None, 1, 1, 4),
    ),
    "titan, shards given": (
        titan("local_batch_size = 1", "data_parallel_shard_degree = 4\ndata_parallel_replicate_degree = 2"),
        T,
        8,
        (8, 1, 1, 8),
    ),
    "foundry": (FOUNDRY.format(batch=448, micro=8), "a.yaml", 7, (448, 8, 8, 7)),
    # 320 / 8 = 40 = 6 x 6 + 4: seven micro batches
    "foundry, a smaller last micro batch": (FOUNDRY.format(batch=320, micro=6), "a.yaml", 8, (320, 6, 7, 8)),
    # 32 / 4 = 8 is all that a GPU has
    "foundry, a micro batch too large": (FOUNDRY.format(batch=32, micro=16), "a.yaml", 4, (32, 8, 1, 4)),
    "foundry, auto": (FOUNDRY.format(batch=32, micro="auto"), "a.yaml", 4, (32, Reason.AUTO, None, 4)),
    "olmo": (OLMO.format(batch="2_048", micro=8), "a.yaml", 64, (2048, 8, 4, 64)),
    # 320 / 64 = 5 = 2 + 2 + 1
    "olmo, a smaller last micro batch": (OLMO.format(batch=320, micro=2), "a.yaml", 64, (320, 2, 3, 64)),
    "olmo, a micro batch too large": (OLMO.format(batch=64, micro=128), "a.yaml", 2, (64, 128, 1, 2)),
    # 512 / 8 = 64 = 2 x 24 + 16
    # 64 samples on 16 GPUs are 4 for each
    "foundry, a job": (
        "compute: {gpus: 16}\nparameters:\n  " + FOUNDRY.format(batch=64, micro=8).strip().replace("\n", "\n  ") + "\n",
        "a.yaml",
        None,
        (64, 4, 1, 16),
    ),
    "litgpt rounds down": (LITGPT.format(devices=8, nodes=1, batch=512, micro=24), "a.yaml", None, (512, 24, 2, 8)),
    "litgpt, two nodes": (LITGPT.format(devices=8, nodes=2, batch=768, micro=4), "a.yaml", None, (768, 4, 12, 16)),
    "litgpt, all devices": (LITGPT.format(devices="auto", nodes=1, batch=768, micro=4), "a.yaml", None, (768, 4, None, None)),
    "levanter, both": (levanter("train_batch_size: 512", "per_device_parallelism: 8"), "a.yaml", 16, (512, 8, 4, 16)),
    "levanter, all at once": (levanter("train_batch_size: 512", "per_device_parallelism: -1"), "a.yaml", 64, (512, 8, 1, 64)),
    "levanter, batch left open": (levanter("train_batch_size: -1", "per_device_parallelism: 4"), "a.yaml", 8, (32, 4, 1, 8)),
    "levanter, by default 512": (levanter("per_device_parallelism: 16", "model_axis_size: 4"), "a.yaml", 16, (512, 16, 8, 4)),
    "lingua": (LINGUA.format(steps=4, tensor=2, shards=8, micro=2), "a.yaml", 32, (128, 2, 4, 16)),
    "lingua, PerceptionLM": (PLM.format(micro=4), "a.yaml", 32, (64, 4, 1, 16)),  # 32 / 2 tensor
    "lightning": (LIGHTNING.format(devices=8, nodes=10, steps=1), "a.yaml", None, (320, 4, 1, 80)),
    "lightning, accumulating": (LIGHTNING.format(devices="'2'", nodes=1, steps=8), "a.yaml", None, (64, 4, 8, 2)),
    "lightning, one named device": (LIGHTNING.format(devices="[2]", nodes=1, steps=8), "a.yaml", None, (None, 4, 8, None)),
    "core": (CORE.format(batch=8192 * 512, micro=2 * 8192, tensor=1), "a.yaml", 64, (4_194_304, 16_384, 4, 64)),
    "core, tensor parallel": (CORE.format(batch=8192, micro=1024, tensor=2), "a.yaml", 8, (8192, 1024, 2, 4)),
}


@pytest.mark.parametrize(("text", "path", "world", "expected"), SIZES.values(), ids=SIZES)
def test_the_sizes_follow(text: str, path: str, world: int | None, expected: tuple[int | str | None, ...]) -> None:
    hardware = {Name.WORLD_SIZE: world} if world else _own(text)
    stated = sizes(text, path, **hardware).stated
    assert tuple(value(stated.get(name)) for name in (BATCH, MICRO, STEPS, RANKS)) == expected


def test_rows_of_another_program_have_no_length_that_is_known() -> None:
    assert value(sizes(LINGUA.format(steps=1, tensor=1, shards=1, micro=2)).stated.get(Name.SEQUENCE_LENGTH)) == 4096
    assert value(sizes(PLM.format(micro=2)).stated.get(Name.SEQUENCE_LENGTH)) is None


def _own(text: str) -> dict[str, int]:
    """The hardware that the recipe itself states."""
    found = document(text)
    framework = recognise(found)
    assert framework
    own = read_sizes(found, framework)
    return {name: each.value for name in HARDWARE if isinstance(each := own.get(name), Quantity)}


def test_a_schedule_ends_with_its_last_stage() -> None:
    stages = "train_batch_size: [{start: 0, value: 64}, {start: 64, value: 128}]"
    batch = sizes(levanter(stages), world_size=8).stated[BATCH]
    assert isinstance(batch, Quantity)
    assert (batch.value, batch.stages) == (128, (64, 128))
    assert stumbles(levanter(stages)) == {}
    assert stumbles(levanter("train_batch_size: [256]")) == {"train_batch_size": "stops"}


def test_the_classes_of_a_command_line_may_be_those_of_its_program() -> None:
    text = "seed_everything: 42\ntrainer: {max_epochs: 20, devices: 8, num_nodes: 1}\nmodel: {lr: 0.1}\ndata: {root: x, batch_size: 64}\n"
    stated = sizes(text, world_size=8)
    assert (value(stated.stated[BATCH]), value(stated.stated[STEPS])) == (512, 1)


def test_a_callback_schedules_the_accumulation() -> None:
    text = LIGHTNING.format(devices=8, nodes=1, steps=1)
    other = text.replace("  max_epochs", "  callbacks:\n  - class_path: lightning.pytorch.callbacks.ModelCheckpoint\n  max_epochs")
    scheduled = other.replace("ModelCheckpoint", "GradientAccumulationScheduler\n    init_args: {scheduling: {4: 2}}")
    assert value(sizes(other, world_size=8).stated[STEPS]) == 1
    assert value(sizes(scheduled, world_size=8).stated[STEPS]) == Reason.SCHEDULE
    assert value(sizes(scheduled, world_size=8).stated.get(BATCH)) is None


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        pytest.param("fsdp", 32, id="by name"),
        pytest.param("{class_path: lightning.pytorch.strategies.FSDPStrategy}", 32, id="a class"),
        pytest.param(
            "{class_path: lightning.pytorch.strategies.ModelParallelStrategy, init_args: {tensor_parallel_size: 2}}", 16, id="tensor 2"
        ),
        pytest.param("{class_path: lightning.pytorch.strategies.ModelParallelStrategy}", None, id="a node by default"),
    ],
)
def test_a_strategy_may_split_the_model(strategy: str, expected: int | None) -> None:
    text = LIGHTNING.format(devices=8, nodes=1, steps=1) + "seed_everything: 1\n"
    text = text.replace("trainer:\n", f"trainer:\n  strategy: {strategy}\n")
    assert value(sizes(text, world_size=8).stated.get(BATCH)) == expected


def test_one_local_batch_is_the_default_of_a_step() -> None:
    steps = sizes(titan("local_batch_size = 8"), T, world_size=8).stated[STEPS]
    assert isinstance(steps, Quantity)
    assert steps.origin == Origin.DEFAULT


def test_degrees_that_do_not_make_the_world_contradict_it() -> None:
    text = titan("local_batch_size = 8", "data_parallel_shard_degree = 6\ndata_parallel_replicate_degree = 4")
    assert isinstance(sizes(text, T, world_size=6).stated[RANKS], Conflict)
    assert value(sizes(text, T, world_size=24).stated[RANKS]) == 24
    assert value(sizes(text, T).stated[Name.WORLD_SIZE]) == 24


# Which checks hold, on how many GPUs: silent first.
CHECKS = {
    "titan, nothing given": (titan("local_batch_size = 3"), T, 7, []),
    "titan, whole": (titan("local_batch_size = 2\nglobal_batch_size = 64"), T, 8, [Verified]),
    "titan, not whole": (titan("local_batch_size = 1\nglobal_batch_size = 64"), T, 7, [Finding]),
    "titan, unknown": (titan("local_batch_size = 1\nglobal_batch_size = 64"), T, None, [Undetermined]),
    "titan, replicas": (titan("local_batch_size = 1", "data_parallel_replicate_degree = 2"), T, 8, [Verified]),
    "titan, too many replicas": (titan("local_batch_size = 1", "data_parallel_replicate_degree = 16"), T, 8, [Finding]),
    "titan, experts": (titan("", "expert_parallel_degree = 8"), T, 16, [Verified]),
    # A stage of the pipeline has 16 / 8 = 2 ranks for 8 parts of the experts.
    "titan, experts of a pipeline": (titan("", "expert_parallel_degree = 8\npipeline_parallel_degree = 8"), T, 16, [Finding, Verified]),
    "titan, experts with tensor parallelism": (
        titan("", "expert_parallel_degree = 8\ntensor_parallel_degree = 2\nexpert_tensor_parallel_degree = 2"),
        T,
        16,
        [],
    ),
    "levanter, replicas of a slice": (levanter("replica_ici_axis_size: 4"), "a.yaml", 8, [Verified, Verified]),
    "levanter, too many replicas of a slice": (levanter("replica_ici_axis_size: 3"), "a.yaml", 8, [Verified, Finding]),
    "titan, a pipeline": (
        titan("local_batch_size = 8", "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 4"),
        T,
        8,
        [Verified],
    ),
    "titan, a pipeline in uneven pieces": (
        titan("local_batch_size = 8", "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = 3"),
        T,
        8,
        [Finding],
    ),
    "titan, no pipeline to split for": (titan("local_batch_size = 8", "pipeline_parallel_microbatch_size = 3"), T, 8, []),
    "foundry, a smaller last micro batch": (FOUNDRY.format(batch=320, micro=6), "a.yaml", 8, [Verified]),
    "foundry, uneven": (FOUNDRY.format(batch=72, micro=2), "a.yaml", 32, [Finding]),
    "olmo, a smaller last micro batch": (OLMO.format(batch=320, micro=2), "a.yaml", 64, [Verified]),
    "olmo, uneven": (OLMO.format(batch=100, micro=2), "a.yaml", 16, [Finding]),
    "litgpt, rounded": (LITGPT.format(devices=8, nodes=1, batch=512, micro=24), "a.yaml", 8, [Verified]),
    "litgpt, nothing left": (LITGPT.format(devices=4, nodes=1, batch=3, micro=1), "a.yaml", 4, [Finding]),
    "levanter, whole": (levanter("train_batch_size: 512", "per_device_parallelism: 8"), "a.yaml", 16, [Verified]),
    "levanter, not whole": (levanter("train_batch_size: 1064", "per_device_parallelism: 16"), "a.yaml", 64, [Finding]),
    "levanter, all at once": (levanter("train_batch_size: 33"), "a.yaml", 16, [Finding]),
    "levanter, batch left open": (levanter("train_batch_size: -1", "per_device_parallelism: 3"), "a.yaml", 16, [Verified]),
    "levanter, slices": (levanter("train_batch_size: 32", "replica_dcn_axis_size: 3"), "a.yaml", 16, [Verified, Finding]),
    "lingua, shards": (LINGUA.format(steps=1, tensor=1, shards=8, micro=2), "a.yaml", 32, [Verified]),
    "lingua, shards left over": (LINGUA.format(steps=1, tensor=1, shards=8, micro=2), "a.yaml", 12, [Finding]),
    "core, whole": (CORE.format(batch=8192, micro=1024, tensor=1), "a.yaml", 8, [Verified]),
    "core, not whole": (CORE.format(batch=8192, micro=3000, tensor=1), "a.yaml", 8, [Finding]),
}


@pytest.mark.parametrize(("text", "path", "world", "expected"), CHECKS.values(), ids=CHECKS)
def test_batches_divide_as_the_framework_divides_them(text: str, path: str, world: int | None, expected: list[type]) -> None:
    hardware = {Name.WORLD_SIZE: world} if world else {}
    found = outcomes("GBS202", text, path, **hardware)
    assert [type(each) for each in found] == expected
    assert all(each.severity == Severity.ERROR for each in found if isinstance(each, Finding))


STUMBLES = {
    "titan, underscores and bases": (titan("local_batch_size = 1_0\nglobal_batch_size = 0x20"), T, ""),
    "titan, words": (titan('global_batch_size = "auto"', 'tensor_parallel_degree = "auto"'), T, "global_batch_size tensor_parallel_degree"),
    "titan, nothing": (titan("local_batch_size = 0\nglobal_batch_size = 0"), T, "global_batch_size local_batch_size"),
    "foundry, auto": (FOUNDRY.format(batch=8, micro="auto"), "a.yaml", ""),
    "foundry, a float": (FOUNDRY.format(batch="1.6e+1", micro="1.6e+1"), "a.yaml", "global_train_batch_size"),
    "foundry, quoted": (FOUNDRY.format(batch="'320'", micro=1), "a.yaml", "global_train_batch_size"),
    "foundry, booleans": (FOUNDRY.format(batch="true", micro="true"), "a.yaml", "global_train_batch_size device_train_microbatch_size"),
    "foundry, a fraction": (FOUNDRY.format(batch=8.5, micro=0.5), "a.yaml", "global_train_batch_size"),
    "olmo, booleans": (OLMO.format(batch="true", micro="true"), "a.yaml", "global_train_batch_size device_train_microbatch_size"),
    "levanter, -1 and a micro batch": (levanter("train_batch_size: -1", "per_device_parallelism: 4"), "a.yaml", ""),
    "levanter, -1 for both": (levanter("train_batch_size: -1", "per_device_parallelism: -1"), "a.yaml", "train_batch_size"),
    "levanter, -1 alone": (levanter("train_batch_size: -1"), "a.yaml", "train_batch_size"),
    "olmo, quoted": (OLMO.format(batch=8, micro="'1_024'"), "a.yaml", ""),
    "olmo, null": (OLMO.format(batch="~", micro=1), "a.yaml", "global_train_batch_size"),
    "olmo, a duration in tokens": (OLMO.format(batch=8, micro=1) + "max_duration: 2e12T\n", "a.yaml", ""),
    "litgpt, all devices": (LITGPT.format(devices=-1, nodes=1, batch=8, micro="'8'"), "a.yaml", ""),
    "litgpt, no devices": (
        LITGPT.format(devices="null", nodes=-8, batch="true", micro=8.0),
        "a.yaml",
        "global_batch_size micro_batch_size num_nodes devices",
    ),
    "levanter, left open": (levanter("train_batch_size: -1", "per_device_parallelism: 8"), "a.yaml", ""),
    "levanter, negative": (
        levanter("train_batch_size: -8", "per_device_parallelism: 3.5"),
        "a.yaml",
        "train_batch_size per_device_parallelism",
    ),
    "lingua, a float": (LINGUA.format(steps=0, tensor=1, shards=1, micro=2.0), "a.yaml", "batch_size grad_acc_steps"),
    "lightning, text": (LIGHTNING.format(devices="auto", nodes=1, steps="four"), "a.yaml", "accumulate_grad_batches"),
}


@pytest.mark.parametrize(("text", "path", "expected"), STUMBLES.values(), ids=STUMBLES)
def test_odd_values_are_treated_as_the_framework_does(text: str, path: str, expected: str) -> None:
    assert list(stumbles(text, path)) == expected.split()


def test_llm_foundry_needs_both_sizes_and_litgpt_one_warm_up() -> None:
    assert [len(each.requirements) for each in tables() if each.name == "llm-foundry"] == [2, 2]
    assert [len(each.exclusions) for each in tables() if each.name == "litgpt"] == [1, 1]


def test_tokens_are_not_multiplied_by_the_sequence_length_twice() -> None:
    stated = sizes(CORE.format(batch=4_194_304, micro=16_384, tensor=1), world_size=64).stated
    assert value(stated[Name.TOKENS_PER_STEP]) == 4_194_304
    assert Name.SEQUENCE_LENGTH not in stated


# What is filled in by other means than a product is counted, as the hooks that round are.
SETTLES = {"accumulate_where_a_global_batch_is_given", "accumulate_where_both_are_given", "reduce_micro_batch", "schedule_accumulation"}


def test_our_hooks_are_counted() -> None:
    assert {each.settle.__name__ for each in tables() if each.settle and each.name in OURS} == SETTLES


# A conversion of checkpoints, which has a Trainer and trains nothing.
CONVERTS = {"files/stanford-crfm__levanter/config/convert_llama3_1b.yaml"}


def test_real_recipes_are_recognised_and_nothing_else() -> None:
    folder = corpus()
    missed, wrong = set(), []
    for line in (folder / "MANIFEST.tsv").read_text().splitlines()[1:]:
        path, _, _, label = line.split("\t")[:4]
        if path.endswith((".yaml", ".yml", ".json", ".toml")):
            source = decode(path, (folder / path).read_bytes())
            found = read(source) if isinstance(source, Source) else ()
            names = {each.name for one in found if isinstance(one, Document) and (each := recognise(one))}
            mine = label.removeprefix("other:")
            missed |= {path} if mine in OURS and mine not in names else set()
            wrong += [(path, label, name) for name in names & OURS if name != mine]
    assert missed == CONVERTS
    assert wrong == []
