"""OLMo, the Allen Institute's first trainer: the global batch is given, and every rank splits its part; the last split may be smaller.

OL is commit 59a53e3f of allenai/OLMo; `OL config.py:1146` is a line of olmo/.
"""

from __future__ import annotations

from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Constraint, Framework, Loader, Reading, Recognition, Row, Treatment
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._dotted import dotted

_SPLITS: Final = "OL train.py:934-954 (split_batch); scripts/train.py:80-83"

# OmegaConf converts to the type of the field: "1_024" is 1024, and 8.0 is refused.
_GLOBAL: Final = Reading(
    quoted=Treatment.ACCEPTS,
    boolean=Treatment.AUTO,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.STOPS_LATE,
    why="the DataLoader takes its part of it as batch size, and the field is a whole number",
)
_MICRO: Final = _GLOBAL._replace(zero=Treatment.STOPS, why="the batch of a rank is split into parts of that size")
_OTHER: Final = LENIENT._replace(quoted=Treatment.ACCEPTS)
_INTERVAL: Final = _OTHER._replace(null=Treatment.UNSET)


_ROWS: Final = (
    Row(("global_train_batch_size",), Name.GLOBAL_BATCH_SIZE, 512, _GLOBAL, "OL config.py:1146; data/iterable_dataset.py:67"),
    Row(("device_train_microbatch_size",), Name.MICRO_BATCH_SIZE, 16, _MICRO, f"OL config.py:1156; {_SPLITS}"),
    Row(("device_eval_batch_size",), Name.EVAL_MICRO_BATCH_SIZE, 16, _OTHER, "OL config.py:1162; eval/__init__.py:50"),
    Row(("model", "max_sequence_length"), Name.SEQUENCE_LENGTH, 1024, _OTHER, "OL config.py:380; train.py:251"),
    Row(("max_duration",), Name.MAX_STEPS, None, _INTERVAL, "OL config.py:1137 (a text counts epochs or tokens)"),
    Row(("save_interval",), Name.SAVE_STEPS, 1000, _INTERVAL, "OL config.py:1036"),
    Row(("eval_interval",), Name.EVAL_STEPS, 1000, _INTERVAL, "OL config.py:1011"),
    Row(("console_log_interval",), Name.LOGGING_STEPS, 1, _INTERVAL, "OL config.py:1208"),
)
_EQUATIONS: Final = (
    world("torchrun: WORLD_SIZE = nnodes x nproc_per_node"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source="OL scripts/train.py:81; data/iterable_dataset.py:66-68"),
    Equation(
        Name.GRADIENT_ACCUMULATION_STEPS,
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        Rounding.CEIL,
        Enforcement.CORRECTS,
        source=_SPLITS,
    ),
    Equation(
        Name.EVAL_GLOBAL_BATCH_SIZE,
        (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        unit="samples",
        source="OL eval/__init__.py:50, 84",
    ),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE,),
        label="every rank takes an equal part of the global batch",
        source="OL data/iterable_dataset.py:67 (a bare assert)",
    ),
)

FRAMEWORK = Framework(
    name="olmo",
    title="OLMo",
    recognition=Recognition(
        one_of=(
            dotted("global_train_batch_size device_train_microbatch_size save_interval_unsharded"),
            dotted("model.max_sequence_length model.d_model"),
            dotted("data.paths fsdp distributed_strategy evaluators save_folder save_interval_unsharded"),
        ),
        none_of=dotted("train_loader fsdp_config"),
    ),
    unit="samples",
    rows=_ROWS,
    equations=_EQUATIONS,
    constraints=_CONSTRAINTS,
    names=dotted("run_name"),
    loader=Loader.OMEGACONF,
    version="OLMo 59a53e3f",
    source=_SPLITS,
)
