"""torchtitan while its recipes were TOML files, up to February 2026: the local batch is given, and the global one may be.

TT is commit 238fa99 of pytorch/torchtitan, the last with TOML (`TT train.py:199` is a line of torchtitan/). Up to 8570415c3~1
(June 2025) the local batch was `training.batch_size` and nothing accumulated; up to d9898423e and a little later (January 2025)
the degrees stood under `training` and `experimental`.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_BATCH: Final = "TT train.py:195-215"
_MESH: Final = "TT distributed/parallel_dims.py:37-56"

# tyro takes TOML's values as they are: a wrong type fails in the first comparison or division.
_SIZE: Final = Reading(whole_float=Treatment.ACCEPTS, boolean=Treatment.ACCEPTS, why="the global batch is divided by it")
_GLOBAL: Final = _SIZE._replace(negative=Treatment.UNSET, why="it is compared with 0 and divided")
_DEGREE: Final = _SIZE._replace(why="a parallelism degree must be at least 1 (only the shard degree may be -1)")
_SHARD: Final = _DEGREE._replace(negative=Treatment.AUTO)

_ON: Final = (True,)
_VALIDATES: Final = Condition(("validation", "enable"), _ON, default=False)
_SAVES: Final = Condition(("checkpoint", "enable"), _ON, default=False)
_PIPELINED: Final = Condition(("parallelism", "pipeline_parallel_degree"), (1,), negated=True, default=1)
_REPLICATED: Final = Condition(("parallelism", "data_parallel_replicate_degree"), (1,), negated=True, default=1)


def _degree(name: str, degree: str, older: str, line: int, reading: Reading = _DEGREE) -> tuple[Row, ...]:
    """Return the rows of one parallelism degree, which stood in section `older` once."""
    was = f"{older}.{degree} at d9898423e config_manager.py"
    return (
        Row(("parallelism", degree), name, None, reading, f"TT config/job_config.py:{line}"),
        Row((older, degree), name, None if reading is _SHARD else 1, reading, was),
    )


_ROWS: Final = (
    Row(("training", "global_batch_size"), Name.GLOBAL_BATCH_SIZE, None, _GLOBAL, f"TT config/job_config.py:256; {_BATCH}"),
    Row(("training", "batch_size"), Name.MICRO_BATCH_SIZE, None, _SIZE, "8570415c3~1 torchtitan/config_manager.py:192"),
    Row(("training", "local_batch_size"), Name.MICRO_BATCH_SIZE, 8, _SIZE, f"TT config/job_config.py:253; {_BATCH}"),
    Row(("training", "seq_len"), Name.SEQUENCE_LENGTH, 2048, LENIENT, "TT config/job_config.py:261"),
    *_degree(Name.REPLICATE_SIZE, "data_parallel_replicate_degree", "training", 313),
    *_degree(Name.SHARD_SIZE, "data_parallel_shard_degree", "training", 324, _SHARD),
    *_degree(Name.TENSOR_PARALLEL_SIZE, "tensor_parallel_degree", "training", 351),
    *_degree(Name.PIPELINE_PARALLEL_SIZE, "pipeline_parallel_degree", "experimental", 360),
    *_degree(Name.CONTEXT_PARALLEL_SIZE, "context_parallel_degree", "experimental", 428),
    Row(
        ("parallelism", "pipeline_parallel_microbatch_size"),
        Name.PIPELINE_MICRO_BATCH_SIZE,
        1,
        _SIZE._replace(why="the local batch is divided by it"),
        "TT config/job_config.py:412",
        when=(_PIPELINED,),
    ),
    Row(("validation", "local_batch_size"), Name.EVAL_MICRO_BATCH_SIZE, 8, LENIENT, "TT config/job_config.py:960", when=(_VALIDATES,)),
    Row(("validation", "freq"), Name.EVAL_STEPS, 10, LENIENT, "TT config/job_config.py:966", when=(_VALIDATES,)),
    Row(("checkpoint", "interval"), Name.SAVE_STEPS, 500, LENIENT, "TT config/job_config.py:519", when=(_SAVES,)),
    Row(("metrics", "log_freq"), Name.LOGGING_STEPS, 10, LENIENT, "TT config/job_config.py:75"),
    Row(("training", "steps"), Name.MAX_STEPS, 10_000, LENIENT, "TT config/job_config.py:267"),
)

_EQUATIONS: Final = (
    world("torchrun: WORLD_SIZE = nnodes x nproc_per_node"),
    Equation(
        Name.DATA_PARALLEL_SIZE, (Name.REPLICATE_SIZE, Name.SHARD_SIZE), source="TT distributed/parallel_dims.py:136, 194; train.py:98-102"
    ),
    Equation(
        Name.DATA_PARALLEL_SIZE,
        (Name.WORLD_SIZE,),
        (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE),
        source=_MESH,
    ),
    Equation(
        Name.GLOBAL_BATCH_SIZE,
        FACTORS,
        unit="samples",
        source=_BATCH,
    ),
    Equation(
        Name.EVAL_GLOBAL_BATCH_SIZE,
        (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        unit="samples",
        source="TT train.py:325-339; components/validate.py",
    ),
)

_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        needs=(Name.GLOBAL_BATCH_SIZE,),
        label="a step holds whole local batches of all data-parallel ranks",
        source="TT train.py:202-209",
    ),
    Constraint(
        "GBS202",
        (Name.DATA_PARALLEL_SIZE,),
        (Name.REPLICATE_SIZE,),
        when=(_REPLICATED,),
        label="all replicas are equally large",
        source=_MESH,
    ),
    Constraint(
        "GBS202",
        (Name.MICRO_BATCH_SIZE,),
        (Name.PIPELINE_MICRO_BATCH_SIZE,),
        when=(_PIPELINED,),
        label="the pipeline splits the local batch",
        source="TT distributed/pipeline_parallel.py:186-194",
    ),
)


def accumulate_where_a_global_batch_is_given(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return one local batch per step where no global batch is given (TT train.py:196-200), else nothing."""
    given = sizes.get(Name.GLOBAL_BATCH_SIZE)
    if given is not None and not (isinstance(given, Quantity) and given.origin == Origin.DERIVED):
        return {}
    one = Quantity(Name.GRADIENT_ACCUMULATION_STEPS, 1, Origin.DEFAULT, key="training.global_batch_size", note="no global batch is given")
    return {Name.GRADIENT_ACCUMULATION_STEPS: one}


FRAMEWORK = Framework(
    name="torchtitan",
    title="torchtitan (TOML)",
    recognition=Recognition(
        one_of=(
            dotted("model.flavor"),
            dotted("training.seq_len training.local_batch_size training.batch_size training.global_batch_size"),
            dotted("job.dump_folder job.description training.steps lr_scheduler.warmup_steps"),
        ),
        syntax="toml",
        marks=dotted("parallelism.data_parallel_shard_degree training.data_parallel_shard_degree training.local_batch_size"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    names=dotted("job.description"),
    version="torchtitan 238fa99",
    source=f"{_BATCH}; {_MESH}",
    settle=accumulate_where_a_global_batch_is_given,
)
