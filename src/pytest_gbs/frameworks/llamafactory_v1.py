"""LLaMA-Factory v1: the global batch is given and the accumulation follows; without one, each micro batch is a step.

LF is commit ff6d4d12e of hiyouga/LLaMA-Factory; `LF core/utils/batching.py:186` is a line of src/llamafactory/v1.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.framework import (
    Arguments,
    Condition,
    Constraint,
    Framework,
    Reading,
    Recognition,
    Requirement,
    Row,
    Switch,
    Treatment,
)
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._huggingface import WORLD, keys
from pytest_gbs.frameworks._llamafactory import LOADER, OPTIONAL, VERSION

# How many copies of the model there are, and over how many ranks each is spread; no factor of the batch.
_REPLICAS: Final = "model_replicas"
_SHARDS: Final = "model_shards"

_ARGUMENTS: Final = "LF config/training_args.py:33-100, 125, 143"
_BATCHES: Final = "LF core/utils/batching.py:186-195 (BatchGenerator)"
_RANKS: Final = "LF accelerator/interface.py:71-99 (DistributedStrategy)"
_DYNAMIC: Final = "LF config/training_args.py:194-196, plugins/trainer_plugins/batching.py:60-121"

# OmegaConf reads the file, parse_dict converts nothing, and the batch generator divides one by the other.
_DIVIDED: Final = Reading(
    whole_float=Treatment.STOPS_LATE,
    boolean=Treatment.ACCEPTS,
    negative=Treatment.STOPS_LATE,
    why="the batch generator divides the global batch by the data-parallel size and the micro batch",
)
_BATCH: Final = _DIVIDED._replace(null=Treatment.UNSET, zero=Treatment.STOPS_LATE, negative=Treatment.STOPS)
_PARALLEL: Final = Reading(
    whole_float=Treatment.STOPS_LATE, boolean=Treatment.ACCEPTS, why="the processes are divided by it, or it must divide them"
)
_NO_BATCH: Final = Condition(("global_batch_size",), (None,))
_STEPS: Final = Condition(("batching_strategy",), ("dynamic_batching",), default="normal")
_VARIES: Final = Condition(("batching_strategy",), ("dynamic_batching", "dynamic_padding_free"), default="normal")

FRAMEWORK = Framework(
    name="llamafactory",
    title="LLaMA-Factory v1",
    recognition=Recognition(
        all_of=keys("model"),
        one_of=(
            keys("train_dataset"),
            keys("micro_batch_size global_batch_size cutoff_len batching_strategy"),
            keys("model_class dist_config kernel_config peft_config cutoff_len output_dir"),
        ),
        none_of=keys("stage finetuning_type tuner_type per_device_train_batch_size trainer"),
    ),
    unit="samples",
    rows=(
        Row(("micro_batch_size",), Name.MICRO_BATCH_SIZE, 1, _DIVIDED, _ARGUMENTS),
        Row(("global_batch_size",), Name.GLOBAL_BATCH_SIZE, None, _BATCH, _ARGUMENTS),
        Row(("global_batch_size",), Name.GRADIENT_ACCUMULATION_STEPS, 1, _BATCH, _BATCHES, when=(_NO_BATCH,)),
        Row(("dp_size",), Name.DATA_PARALLEL_SIZE, None, _PARALLEL._replace(null=Treatment.UNSET), _ARGUMENTS),
        Row(("cp_size",), Name.CONTEXT_PARALLEL_SIZE, 1, _PARALLEL, _ARGUMENTS),
        Row(("mp_replicate_size",), _REPLICAS, 1, _PARALLEL, _ARGUMENTS),
        Row(("mp_shard_size",), _SHARDS, None, _PARALLEL._replace(null=Treatment.UNSET), _ARGUMENTS),
        Row(("cutoff_len",), Name.SEQUENCE_LENGTH, 2048, OPTIONAL, _ARGUMENTS),
        Row(("max_steps",), Name.MAX_STEPS, None, OPTIONAL, _ARGUMENTS),
        Row(("save_steps",), Name.SAVE_STEPS, None, OPTIONAL, _ARGUMENTS),
        Row(("logging_steps",), Name.LOGGING_STEPS, 1, OPTIONAL, _ARGUMENTS),
    ),
    equations=(
        WORLD,
        Equation(_SHARDS, (Name.WORLD_SIZE,), (_REPLICAS,), source=_RANKS),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.CONTEXT_PARALLEL_SIZE,), source=_RANKS),
        Equation(
            Name.GLOBAL_BATCH_SIZE,
            FACTORS,
            unit="samples",
            source=_BATCHES,
        ),
    ),
    constraints=(
        Constraint(
            "GBS202",
            (Name.GLOBAL_BATCH_SIZE,),
            (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
            needs=(Name.GLOBAL_BATCH_SIZE,),
            label="the global batch must hold whole micro batches of all ranks",
            source=_BATCHES,
        ),
        Constraint("GBS202", (Name.WORLD_SIZE,), (_REPLICAS,), label="replicas must have equally many ranks", source=_RANKS),
    ),
    requirements=(
        Requirement(keys("max_steps"), "dynamic batching counts in steps, and LLaMA-Factory stops at start", (_STEPS,), _DYNAMIC),
    ),
    switches=(
        Switch(
            _VARIES,
            (Name.MICRO_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE),
            "dynamic batching fills micro batches up to a number of tokens, and takes as many samples as fit",
            _DYNAMIC,
        ),
    ),
    names=keys("output_dir"),
    loader=LOADER,
    version=VERSION,
    source="LF config/arg_parser.py:34-65 (get_args), core/utils/batching.py:157-215 (BatchGenerator)",
    arguments=Arguments.PAIRS,
)
