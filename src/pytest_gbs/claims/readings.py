"""How a claim fares in each of its worlds: it holds, it does not, or it holds for some values of what is unknown."""

from __future__ import annotations

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import symbolic_product
from pytest_gbs.frameworks.conditions import packs
from pytest_gbs.model.declaration import Declaration
from pytest_gbs.model.equation import Enforcement, Monomial, Rounding
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.record import Final
from pytest_gbs.model.run import Reading, Run, World

# What a claim in a recipe of reinforcement learning may count, if it does not say.
_RL: Final = (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.GENERATION_BATCH_SIZE, Name.PROMPTS_PER_ROLLOUT)
# A token total counts as rounded up to here.
_LOOSE: Final = 0.05


def reading_of(run: Run, declaration: Declaration, world: World) -> Reading:
    """How `declaration` fares in `world`, by the best of the quantities that it may mean."""
    best: Reading | None = None
    for name in _given(declaration.name, _meanings(run, declaration), world, run.framework):
        reading = _read_one(run, declaration, world, name)
        if reading.holds:
            return reading
        if best is None or (best.holds is False and reading.holds is None):
            best = reading
    assert best is not None
    return best


def _given(claimed: str, names: tuple[str, ...], world: World, framework: Framework) -> tuple[str, ...]:
    """Those of `names` that the settings or the equations of the framework give, and the `claimed` one; all if they give none."""
    results = {equation.result for equation in framework.equations}
    return tuple(name for name in names if name == claimed or name in results or name in world.geometry.stated) or names


def _meanings(run: Run, declaration: Declaration) -> tuple[str, ...]:
    """The sizes a claim may be about; only a claim of reinforcement learning that does not count prompts or completions has several."""
    if declaration.unit == "tokens":
        return (Name.TOKENS_PER_STEP,)
    if declaration.name == Name.PROMPTS_PER_STEP and run.framework.unit == "completions":  # a step that samples, or one that trains
        return (Name.PROMPTS_PER_STEP, Name.PROMPTS_PER_ROLLOUT)
    if declaration.name != Name.GLOBAL_BATCH_SIZE:
        return (declaration.name,)
    if declaration.unit == "prompts" and run.framework.unit == "completions":
        return (Name.PROMPTS_PER_STEP, Name.PROMPTS_PER_ROLLOUT)
    # Samples and examples may be prompts or what is sampled for them.
    if run.framework.unit == "completions" and declaration.unit in ("", "samples") and not declaration.exact:
        return _RL
    return (Name.GLOBAL_BATCH_SIZE,)


def _read_one(run: Run, declaration: Declaration, world: World, name: str) -> Reading:
    size = world.geometry.get(name)
    if isinstance(size, Quantity) and name == Name.TOKENS_PER_STEP:
        return _read_tokens(run, declaration, size)
    if isinstance(size, Quantity):
        holds = declaration.admits(size.value)
        if not holds and name not in world.geometry.realised and _may_be_rounded(declaration, size, run.framework):
            return Reading(None, None, (Name.WORLD_SIZE,))
        return Reading(holds, size)
    wanted = symbolic(name, world.geometry.stated, run.framework.equations)
    values = reaching(wanted, declaration.holds) if wanted is not None else None
    if values is None:
        ranks = _of_each_rank(run, world, name)
        if ranks is not None and reaching(ranks, declaration.holds) == ():
            return Reading(False, None, ranks.free, ())
        return Reading(None, None, (name,) if wanted is None else wanted.free)
    assert wanted is not None
    return Reading(None if values else False, None, wanted.free, values)


def _of_each_rank(run: Run, world: World, name: str) -> Monomial | None:
    """`name` in terms of the data-parallel size, which is a whole number however the GPUs are shared; None if that is not all."""
    return symbolic(name, world.geometry.stated, run.framework.equations, (Name.DATA_PARALLEL_SIZE,))


def symbolic_size(run: Run, declaration: Declaration, world: World) -> str:
    """What the settings give in terms of what is unknown: `16 x GPUs`."""
    name = _meanings(run, declaration)[0]
    found = symbolic(name, world.geometry.stated, run.framework.equations) or _of_each_rank(run, world, name)
    return symbolic_product(found) if found else "another number"


def _may_be_rounded(declaration: Declaration, size: Quantity, framework: Framework) -> bool:
    """Whether the number claimed may be what is left of `size` once each rank has its share; that is more than half of it."""
    divided = any(
        size.name in e.product and e.rounding == Rounding.FLOOR and e.mismatch == Enforcement.CORRECTS for e in framework.equations
    )
    return divided and size.value < 2 * declaration.value < 2 * size.value


def _read_tokens(run: Run, declaration: Declaration, size: Quantity) -> Reading:
    """How a token total fares: people round it, and rows that are not packed only bound it from above."""
    if declaration.admits(size.value) or apart(declaration, size) <= _LOOSE:
        return Reading(True, size)
    if not packs(run) and declaration.value < size.value:
        return Reading(None, None, (Name.SEQUENCE_LENGTH,))
    return Reading(False, size)


def apart(declaration: Declaration, size: Quantity) -> float:
    """The share of the stated number by which the real one lies outside what the statement admits."""
    gaps = (max(interval.low - size.value, size.value - interval.high, 0) for interval in declaration.holds)
    return min(gaps) / max(1, declaration.value)


def size_of(readings: tuple[Reading, ...]) -> Quantity | None:
    """What the settings give in the preferred of the worlds of a claim in which that is known."""
    return next((reading.size for reading in readings if reading.size is not None), None)


def doubt_of(run: Run, readings: tuple[Reading, ...]) -> str:
    """Why it is not certain how the framework computes what a claim is about; "" if it is, or if its version is known."""
    if not run.framework.commit:
        return ""
    sizes = [leaf.name for reading in readings if reading.size is not None for leaf in (reading.size, *reading.size.because)]
    return next((each.doubt for each in run.framework.equations if each.doubt and each.result in sizes), "")
