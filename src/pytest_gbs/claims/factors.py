"""The factors that a claim names, beside the settings and the hardware that they stand for."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.declaration import Declaration, Factor, StatedArithmetic, without_partners
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name, Quantity
from pytest_gbs.model.run import Run


def stale_factor(run: Run, declaration: Declaration) -> tuple[Factor, Quantity] | None:
    """The factor of the claim that the settings contradict, and the setting; None if there is none, or several."""
    differ = [pair for pair in pairs(run, declaration) if pair[0].value != pair[1].value]
    stale = [pair for pair in differ if not _counts_steps(run, declaration, *pair) and not _counts_gpus(run, declaration, *pair)]
    return stale[0] if len(stale) == 1 else None


def _counts_steps(run: Run, declaration: Declaration, factor: Factor, setting: Quantity) -> bool:
    """Whether a claim's "8 per GPU" counts what each GPU takes per optimizer step, in several micro batches.

    That is so where it is micro batch x accumulation and the claim names no accumulation beside it, and where the recipe states
    the global batch itself, and the claim gives it.
    """
    if factor.name != Name.MICRO_BATCH_SIZE or setting.value < 1:
        return False
    steps = run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    if isinstance(steps, Quantity) and factor.value == setting.value * steps.value:
        return all(each.value == 1 for each in named_factors(declaration) if each.name == steps.name)
    stated = run.geometry.said(Name.GLOBAL_BATCH_SIZE)
    given = isinstance(stated, Quantity) and not stated.because and declaration.admits(stated.value)
    return given and factor.value % setting.value == 0


def _counts_gpus(run: Run, declaration: Declaration, factor: Factor, setting: Quantity) -> bool:
    """Whether a claim multiplies by all GPUs, several of which share a sequence, and leaves out the accumulation that offsets it.

    If two GPUs share a sequence, `8 GPUs * 1 * 1 acc` is the batch of 8 / 2 replicas x 1 x 2 accumulation.
    """
    world, replicas = run.geometry.get(Name.WORLD_SIZE), run.geometry.get(Name.DATA_PARALLEL_SIZE)
    batch = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if factor.name != Name.GRADIENT_ACCUMULATION_STEPS or not isinstance(world, Quantity) or not isinstance(replicas, Quantity):
        return False
    holds = isinstance(batch, Quantity) and declaration.admits(batch.value)
    return holds and factor.value * world.value == setting.value * replicas.value


def pairs(run: Run, declaration: Declaration) -> list[tuple[Factor, Quantity]]:
    """The factors of a claim with the settings they stand for: by name, or as what is left over of a multiset."""
    known = {name: size for name in RANK_FACTORS if isinstance(size := run.geometry.get(name), Quantity)}
    named = [(f, known[f.name]) for f in named_factors(declaration) if f.name in known]
    if named or declaration.sum is None or declaration.sum.divisors or any(f.name for f in declaration.sum.factors):
        return named
    return _left_over(run, declaration, known)


def named_factors(declaration: Declaration) -> list[Factor]:
    """The factors with a name, from the arithmetic of the claim and from what it says beside it."""
    factors = [f for f in declaration.sum.factors if f.name] if declaration.sum else []
    seen = {f.name for f in factors}
    return factors + [factor for factor in declaration.stated_conditions() if factor.name not in seen]


def with_hardware(declaration: Declaration) -> Iterator[Factor]:
    """Yield each size of hardware that a claim names, as a condition or as a factor of its product."""
    factors = declaration.sum.factors if declaration.sum is not None else ()
    yield from (stated for stated in (*declaration.stated_conditions(), *factors) if stated.name in HARDWARE)


def _left_over(run: Run, declaration: Declaration, known: dict[str, Quantity]) -> list[tuple[Factor, Quantity]]:
    """The one factor without a partner among the settings and the hardware, with the one setting left over."""
    stated = declaration.sum
    assert stated is not None
    if _may_leave_out_ones(run, stated, known):
        return []
    wanted = dict(known)
    for name in (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE):
        size = run.geometry.get(name)
        if isinstance(size, Quantity) and (name == Name.WORLD_SIZE) == (len(stated.factors) == len(known) + 1):
            wanted[name] = size
    if len(wanted) != len(stated.factors):
        return []
    sizes = list(wanted.values())
    factors, unmatched = without_partners(stated, (size.value for size in sizes))
    if len(factors) != 1 or sizes[unmatched[0]].name not in RANK_FACTORS:
        return []
    return [(factors[0], sizes[unmatched[0]])]


def _may_leave_out_ones(run: Run, stated: StatedArithmetic, known: dict[str, Quantity]) -> bool:
    """Whether the factors may be the settings and the ranks without those that are 1: `64 x 8` for 64 x 1 accumulation x 8 ranks.

    If the ranks are unknown, any factor may be theirs.
    """
    factors = sorted(factor.value for factor in stated.factors if factor.value != 1)
    sizes = [run.geometry.get(name) for name in (Name.WORLD_SIZE, Name.DATA_PARALLEL_SIZE)]
    ranks = [size.value for size in sizes if isinstance(size, Quantity)]
    settings = [size.value for size in known.values()]
    return not ranks or any(sorted(value for value in (*settings, each) if value != 1) == factors for each in ranks)
