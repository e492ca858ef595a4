"""torchtune's recipes that learn from given answers: full, LoRA and QAT finetuning, DPO and knowledge distillation.

A file does not say which recipe reads it. Keys tell some of them apart, the comments above the first key and the path tell a
recipe for a single device from others. Where nothing does, the recipe counts as one for several: on one process it computes the same, and
tune refuses to start the others on more (TT _cli/run.py:222-227). TT is explained in `_torchtune.py`.
"""

from __future__ import annotations

from pytest_gbs.core.framework import Condition, Constraint, Exclusion, Framework, Recognition, Requirement
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import Name
from pytest_gbs.core.typed import Final
from pytest_gbs.frameworks._torchtune import (
    ALL_RANKS,
    BATCH,
    COMPONENTS,
    IN_BACKWARD,
    KD_KEYS,
    MESH,
    MESH_RANKS,
    NEEDED,
    RL_KEYS,
    ROWS,
    VALIDATION,
    WORLD,
    batch,
    table,
    validation,
)

_LOSS: Final[KeyPath] = ("loss", "_component_")
_PREFERS: Final = tuple(
    f"torchtune.{module}.{loss}"
    for module in ("rlhf.loss", "modules.rlhf.loss", "modules.loss")
    for loss in ("DPOLoss", "RSOLoss", "IPOLoss", "SimPOLoss")
)
_PAIRS: Final = Condition(_LOSS, _PREFERS)
_ANSWERS: Final = Condition(_LOSS, _PREFERS, negated=True)
_LORA: Final[KeyPath] = ("model", "lora_attn_modules")
_QUANTIZER: Final[KeyPath] = ("quantizer", "_component_")
_TENSOR: Final[KeyPath] = ("tensor_parallel_dim",)
_SPLIT: Final = Condition(_TENSOR, (1, True), negated=True, default=1)


def _several(all_of: tuple[KeyPath, ...] = (), none_of: tuple[KeyPath, ...] = (), *when: Condition, marks: int = 0) -> Recognition:
    """Return how a recipe for several devices is told, with `marks` of the keys in `all_of` as strong signs."""
    return Recognition(
        all_of=(*COMPONENTS, BATCH, *all_of),
        none_of=(*RL_KEYS, *none_of),
        marks=all_of[:marks],
        paths=("distributed", "multinode", "fsdp2"),
        weight=1,
        when=when,
        header=True,
    )


def _on_all(title: str, unit: str, recognition: Recognition) -> Framework:
    """Return the table of a recipe that gives each process samples of its own."""
    return table(title, unit, recognition, rows=ROWS, equations=(WORLD, ALL_RANKS, batch(unit)))


def _on_one(title: str, unit: str, several: Recognition) -> Framework:
    """Return the table of the recipe for a single device whose sibling for several is told by `several`."""
    single = several._replace(paths=("single",), weight=0)
    return table(title, unit, single, rows=ROWS, equations=(batch(unit),), assumed=((Name.DATA_PARALLEL_SIZE, 1),))


_FINETUNES: Final = _several((), KD_KEYS, _ANSWERS)
_DISTILS: Final = _several(KD_KEYS[:1])
_PREFERS_PAIRS: Final = _several((), KD_KEYS, _PAIRS)

_DISTRIBUTED: Final = table(
    "torchtune (distributed)",
    "samples",
    _FINETUNES,
    rows=(*ROWS, *VALIDATION, *MESH),
    equations=(WORLD, *MESH_RANKS, batch("samples"), validation("samples")),
)

FRAMEWORKS = (
    _DISTRIBUTED._replace(
        constraints=(
            Constraint(
                "GBS202",
                (Name.DATA_PARALLEL_SIZE,),
                (Name.REPLICATE_SIZE,),
                needs=(Name.REPLICATE_SIZE,),
                label="data_parallel_replicate_dim must divide the data-parallel ranks",
                source="TT training/_distributed.py:81-90",
            ),
        ),
        exclusions=(
            *IN_BACKWARD,
            Exclusion(
                (_LORA, _TENSOR),
                "the LoRA recipe has no tensor parallelism and stops",
                "TT lora_finetune_distributed.py:157-160",
                (_SPLIT,),
            ),
        ),
        requirements=(
            *NEEDED,
            Requirement(
                (("tensor_parallel_plan",),),
                "the recipe stops without a plan where tensor_parallel_dim is more than 1",
                (_SPLIT, Condition(_LORA, (None,))),
                "TT full_finetune_distributed.py:156-161",
            ),
        ),
    ),
    table(
        "torchtune (QAT with LoRA, distributed)",
        "samples",
        _several((_QUANTIZER, _LORA), KD_KEYS, _ANSWERS, marks=1),
        rows=(*ROWS, *VALIDATION),
        equations=(WORLD, ALL_RANKS, batch("samples"), validation("samples")),
        source="TT qat_lora_finetune_distributed.py:199, 667",
    ),
    _on_one("torchtune (single device)", "samples", _FINETUNES),
    _on_all("torchtune (DPO, distributed)", "pairs", _PREFERS_PAIRS),
    _on_one("torchtune (DPO, single device)", "pairs", _PREFERS_PAIRS),
    _on_all("torchtune (distillation, distributed)", "samples", _DISTILS),
    _on_one("torchtune (distillation, single device)", "samples", _DISTILS),
)
