"""Fast-LLM: a step is so many micro batches on each replica; micro batches are counted in tokens, before version 0.4 in samples.

FL is commit 7d61a1ba (0.4.0) of ServiceNow/Fast-LLM, FL3 its commit 6ba8ca84 (0.3.0), the last one with a `batch` section; `FL
config.py:556` is a line of fast_llm/. Keys that a section does not know stop it at start (FL config.py:421-425), so which of both a
recipe is written for shows in its keys.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import Arguments, Condition, Constraint, Framework, Reading, Recognition, Removal, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted, key

_BATCH: Final = "FL engine/schedule/schedule.py:159-160 (samples_per_batch); engine/training/trainer.py:157-159 (_batch_size)"
_OLD_BATCH: Final = "FL3 engine/schedule/config.py:63-107 (BatchConfig._validate)"
_REPLICAS: Final = "FL engine/distributed/config.py:291-297, 327-329 (batch_data_parallel)"

# Neither text nor a float nor true is an int: the type must be the very one (FL config.py:557-591).
_SIZE: Final = Reading(why="Fast-LLM takes only a whole number above 0")
_OPTIONAL: Final = _SIZE._replace(null=Treatment.UNSET)
_INTERVAL: Final = _SIZE._replace(null=Treatment.AUTO, why="Fast-LLM takes a whole number above 0, or null for never")
_STEPS: Final = _SIZE._replace(zero=Treatment.AUTO, why="Fast-LLM takes only a whole number, and none below 0")

_MICRO: Final = key("data.micro_batch_size")
_DEPTH: Final = key("schedule.depth_first_micro_batches")
_BREADTH: Final = key("schedule.breadth_first_micro_batches")
_OLD_GLOBAL: Final = key("batch.batch_size")
_OLD_MICRO: Final = key("batch.micro_batch_size")
_OLD_DEPTH: Final = key("batch.depth_first_micro_batches")
_OLD_BREADTH: Final = key("batch.breadth_first_micro_batches")


def _one(of: KeyPath) -> Condition:
    return Condition(of, (1, 1.0, None))  # 1.0 stops it by itself


def _absent(of: KeyPath) -> Condition:
    return Condition(of, (None,))


def _given(of: KeyPath) -> Condition:
    return Condition(of, (None,), negated=True)


def _accumulation(depth: KeyPath, breadth: KeyPath, reading: Reading, source: str, *when: Condition) -> tuple[Row, ...]:
    """Return the rows of the micro batches of one step, depth first x breadth first; where both are above 1 there is no size for it."""
    return (
        Row(depth, Name.GRADIENT_ACCUMULATION_STEPS, 1, reading, source, when=(_one(breadth), *when)),
        Row(breadth, Name.GRADIENT_ACCUMULATION_STEPS, None, reading, source, when=(_one(depth), *when)),
    )


def _common(source: str) -> tuple[Row, ...]:
    """Return the rows that both versions have; `source` is the commit."""
    degrees = (
        ("tensor", Name.TENSOR_PARALLEL_SIZE),
        ("pipeline", Name.PIPELINE_PARALLEL_SIZE),
        ("sequence_data", Name.SEQUENCE_PARALLEL_SIZE),
    )
    distributed = f"{source} engine/distributed/config.py (DistributedConfig)"
    training = f"{source} engine/training/config.py (MetricsLogsConfig, TrainingCheckpointConfig, TrainingConfig)"
    return (
        *(Row(("model", "distributed", f"{degree}_parallel"), name, 1, _SIZE, distributed) for degree, name in degrees),
        Row(key("model.distributed.world_size"), Name.WORLD_SIZE, None, _OPTIONAL, distributed),
        Row(key("model.distributed.local_world_size"), Name.GPUS_PER_NODE, None, _OPTIONAL, distributed),
        Row(key("training.train_iters"), Name.MAX_STEPS, None, _STEPS, training),
        Row(key("training.checkpoint.interval"), Name.SAVE_STEPS, None, _INTERVAL, training),
        Row(key("training.logs.interval"), Name.LOGGING_STEPS, 100, _INTERVAL, training),
    )


def _equations(source: str, unit: str) -> tuple[Equation, ...]:
    model_parallel = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE)
    return (
        world("FL engine/distributed/config.py:299-301 (num_nodes)"),
        Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), model_parallel, source=_REPLICAS),
        Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=source),
    )


_WITHIN_A_NODE: Final = Constraint(
    "GBS201",
    (Name.GPUS_PER_NODE,),
    (Name.TENSOR_PARALLEL_SIZE,),
    when=(Condition(key("model.distributed.tensor_parallel"), (1,), negated=True, default=1),),
    label="tensor parallelism stays within a node",
    source="FL engine/distributed/config.py:412 (Assert.multiple)",
)
_EQUAL_PARTS: Final = Constraint(
    "GBS202",
    (Name.MICRO_BATCH_SIZE,),
    (Name.SEQUENCE_PARALLEL_SIZE,),
    when=(Condition(key("model.distributed.sequence_data_parallel"), (1,), negated=True, default=1),),
    label="the ranks of sequence data parallelism take equal parts of a micro batch",
    source="FL data/document/language_model.py:141-146 (div), asked at start by engine/training/trainer.py:122",
)
_WHOLE_MICRO_BATCHES: Final = Constraint(
    "GBS202",
    (Name.GLOBAL_BATCH_SIZE,),
    (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
    when=(_given(_OLD_GLOBAL), _given(_OLD_MICRO)),
    label="a step holds whole micro batches of all replicas",
    source="FL3 engine/schedule/config.py:83-85 (div)",
)
_EQUAL_MICRO_BATCHES: Final = Constraint(
    "GBS202",
    (Name.GLOBAL_BATCH_SIZE,),
    (Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
    when=(_given(_OLD_GLOBAL), _absent(_OLD_MICRO)),
    label="a step divides into equal micro batches",
    source="FL3 engine/schedule/config.py:78-81 (div)",
)

_RUN: Final = dotted("training.train_iters training.logs training.checkpoint optimizer.learning_rate.base run.experiment_dir")
_MODEL: Final = dotted("model.base_model model.multi_stage model.distributed pretrained.format reference_models data.datasets")
_NEW_KEYS: Final = (_MICRO, key("data.maximum_document_length"), _DEPTH, _BREADTH)
_OLD_KEYS: Final = dotted("batch.batch_size batch.micro_batch_size batch.sequence_length batch.micro_sequence_length")

_SAMPLES: Final = Framework(
    name="fast-llm",
    title="Fast-LLM (before 0.4)",
    recognition=Recognition(one_of=(_OLD_KEYS, _RUN, _MODEL)),
    unit="samples",
    rows=(
        Row(_OLD_GLOBAL, Name.GLOBAL_BATCH_SIZE, None, _OPTIONAL, _OLD_BATCH, "samples"),
        Row(_OLD_MICRO, Name.MICRO_BATCH_SIZE, 1, _OPTIONAL, _OLD_BATCH, when=(_absent(_OLD_GLOBAL),)),
        Row(_OLD_MICRO, Name.MICRO_BATCH_SIZE, None, _OPTIONAL, _OLD_BATCH, when=(_given(_OLD_GLOBAL),)),
        *_accumulation(_OLD_DEPTH, _OLD_BREADTH, _OPTIONAL, _OLD_BATCH, _absent(_OLD_GLOBAL)),
        *_accumulation(_OLD_DEPTH, _OLD_BREADTH, _OPTIONAL, _OLD_BATCH, _absent(_OLD_MICRO)),
        Row(key("batch.sequence_length"), Name.SEQUENCE_LENGTH, 2048, _SIZE, "FL3 models/gpt/config.py:40-45 (GPTBatchConfig)"),
        *_common("FL3"),
    ),
    equations=_equations(_OLD_BATCH, "samples"),
    constraints=(_WITHIN_A_NODE, _WHOLE_MICRO_BATCHES, _EQUAL_MICRO_BATCHES),
    # Nothing takes their place one by one: micro batches are counted in tokens now, and their number is stated instead of the batch.
    removals=tuple(
        Removal(
            removed,
            "fast-llm",
            "0.4.0",
            "the section `batch` is not known, and Fast-LLM stops at start",
            "FL config.py:421-425; FL3 engine/schedule/config.py:14, gone with commit 8cc55571",
        )
        for removed in (_OLD_GLOBAL, _OLD_MICRO, key("batch.sequence_length"))
    ),
    # Documents are cut where a sample is full; without that samples are padded (FL3 models/gpt/config.py:62-70).
    packing=Condition(key("batch.truncate_documents"), (True,), default=True),
    names=dotted("run.experiment_dir"),
    version="Fast-LLM 0.3.0 (6ba8ca84)",
    source=f"{_OLD_BATCH}; {_REPLICAS}",
    arguments=Arguments.PAIRS,
    package="fast-llm",
)
_TOKENS: Final = Framework(
    name="fast-llm",
    title="Fast-LLM",
    recognition=Recognition(one_of=(_NEW_KEYS, _RUN, _MODEL), none_of=_OLD_KEYS),
    unit="tokens",
    rows=(
        Row(_MICRO, Name.MICRO_BATCH_SIZE, 2048, _SIZE, "FL data/dataset/config.py:52-57 (SamplingConfigBase)", "tokens"),
        *_accumulation(_DEPTH, _BREADTH, _SIZE, "FL engine/schedule/config.py:17-29, 76-78 (ScheduleConfig)"),
        *_common("FL"),
    ),
    equations=(
        *_equations(_BATCH, "tokens"),
        Equation(Name.TOKENS_PER_STEP, (Name.GLOBAL_BATCH_SIZE,), unit="tokens", source=_BATCH),
    ),
    constraints=(_WITHIN_A_NODE, _EQUAL_PARTS),
    names=dotted("run.experiment_dir"),
    version="Fast-LLM 7d61a1ba",
    source=f"{_BATCH}; {_REPLICAS}",
    arguments=Arguments.PAIRS,
    package="fast-llm",
)

FRAMEWORKS = (_TOKENS, _SAMPLES)
