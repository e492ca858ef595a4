"""Meta Lingua: what one rank takes and how often it accumulates are given, and the replicas follow from the number of GPUs.

LI is commit 437d680 of facebookresearch/lingua; `LI apps/main/train.py:84` is a line of that file.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Equation, world
from pytest_gbs.core.framework import LENIENT, Arguments, Condition, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import FACTORS, Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_TRAIN: Final = "LI apps/main/train.py"
_WORLD: Final = f"{_TRAIN}:147-176; lingua/distributed.py:97-106"

# OmegaConf converts to the type of the field: "8" is 8, and 8.0 is refused.
_SIZE: Final = Reading(
    quoted=Treatment.ACCEPTS,
    boolean=Treatment.AUTO,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    why="OmegaConf takes only a whole number for this field",
)
_STEPS: Final = _SIZE._replace(negative=Treatment.AUTO, why="the steps are counted up to it")
_DEGREE: Final = _SIZE._replace(zero=Treatment.STOPS, negative=Treatment.STOPS, why="the number of GPUs is divided by it")
_OTHER: Final = LENIENT._replace(quoted=Treatment.ACCEPTS, null=Treatment.UNSET)


_ROWS: Final = (
    Row(("data", "batch_size"), Name.MICRO_BATCH_SIZE, 2, _SIZE, "LI lingua/data.py:714"),
    Row(("grad_acc_steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1, _STEPS, f"{_TRAIN}:83-84, 348-350, 417-422"),
    Row(("data", "seq_len"), Name.SEQUENCE_LENGTH, 2048, _OTHER, "LI lingua/data.py:715"),
    Row(("distributed", "dp_shard"), Name.SHARD_SIZE, 1, _DEGREE, "LI lingua/distributed.py:58"),
    Row(("distributed", "tp_size"), Name.TENSOR_PARALLEL_SIZE, 1, _DEGREE, "LI lingua/distributed.py:64"),
    Row(("steps",), Name.MAX_STEPS, 1000, _OTHER, f"{_TRAIN}:90"),
    Row(("checkpoint", "dump", "every"), Name.SAVE_STEPS, 1000, _OTHER, "LI lingua/checkpoint.py:51-67"),
    Row(("checkpoint", "eval", "every"), Name.EVAL_STEPS, 1000, _OTHER, "LI lingua/checkpoint.py:51-67"),
    Row(("logging", "freq"), Name.LOGGING_STEPS, 10, _OTHER, "LI lingua/metrics.py:49"),
)
_EQUATIONS: Final = (
    world("LI lingua/stool.py:25-26 (nodes x ngpu)"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), (Name.TENSOR_PARALLEL_SIZE,), source=f"{_WORLD}; {_TRAIN}:240-248"),
    Equation(
        Name.GLOBAL_BATCH_SIZE,
        FACTORS,
        unit="samples",
        source=f"{_TRAIN}:83, 468-474",
    ),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.DATA_PARALLEL_SIZE,),
        (Name.SHARD_SIZE,),
        when=(Condition(("distributed", "dp_shard"), (1,), negated=True, default=1),),
        label="all replicas have as many shards",
        source=f"{_TRAIN}:147-171 (asserts)",
    ),
)

FRAMEWORK = Framework(
    name="lingua",
    title="Meta Lingua",
    recognition=Recognition(
        one_of=(
            dotted("data.root_dir data.n_views"),
            dotted("data.batch_size data.seq_len grad_acc_steps"),
            dotted("distributed.fsdp_type distributed.tp_size distributed.dp_shard grad_acc_steps optim.lr_min_ratio"),
        ),
        none_of=dotted("model_name_or_path trainer"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    names=dotted("name"),
    loader=Loader.OMEGACONF,
    version="lingua 437d680",
    source=f"{_TRAIN}; {_WORLD}",
    arguments=Arguments.PAIRS,
)
