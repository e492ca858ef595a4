"""What the tables of trainers that learn from rollouts share: prompts, groups of completions, and what each rank gets of them."""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.framework import LENIENT, Constraint, Reading, Row, Treatment
from pytest_gbs.core.quantity import Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final

# Hydra and OmegaConf convert nothing: a float fails where a tensor is split by it, true counts as 1.
AS_LOADED: Final = Reading(
    whole_float=Treatment.STOPS_LATE,
    fraction=Treatment.STOPS_LATE,
    boolean=Treatment.ACCEPTS,
    why="it is multiplied and divided as it is",
)
OPTIONAL: Final = AS_LOADED._replace(null=Treatment.UNSET)


def rollout_equations(source: str) -> tuple[Equation, ...]:
    """Return how completions follow from prompts, where batches are stated in prompts."""
    groups = (Name.PROMPTS_PER_STEP, Name.NUM_GENERATIONS)
    rollout = (Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS)
    return (
        Equation(Name.GLOBAL_BATCH_SIZE, groups, unit="completions", source=source),
        Equation(Name.GENERATION_BATCH_SIZE, rollout, unit="completions", source=source),
    )


def rank_equations(source: str) -> tuple[Equation, ...]:
    """Return what one rank gets of a batch, rounded down, and how many micro batches it makes of it."""
    floor, corrects = Rounding.FLOOR, Enforcement.CORRECTS
    return (
        Equation(Name.RANK_BATCH_SIZE, (Name.GLOBAL_BATCH_SIZE,), (Name.DATA_PARALLEL_SIZE,), floor, corrects, source=source),
        Equation(Name.GRADIENT_ACCUMULATION_STEPS, (Name.RANK_BATCH_SIZE,), (Name.FIXED_MICRO_BATCH_SIZE,), source=source),
    )


def some_completion(source: str) -> Constraint:
    """Return the check that the batch of one rank is not empty."""
    return Constraint("GBS207", (Name.RANK_BATCH_SIZE,), at_least=1, label="each rank must have a completion", source=source)


def whole_micro_batches(source: str) -> Constraint:
    """Return the check that the batch of one rank holds whole micro batches."""
    label = "the batch of one rank must hold whole micro batches"
    return Constraint("GBS202", (Name.RANK_BATCH_SIZE,), (Name.MICRO_BATCH_SIZE,), label=label, source=source)


def megatron_rows(section: str) -> tuple[Row, ...]:
    """Return the rows of verl's engine on Megatron, whose settings stand in `section`."""
    return tuple(
        Row((*section.split("."), word), name, 1, LENIENT, f"VERL trainer/config/engine/megatron.yaml:{line}")
        for word, name, line in (
            ("tensor_model_parallel_size", Name.TENSOR_PARALLEL_SIZE, 14),
            ("pipeline_model_parallel_size", Name.PIPELINE_PARALLEL_SIZE, 23),
            ("context_parallel_size", Name.CONTEXT_PARALLEL_SIZE, 29),
        )
    )


def realise_rank_batches(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the global batch that the ranks have together, where what each gets of the stated one was rounded down."""
    stated, rank, ranks = (sizes.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.RANK_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(stated, Quantity) and isinstance(rank, Quantity) and isinstance(ranks, Quantity)):
        return {}
    real = rank.value * ranks.value
    if real in (0, stated.value):  # a rank without a sample is an error elsewhere
        return {}
    return {stated.name: Quantity(stated.name, real, Origin.DERIVED, stated.unit, because=(rank, ranks))}
