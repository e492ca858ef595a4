"""Levanter (JAX): the global batch is given, or follows from what one device takes at once; what is left open means no accumulation.

LV is commit 9263f81e of stanford-crfm/levanter; `LV trainer.py:694` is a line of src/levanter/.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Framework, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_CHECKS: Final = "LV trainer.py:910-963 (_validate_and_set_defaults)"
_BATCH: Final = ("trainer", "train_batch_size")
_PER_DEVICE: Final = ("trainer", "per_device_parallelism")

# draccus 0.11 decodes whole numbers only: "8" in quotes and true go through int(), 8.0 is refused.
_GLOBAL: Final = Reading(
    quoted=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    collection=Treatment.SCHEDULE,
    words=((-1, Treatment.UNSET),),
    why="a batch holds at least one example; -1 leaves the size to per_device_parallelism, a schedule is a list of start and value",
)
_MICRO: Final = _GLOBAL._replace(collection=Treatment.STOPS, why="the global batch is divided by it; -1 means the whole batch at once")
_AXIS: Final = _MICRO._replace(words=(), zero=Treatment.STOPS, why="the number of devices is divided by it")
_REPLICAS: Final = _AXIS._replace(words=((-1, Treatment.AUTO),))
_OTHER: Final = LENIENT._replace(null=Treatment.UNSET)

_WHOLE_BATCH_AT_ONCE: Final = Condition(_PER_DEVICE, (-1,), default=-1)


_ROWS: Final = (
    Row(_BATCH, Name.GLOBAL_BATCH_SIZE, None, _GLOBAL, f"LV trainer.py:694 (512 by default); {_CHECKS}"),
    Row(_PER_DEVICE, Name.MICRO_BATCH_SIZE, None, _MICRO, f"LV trainer.py:695; {_CHECKS}"),
    Row(("trainer", "model_axis_size"), Name.TENSOR_PARALLEL_SIZE, 1, _AXIS, "LV trainer.py:688; 822-839"),
    Row(("trainer", "replica_dcn_axis_size"), Name.REPLICATE_SIZE, 1, _REPLICAS, "LV trainer.py:690; 829-832, 965"),
    Row(("max_seq_len",), Name.SEQUENCE_LENGTH, None, _OTHER, "LV main/sft.py:72"),
    Row(("model", "seq_len"), Name.SEQUENCE_LENGTH, None, _OTHER, "LV models/gpt2.py:37, llama.py:54"),
    Row(("trainer", "num_train_steps"), Name.MAX_STEPS, 400_000, _OTHER, "LV trainer.py:709"),
    Row(("trainer", "steps_per_eval"), Name.EVAL_STEPS, 1000, _OTHER, "LV trainer.py:710"),
)
_EQUATIONS: Final = (
    world("jax.device_count() = processes x local devices"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,), source="LV trainer.py:822-839, 912-915"),
    Equation(
        Name.GLOBAL_BATCH_SIZE,
        FACTORS,
        unit="samples",
        source=f"{_CHECKS}; grad_accum.py:79-89",
    ),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        when=(_WHOLE_BATCH_AT_ONCE._replace(negated=True),),
        label="a step holds whole micro batches of all devices",
        source="LV trainer.py:948-953",
    ),
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE,),
        when=(_WHOLE_BATCH_AT_ONCE,),
        label="every device takes an equal part of the batch",
        source="LV trainer.py:923-930, 948-953 (a schedule is not micro batched, and nothing is checked)",
        fixed=True,
    ),
    Constraint(
        "GBS202",
        (Name.DATA_PARALLEL_SIZE,),
        (Name.REPLICATE_SIZE,),
        when=(Condition(("trainer", "replica_dcn_axis_size"), (1, -1), negated=True, default=1),),
        label="slices hold whole replicas",
        source="LV trainer.py:831 (an assert)",
    ),
    Constraint(
        "GBS201",
        (Name.TENSOR_PARALLEL_SIZE,),
        (Name.GPUS_PER_NODE,),
        when=(Condition(("trainer", "model_axis_size"), (1,), negated=True, default=1),),
        label="a model axis lies within one process, or takes whole ones",
        source="LV trainer.py:916-920 (jax.local_device_count(); LV distributed.py:90-117: under Slurm the GPUs of a node / its tasks)",
        either=True,
        local=True,
    ),
)


def accumulate_where_both_are_given(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the default global batch, and one micro batch per step unless both sizes are given (LV trainer.py:919-935)."""
    found: dict[str, Size] = {}
    if Name.GLOBAL_BATCH_SIZE not in sizes and _BATCH not in document.keyed:
        found[Name.GLOBAL_BATCH_SIZE] = Quantity(Name.GLOBAL_BATCH_SIZE, 512, Origin.DEFAULT, "samples", key=".".join(_BATCH))
    given = {*found, *(name for name, size in sizes.items() if not isinstance(size, Quantity) or size.origin != Origin.DERIVED)}
    if not given >= {Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE}:
        name = Name.GRADIENT_ACCUMULATION_STEPS
        found[name] = Quantity(name, 1, Origin.DEFAULT, key=".".join(_PER_DEVICE), note="not both sizes are given")
    return found


FRAMEWORK = Framework(
    name="levanter",
    title="Levanter",
    recognition=Recognition(
        one_of=(
            dotted("trainer.train_batch_size trainer.per_device_parallelism trainer.num_train_steps"),
            dotted("data optimizer supervised_data dataset max_tune_length mixture eval_harness"),
            dotted("model.type model_name_or_path initialize_from_hf trainer.mp trainer.tracker trainer.wandb trainer.fsdp_axis"),
        ),
        none_of=dotted("trainer.max_epochs actor_rollout_ref"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    names=dotted("trainer.id"),
    version="levanter 9263f81e",
    source=_CHECKS,
    settle=accumulate_where_both_are_given,
)
