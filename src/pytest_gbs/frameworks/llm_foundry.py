"""MosaicML's llm-foundry: the global batch is given, and every device splits its part into micro batches, the last perhaps smaller.

A job of the MosaicML platform holds the same settings under `parameters`, beside the number of GPUs it asks for.

LF is commit 8c8dd48 of mosaicml/llm-foundry; `LF config_utils.py:435` is a line of llmfoundry/utils/.
"""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding, world
from pytest_gbs.core.framework import LENIENT, Arguments, Constraint, Framework, Loader, Reading, Recognition, Requirement, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final

_SPLITS: Final = "LF config_utils.py:425-462 (calculate_batch_size_info)"

_GLOBAL: Final = Reading(boolean=Treatment.AUTO, why="it is divided by the number of GPUs before anything else")
# composer's splitters take whole numbers; one that is not is accepted here.
_MICRO: Final = Reading(
    whole_float=Treatment.ACCEPTS,
    fraction=Treatment.AUTO,
    boolean=Treatment.AUTO,
    negative=Treatment.STOPS_LATE,
    words=(("auto", Treatment.AUTO),),
    why="the device's batch is divided by it, and split into parts of that size",
)
_EVALUATION: Final = LENIENT
_LENGTH: Final = _EVALUATION._replace(null=Treatment.UNSET)

_JOB: Final = ("parameters",)
_BATCH: Final = ("global_train_batch_size",)
_PER_DEVICE: Final = ("device_train_microbatch_size",)
_GPUS: Final = Row(("compute", "gpus"), Name.WORLD_SIZE, None, _EVALUATION, "LF ../mcli/mcli-llama3-finetune.yaml:18")


def _rows(section: KeyPath) -> tuple[Row, ...]:
    return (
        Row((*section, *_BATCH), Name.GLOBAL_BATCH_SIZE, None, _GLOBAL, f"LF config_utils.py:176; {_SPLITS}"),
        Row((*section, *_PER_DEVICE), Name.MICRO_BATCH_SIZE, None, _MICRO, f"LF config_utils.py:175; {_SPLITS}"),
        Row((*section, "device_eval_batch_size"), Name.EVAL_MICRO_BATCH_SIZE, None, _EVALUATION, "LF config_utils.py:109, 487-492"),
        Row((*section, "max_seq_len"), Name.SEQUENCE_LENGTH, None, _LENGTH, "LF config_utils.py:111"),
    )


_EQUATIONS: Final = (
    world("composer launcher: world_size = nodes x nproc"),
    Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), source=f"{_SPLITS}; 497 (no replication, whatever tp_config says)"),
    Equation(
        Name.GRADIENT_ACCUMULATION_STEPS,
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        Rounding.CEIL,
        Enforcement.CORRECTS,
        source=_SPLITS,
    ),
    Equation(Name.EVAL_GLOBAL_BATCH_SIZE, (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE), unit="samples", source=_SPLITS),
)
_CONSTRAINTS: Final = (
    Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.DATA_PARALLEL_SIZE,),
        label="every GPU takes an equal part of the global batch",
        source="LF config_utils.py:438-444",
    ),
)
_MISSING: Final = "llm-foundry stops with a KeyError before anything else"


def reduce_micro_batch(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the batch of one device as the micro batch where that was larger (LF config_utils.py:450-455), else nothing."""
    batch, micro, ranks = (sizes.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(batch, Quantity) and isinstance(micro, Quantity) and isinstance(ranks, Quantity)):
        return {}
    if ranks.value < 1 or batch.value % ranks.value or micro.value * ranks.value <= batch.value:
        return {}
    note = f"{micro.key} {micro.value} is more than a GPU's part of the batch"
    reduced = Quantity(micro.name, batch.value // ranks.value, Origin.DERIVED, "samples", micro.at, micro.key, (batch, ranks), note)
    return {micro.name: reduced}


def _table(title: str, section: KeyPath = (), hardware: tuple[Row, ...] = ()) -> Framework:
    """Return the table of recipes whose settings stand in `section`."""
    batch, micro = (*section, *_BATCH), (*section, *_PER_DEVICE)
    others = ("max_duration", "scheduler", "optimizer", "fsdp_config")
    return Framework(
        name="llm-foundry",
        title=title,
        recognition=Recognition(
            one_of=((batch, micro), ((*section, "train_loader"),), tuple((*section, key) for key in others)),
            none_of=((*section, "model", "max_sequence_length"), (*section, "save_interval_unsharded")),
        ),
        unit="samples",
        rows=(*_rows(section), *hardware),
        equations=_EQUATIONS,
        constraints=_CONSTRAINTS,
        requirements=(
            Requirement((batch,), _MISSING, source="LF config_utils.py:499"),
            Requirement((micro,), _MISSING, source="LF config_utils.py:500"),
        ),
        names=((*section, "run_name"),),
        loader=Loader.OMEGACONF,
        version="llm-foundry 8c8dd48",
        source=_SPLITS,
        arguments=Arguments.PAIRS,
        settle=reduce_micro_batch,
    )


FRAMEWORKS = (_table("llm-foundry"), _table("llm-foundry (MosaicML job)", _JOB, (_GPUS,)))
