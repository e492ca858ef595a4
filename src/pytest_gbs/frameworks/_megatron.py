"""What all tables of the Megatron family share: model parallelism, and a global batch from which the accumulation follows."""

from __future__ import annotations

from pytest_gbs.core.constraints import holds
from pytest_gbs.core.document import Document
from pytest_gbs.core.equation import Enforcement, Equation, world
from pytest_gbs.core.framework import LENIENT, Condition, Constraint, Loader, Reading, Row, Treatment
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.quantity import FACTORS, Name, Origin, Quantity, Size
from pytest_gbs.core.typed import Final

OPTIONAL: Final = LENIENT._replace(null=Treatment.UNSET)


def path(words: str) -> KeyPath:
    """Return the key path that `words` writes with dots: `model.micro_batch_size`."""
    return tuple(words.split("."))


def paths(words: str) -> tuple[KeyPath, ...]:
    """Return the key paths that `words` writes, with spaces between them."""
    return tuple(path(word) for word in words.split())


def keys(words: str) -> tuple[KeyPath, ...]:
    """Return the top-level keys that `words` names, dots and all."""
    return tuple((word,) for word in words.split())


def absent(key: KeyPath) -> Condition:
    """Return the condition that `key` is not there, or null."""
    return Condition(key, (None,))


def present(key: KeyPath) -> Condition:
    """Return the condition that `key` is there and not null."""
    return Condition(key, (None,), negated=True)


def intervals(source: str, reading: Reading = OPTIONAL, **names: str) -> tuple[Row, ...]:
    """Return the rows of sizes that are only shown, by name: `max_steps="trainer.max_steps"`."""
    return tuple(Row(path(key), name, None, reading, source) for name, key in names.items())


TORCHRUN: Final = world("torch 2.13.0 distributed/run.py (--nnodes x --nproc-per-node)")


def data_parallel(source: str, *, context: bool = True) -> Equation:
    """Return the data-parallel size as what the model-parallel sizes leave of the processes."""
    divisors = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, *((Name.CONTEXT_PARALLEL_SIZE,) if context else ()))
    return Equation(Name.DATA_PARALLEL_SIZE, (Name.WORLD_SIZE,), divisors, source=source)


def batch(source: str, unit: str = "samples") -> Equation:
    """Return the global batch as the product of its three factors."""
    return Equation(Name.GLOBAL_BATCH_SIZE, FACTORS, unit=unit, source=source)


def following_accumulation(source: str) -> Equation:
    """Return the accumulation as what the global batch leaves of it; none where it holds no whole micro batches of all ranks."""
    divisors = (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    return Equation(Name.GRADIENT_ACCUMULATION_STEPS, (Name.GLOBAL_BATCH_SIZE,), divisors, mismatch=Enforcement.IGNORES, source=source)


def whole_accumulation(source: str, when: tuple[Condition, ...] = (), enforcement: str = Enforcement.STOPS) -> Constraint:
    """Return the check that a stated global batch holds whole micro batches of all ranks."""
    return Constraint(
        "GBS202",
        (Name.GLOBAL_BATCH_SIZE,),
        (Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE),
        enforcement=enforcement,
        when=when,
        label="the global batch must hold whole micro batches of all data-parallel ranks",
        source=source,
    )


def evaluation(source: str, key: KeyPath, when: tuple[Condition, ...] = ()) -> tuple[Constraint, ...]:
    """Return the checks of the evaluation batch, which is the global batch unless `key` is there."""
    label = "the evaluation batch must hold whole micro batches of all data-parallel ranks"
    ranks = (Name.EVAL_MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    own, same = (Name.EVAL_GLOBAL_BATCH_SIZE,), (Name.GLOBAL_BATCH_SIZE,)
    return (
        Constraint("GBS202", own, ranks, when=when, needs=own, label=label, source=source),
        Constraint("GBS202", same, ranks, when=(*when, absent(key)), needs=(Name.EVAL_MICRO_BATCH_SIZE,), label=label, source=source),
    )


DECREASES: Final = tuple(
    Condition(key, (True, "true", "True"), default=False)
    for key in (
        ("MODEL_ARGS", "--decrease-batch-size-if-needed"),
        ("decrease_batch_size_if_needed",),
        ("train", "decrease_batch_size_if_needed"),
    )
)


def realise_running_batch(document: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the batch and the accumulation that really run where Megatron may decrease them to whole micro batches, else nothing."""
    stated, micro, ranks = (sizes.get(n) for n in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    if not (isinstance(stated, Quantity) and isinstance(micro, Quantity) and isinstance(ranks, Quantity)):
        return {}
    if not any(holds(condition, document, Loader.PYYAML) for condition in DECREASES):
        return {}
    each = micro.value * ranks.value
    if each < 1 or stated.value < each:
        return {}
    steps = Quantity(Name.GRADIENT_ACCUMULATION_STEPS, stated.value // each, Origin.DERIVED, because=(stated, micro, ranks))
    running = Quantity(stated.name, steps.value * each, Origin.DERIVED, stated.unit, because=(micro, steps, ranks))
    return {running.name: running, steps.name: steps}
