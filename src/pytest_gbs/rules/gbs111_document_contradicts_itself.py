"""A sentence or a row of a table in a document states a batch that its own numbers refute.

Three ways to do so: arithmetic that gives another product than it says; a global batch that the data-parallel ranks of the GPUs,
tensor and pipeline parallel sizes beside it can't share; a list or table of settings whose micro batch and accumulation give more for
each GPU than the batch that it states, or no part of it.

What the framework does: it never reads a document.

How to fix it: correct the number.

It stays silent if tensor or pipeline parallelism is not stated: the GPUs may be shared in ways that the document does not state.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.arithmetic.wording import short
from pytest_gbs.model.declaration import Declaration, Factor
from pytest_gbs.model.launch import Mistake, SettingList
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import PARALLEL, Name
from pytest_gbs.model.rule import Example, Rule, Scope, written_in


def check(stated: Mistake) -> Iterator[Outcome]:
    """Yield a finding for a batch that what is said beside it refutes."""
    if isinstance(stated, SettingList):
        yield from _not_in_list(stated)
    elif isinstance(stated, Declaration):
        yield from _false_arithmetic(stated) or _unshared(stated)


def _false_arithmetic(stated: Declaration) -> tuple[Finding, ...]:
    written = stated.sum
    if written is None or not written.is_false:
        return ()
    message = f"document says {written.text} = {written.result:,}, but the product is {written.value:,}"
    return (Finding(ITS_RULE, message, Severity.WARNING, stated.at, "stated", holds=f"write {written.value:,}, or other factors"),)


def _not_in_list(stated: SettingList) -> Iterator[Outcome]:
    """The finding of a batch that no number of GPUs makes of what each of them takes by the same list."""
    each = prod(factor.value for factor in stated.factors)
    if stated.total.value % each == 0 or stated.total.at is None:
        return
    product = " x ".join(f"{factor.value:,} {short(factor.name)}" for factor in stated.factors)
    message = f"document says global batch size {stated.total.value:,}, but its settings give {product} = {each:,} for each GPU"
    related = tuple(Related(factor.at, short(factor.name)) for factor in stated.factors if factor.at is not None)
    yield Finding(ITS_RULE, message, Severity.WARNING, stated.total.at, "stated", related, holds=f"state a multiple of {each:,}")


def _unshared(stated: Declaration) -> tuple[Finding, ...]:
    """The finding of a batch that is not a multiple of the samples that its data-parallel ranks take at once."""
    said = {factor.name: factor for factor in stated.stated_conditions()}
    world = said.get(Name.WORLD_SIZE)
    if world is None or stated.ambiguous or not {Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE} <= said.keys():
        return ()
    parts = [said[name] for name in PARALLEL if name in said]
    ranks, rest = divmod(world.value, prod(part.value for part in parts))
    micro = said[Name.MICRO_BATCH_SIZE].value if Name.MICRO_BATCH_SIZE in said else 1
    step = ranks * micro
    if rest or not ranks or any(interval.high // step * step >= interval.low for interval in stated.holds):
        return ()
    shared = " x ".join(f"{part.value} {short(part.name)}" for part in parts)
    each = f" with {micro} samples each" if micro > 1 else ""
    message = (
        f"document says global batch size {stated.value:,}, but {world.value:,} GPUs / ({shared}) = {ranks:,} data-parallel ranks{each}"
        " can't share it evenly"
    )
    holds = f"state a multiple of {step:,}"
    return (Finding(ITS_RULE, message, Severity.WARNING, stated.at, "stated", tuple(map(_related, (world, *parts))), holds=holds),)


def _related(factor: Factor) -> Related:
    return Related(factor.at, short(factor.name))


_TABLE = "| TP | PP | Global batch size | Hardware |\n|---|---|---|---|\n| 1 | 8 | {batch} | 512 GPUs |\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.COMMAND,
    summary="a document states a batch that its own numbers refute",
    severity=Severity.WARNING,
    bad=(Example((("README.md", _TABLE.format(batch=32)),)),),
    good=(Example((("README.md", _TABLE.format(batch=64)),)),),
    check=check,
)
