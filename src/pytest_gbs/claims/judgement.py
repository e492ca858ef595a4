"""Comparing a claim with the settings: each claim once, in worlds of its own, one cause for each finding."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import amounts, called, count, leaves, listing, product, short, symbolic_text
from pytest_gbs.claims.worlds import is_of_other_settings
from pytest_gbs.frameworks.conditions import packs
from pytest_gbs.model.declaration import Declaration, Factor, StatedArithmetic, without_partners
from pytest_gbs.model.equation import Enforcement, Rounding
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity
from pytest_gbs.model.run import Cause, Claim, Judgement, Reading, Run, World

# The settings that a claim may name beside the hardware, and that a stale claim may be fixed by.
SETTINGS: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
# What a claim in a recipe of reinforcement learning may count, if it does not say.
_RL: Final = (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.GENERATION_BATCH_SIZE, Name.PROMPTS_PER_ROLLOUT)


# A token total counts as rounded up to here, and is firmly false only beyond there.
_LOOSE: Final = 0.05
_FIRM: Final = 0.25


def judged(run: Run, declaration: Declaration, worlds: tuple[World, ...]) -> Claim:
    """What is claimed of `run` with its judgement: false arithmetic, a stale factor, a stale product, in order, or open."""
    readings = tuple(_read(run, declaration, world) for world in worlds)
    if declaration.sum is not None and declaration.sum.is_false:
        return Claim(declaration, worlds, Judgement(readings, Cause.ARITHMETIC, _false_arithmetic(run, declaration, readings)))
    stale = _stale_factor(run, declaration)
    others = readings[0].holds and is_of_other_settings(declaration, worlds[0].geometry)
    if stale is not None and not others:
        return Claim(declaration, worlds, Judgement(readings, Cause.FACTOR, _stale_factor_finding(run, declaration, readings, *stale)))
    return Claim(declaration, worlds, Judgement(readings, Cause.PRODUCT, _product(run, declaration, worlds, readings)))


def outcomes_of(run: Run, cause: str) -> Iterator[Outcome]:
    """Yield the outcome of each claim of `run` for which that cause is looked at.

    A launch is compared with the number claimed and nothing else of the claim, by a rule of its own.
    """
    for claim in run.claims if run.launch is None else ():
        if claim.judgement.cause == cause and not any(
            _repeats(claim, other) or _is_of_another_layout(claim, other) for other in run.claims
        ):
            yield claim.judgement.outcome


def _is_of_another_layout(claim: Claim, other: Claim) -> bool:
    """Whether `other` works out the same batch with the same factors as this recipe has them: `cp1: 64/(1*8)` beside `cp2: 64/(2*4)`."""
    if claim.judgement.cause != Cause.FACTOR or not isinstance(other.judgement.outcome, Verified):
        return False
    said, right = claim.declaration, other.declaration
    names, others = ({factor.name for factor in _named_factors(each)} for each in (said, right))
    return (said.name, said.value) == (right.name, right.value) and bool(names) and names <= others


def _repeats(claim: Claim, other: Claim) -> bool:
    """Whether a false total of tokens is that of the batch that is false as well: `512 * 1024 = 524288 tokens per step`."""
    if claim.declaration.unit != "tokens" or other.declaration.unit == "tokens":
        return False
    false = all(isinstance(each.judgement.outcome, Finding) for each in (claim, other))
    tokens, batch = _size(claim.judgement.readings), _size(other.judgement.readings)
    if not false or tokens is None or batch is None or tokens.value % batch.value:
        return False
    return claim.declaration.admits(other.declaration.value * (tokens.value // batch.value))


def _product(run: Run, declaration: Declaration, worlds: tuple[World, ...], readings: tuple[Reading, ...]) -> Outcome:
    """The outcome of the number claimed: in order where the preferred reading holds, false if none does."""
    doubted = _doubted(run, readings)
    if doubted:
        what = f"{_source(declaration)} says {number(declaration)}"
        return Undetermined(ITS_RULE, declaration.at, what, (), f"{run.framework.package} is at {run.framework.commit}, and {doubted}")
    if readings[0].holds:
        return Verified(ITS_RULE, declaration.at, worlds[0].assumptions, decides=True)
    if all(reading.holds is False for reading in readings):
        return _stale(run, declaration, readings[0], worlds[0])
    return _open(declaration, readings, worlds[0].doubt)


def _doubted(run: Run, readings: tuple[Reading, ...]) -> str:
    """Why it is not certain how the framework computes what a claim is about; "" if it is, or if its version is known."""
    if not run.framework.commit:
        return ""
    sizes = [leaf.name for reading in readings if reading.size is not None for leaf in (reading.size, *reading.size.because)]
    return next((each.doubt for each in run.framework.equations if each.doubt and each.result in sizes), "")


def _read(run: Run, declaration: Declaration, world: World) -> Reading:
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
    """The sizes a claim may be about; only a claim of reinforcement learning without a unit has several."""
    if declaration.unit == "tokens":
        return (Name.TOKENS_PER_STEP,)
    if declaration.name == Name.PROMPTS_PER_STEP and run.framework.unit == "completions":  # a step that samples, or one that trains
        return (Name.PROMPTS_PER_STEP, Name.PROMPTS_PER_ROLLOUT)
    if declaration.name != Name.GLOBAL_BATCH_SIZE:
        return (declaration.name,)
    if declaration.unit == "prompts" and run.framework.unit == "completions":
        return (Name.PROMPTS_PER_STEP, Name.PROMPTS_PER_ROLLOUT)
    if run.framework.unit == "completions" and not declaration.unit and not declaration.exact:
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
    if wanted is None:
        return Reading(None, None, (name,))
    values = reaching(wanted, declaration.holds)
    if values is None:
        return Reading(None, None, wanted.free)
    return Reading(None if values else False, None, wanted.free, values)


def _may_be_rounded(declaration: Declaration, size: Quantity, framework: Framework) -> bool:
    """Whether the number claimed may be what is left of `size` once each rank has its share; that is more than half of it."""
    divided = any(
        size.name in e.product and e.rounding == Rounding.FLOOR and e.mismatch == Enforcement.CORRECTS for e in framework.equations
    )
    return divided and size.value < 2 * declaration.value < 2 * size.value


def _read_tokens(run: Run, declaration: Declaration, size: Quantity) -> Reading:
    """How a token total fares: people round it, and rows that are not packed only bound it from above."""
    if declaration.admits(size.value) or _apart(declaration, size) <= _LOOSE:
        return Reading(True, size)
    if not packs(run) and declaration.value < size.value:
        return Reading(None, None, (Name.SEQUENCE_LENGTH,))
    return Reading(False, size)


def _apart(declaration: Declaration, size: Quantity) -> float:
    """The share of the stated number by which the real one lies outside what the statement admits."""
    gaps = (max(interval.low - size.value, size.value - interval.high, 0) for interval in declaration.holds)
    return min(gaps) / max(1, declaration.value)


def _false_arithmetic(run: Run, declaration: Declaration, readings: tuple[Reading, ...]) -> Finding:
    stated = declaration.sum
    assert stated is not None
    message = f"comment says {stated.text} = {stated.result:,}, but the product is {stated.value:,}"
    settings = _settings_value(run)
    details = (settings,) if settings else ()
    fixes = _in_the_comment(run, declaration, _size(readings))
    return Finding(ITS_RULE, message, _certain(declaration), declaration.at, "declared", _operands(run), details, fixes=fixes)


def _size(readings: tuple[Reading, ...]) -> Quantity | None:
    """What the settings give in the preferred of the worlds of a claim in which that is known."""
    return next((reading.size for reading in readings if reading.size is not None), None)


def _in_the_comment(run: Run, declaration: Declaration, size: Quantity | None) -> tuple[Fix, ...]:
    """The fix that makes the comment say what the settings give, its factors included; nothing if that takes a person."""
    from pytest_gbs.frameworks.repairs import in_comment

    if declaration.per_rank:
        return ()  # the comment says it of any number of GPUs
    changes = {factor.at: setting.value for factor, setting in _pairs(run, declaration) if factor.value != setting.value}
    stated = declaration.sum
    if stated is not None and stated.value is not None:
        changes |= _other_factors(declaration, size) if not changes and size is not None else {}
        top = prod(changes.get(factor.at, factor.value) for factor in stated.factors)
        bottom = prod(changes.get(divisor.at, divisor.value) for divisor in stated.divisors)
        total = top // bottom if bottom and (top % bottom == 0 or len(changes) == 0) else None
        if total is None or (size is not None and total != size.value):
            return ()
    else:
        total = size.value if size is not None else declaration.value
    written = run.document.source.text[declaration.at.start : declaration.at.stop]
    wrong = not declaration.admits(total)
    if wrong and " " not in written.strip():
        changes[declaration.at] = total
        changes.update(dict.fromkeys(_said_again(run.document.source.text, declaration), total))
    elif wrong and not changes:
        return ()
    return (in_comment(run, changes.items()),) if changes else ()


def _said_again(text: str, declaration: Declaration) -> Iterator[Location]:
    """Yield the place behind the arithmetic of a claim where its number stands a second time: `128 (4 x 2 x 16 = 128)`."""
    stated = declaration.sum
    last = max((factor.at.stop for factor in (*stated.factors, *stated.divisors)), default=0) if stated else 0
    sign = text.find("=", last, last + 4)
    if not last or sign < 0 or text[last:sign].strip(" )]"):
        return
    start = sign + 1 + len(text[sign + 1 :][:3]) - len(text[sign + 1 :][:3].lstrip(" "))
    stop = start
    while stop < len(text) and (text[stop].isdecimal() or text[stop] in ",_"):
        stop += 1
    number = text[start:stop].rstrip(",_")
    if number.replace(",", "").replace("_", "") == str(declaration.value) and start != declaration.at.start:
        yield declaration.at._replace(start=start, stop=start + len(number))


def _other_factors(declaration: Declaration, size: Quantity) -> dict[Location, int]:
    """New values for nameless factors that are not among those of `size`, if there are equally many of both."""
    stated = declaration.sum
    if stated is None or any(factor.name for factor in (*stated.factors, *stated.divisors)):
        return {}
    if len(stated.divisors) == 1 == len(stated.factors) and len(size.because) == 2:
        numbers = (*stated.factors, *stated.divisors)
        return {number.at: part.value for number, part in zip(numbers, size.because, strict=True) if number.value != part.value}
    if stated.divisors:
        return {}
    for parts in (size.because, leaves(size)):
        if len(parts) == len(stated.factors):
            unmatched, left = without_partners(stated, (part.value for part in parts))
            return {factor.at: parts[number].value for factor, number in zip(unmatched, left, strict=True)}
    return {}


def _settings_value(run: Run) -> str:
    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    return f"the settings give {size.value:,} = {product(size)}" if isinstance(size, Quantity) and size.because else ""


def _stale_factor(run: Run, declaration: Declaration) -> tuple[Factor, Quantity] | None:
    """The factor of the claim that the settings contradict, and the setting; None if there is none, or several."""
    differ = [pair for pair in _pairs(run, declaration) if pair[0].value != pair[1].value]
    stale = [pair for pair in differ if not _counts_steps(run, declaration, *pair) and not _counts_gpus(run, declaration, *pair)]
    return stale[0] if len(stale) == 1 else None


def _counts_steps(run: Run, declaration: Declaration, factor: Factor, setting: Quantity) -> bool:
    """Whether a claim's "8 per GPU" counts what each GPU takes per optimizer step, in several micro batches.

    That is so where the recipe states the global batch itself, and the claim gives it.
    """
    stated = run.geometry.said(Name.GLOBAL_BATCH_SIZE)
    if factor.name != Name.MICRO_BATCH_SIZE or not isinstance(stated, Quantity) or stated.because or setting.value < 1:
        return False
    return declaration.admits(stated.value) and factor.value % setting.value == 0


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


def _pairs(run: Run, declaration: Declaration) -> list[tuple[Factor, Quantity]]:
    """The factors of a claim with the settings they stand for: by name, or as what is left over of a multiset."""
    known = {name: size for name in SETTINGS if isinstance(size := run.geometry.get(name), Quantity)}
    named = [(f, known[f.name]) for f in _named_factors(declaration) if f.name in known]
    if named or declaration.sum is None or declaration.sum.divisors or any(f.name for f in declaration.sum.factors):
        return named
    return _left_over(run, declaration, known)


def _named_factors(declaration: Declaration) -> list[Factor]:
    """The factors with a name, from the arithmetic of the claim and from what it says beside it."""
    factors = [f for f in declaration.sum.factors if f.name] if declaration.sum else []
    seen = {f.name for f in factors}
    return factors + [factor for factor in declaration.stated_conditions() if factor.name not in seen]


def _left_over(run: Run, declaration: Declaration, known: dict[str, Quantity]) -> list[tuple[Factor, Quantity]]:
    """The one factor without a partner among the settings and the hardware, with the one setting left over."""
    stated = declaration.sum
    assert stated is not None
    if _leaves_out_ones(run, stated, known):
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
    if len(factors) != 1 or sizes[unmatched[0]].name not in SETTINGS:
        return []
    return [(factors[0], sizes[unmatched[0]])]


def _leaves_out_ones(run: Run, stated: StatedArithmetic, known: dict[str, Quantity]) -> bool:
    """Whether the factors are the settings and the ranks without those that are 1: `64 x 8` for 64 x 1 accumulation x 8 ranks."""
    factors = sorted(factor.value for factor in stated.factors if factor.value != 1)
    ranks = (run.geometry.get(name) for name in (Name.WORLD_SIZE, Name.DATA_PARALLEL_SIZE))
    settings = [size.value for size in known.values()]
    return any(isinstance(each, Quantity) and sorted(v for v in (*settings, each.value) if v != 1) == factors for each in ranks)


def _stale_factor_finding(run: Run, declaration: Declaration, readings: tuple[Reading, ...], factor: Factor, setting: Quantity) -> Finding:
    key = setting.key or called(setting.name)
    message = f"comment says {called(factor.name or setting.name)} {factor.value:,}, but {key} is {setting.value:,}"
    size = _size(readings)
    details: tuple[str, ...] = ()
    if size is not None and size.because:
        rest = ", as the comment says" if declaration.admits(size.value) else f"; the comment says {number(declaration)}"
        details = (f"{size.value:,} = {product(size)}{rest}",)
    related = (Related(setting.at, short(setting.name)),) if setting.at else ()
    severity = Severity.WARNING if setting.origin == Origin.DEFAULT else _certain(declaration)
    fixes = (*_setting_as_said(run, factor, setting, declaration, size), *_in_the_comment(run, declaration, size))
    return Finding(ITS_RULE, message, severity, factor.at, "declared", related, details, _names_hint(factor, setting), fixes=fixes)


def _setting_as_said(run: Run, factor: Factor, setting: Quantity, declaration: Declaration, size: Quantity | None) -> Iterator[Fix]:
    """Yield the fix that gives a setting the value that the comment says it has; one that follows from others, by way of those."""
    from pytest_gbs.frameworks.repairs import edit, fixes, reaching
    from pytest_gbs.model.outcome import Applicability

    found = edit(run, setting, factor.value) if factor.value > 0 else None
    if found is not None:
        yield Fix(f"change {setting.key} to {factor.value}", Applicability.SETTINGS, (found,))
    elif setting.origin == Origin.DERIVED and size is not None:
        yield from fixes(reaching(run, size, declaration.value))


def _names_hint(factor: Factor, setting: Quantity) -> str:
    return f"set {setting.key or called(setting.name)} to {factor.value}, or change {factor.value:,} in the comment to {setting.value:,}"


def _stale(run: Run, declaration: Declaration, reading: Reading, world: World) -> Finding:
    """The finding of a claim whose product the settings do not give in any of its worlds."""
    size = reading.size
    related = (*_operands(run), *_conditions(declaration))
    if size is None:
        given = _symbolic(run, declaration, world)
        said = number(declaration)
        message = f"{_source(declaration)} says {said}, but the settings give {given}: no number of {_free(reading)} gives {said}"
        return Finding(ITS_RULE, message, _severity(declaration, world), declaration.at, "declared", related, assumptions=world.assumptions)
    related = (*related, *_elsewhere(run, size, {declaration.at, *(each.at for each in related)}))
    message = f"{_source(declaration)} says {number(declaration)}, but the settings give {size.value:,}{_unit(size)}"
    details = (f"{size.value:,} = {product(size)}{_rounded(size)}",) if size.because else ()
    advice, fixes = _ways_out(run, declaration, size)
    loose = size.name == Name.TOKENS_PER_STEP and _apart(declaration, size) <= _FIRM
    severity = Severity.WARNING if loose else _severity(declaration, world)
    return Finding(ITS_RULE, message, severity, declaration.at, "declared", related, details, advice, world.assumptions, fixes)


def _rounded(size: Quantity) -> str:
    """Words for a `size` that is what is left of a larger one: `, of train.global_batch_size 14`; "" if it is not."""
    asked = next((leaf for leaf in leaves(size) if leaf.name == size.name and leaf.value != size.value), None)
    return f", which is {asked.key or called(asked.name)} {asked.value:,} rounded down to whole micro batches" if asked else ""


def _elsewhere(run: Run, size: Quantity, shown: set[Location]) -> tuple[Related, ...]:
    """The hardware that other comments of the recipe gave."""
    parts = (leaf for leaf in leaves(size) if leaf.origin == Origin.COMMENT)
    return tuple(Related(leaf.at, short(leaf.name)) for leaf in parts if leaf.at and leaf.at.source == run.path and leaf.at not in shown)


def _source(declaration: Declaration) -> str:
    return "annotation" if declaration.exact else "comment"


def _unit(size: Quantity) -> str:
    return " tokens" if size.name == Name.TOKENS_PER_STEP else ""


def with_hardware(declaration: Declaration) -> Iterator[Factor]:
    """Yield each size of hardware that a claim names, as a condition or as a factor of its product."""
    factors = declaration.sum.factors if declaration.sum is not None else ()
    yield from (stated for stated in (*declaration.stated_conditions(), *factors) if stated.name in HARDWARE)


def number(declaration: Declaration) -> str:
    """The number that is claimed, for people: `128`, `1,048,576 tokens`, `8 x 16 GPUs = 128`."""
    if declaration.per_rank:
        gpus = count(declaration.value // declaration.per_rank, Name.WORLD_SIZE)
        return f"{declaration.per_rank:,} x {gpus} = {declaration.value:,}"
    return f"{declaration.value:,}{' tokens' if declaration.unit == 'tokens' else ''}"


def _symbolic(run: Run, declaration: Declaration, world: World) -> str:
    found = symbolic(_meanings(run, declaration)[0], world.geometry.stated, run.framework.equations)
    return symbolic_text(found) if found else "another number"


def _free(reading: Reading) -> str:
    return listing((called(name) for name in reading.free), last="and")


def _ways_out(run: Run, declaration: Declaration, size: Quantity) -> tuple[str, tuple[Fix, ...]]:
    """The single changes with which the claim would hold, in words, and as fixes."""
    from pytest_gbs.frameworks.repairs import reaching

    repairs = reaching(run, size, declaration.value)
    fixes = [repair.fix for repair in repairs if repair.fix is not None]
    in_comment = [] if declaration.per_rank else [f"change the comment to {size.value:,}"]
    ways = [*(f"set {repair.words}" for repair in repairs), *in_comment]
    return ", or ".join(ways), (*fixes, *_in_the_comment(run, declaration, size))


def _open(declaration: Declaration, readings: tuple[Reading, ...], doubt: str) -> Undetermined:
    """The outcome of a claim that some admissible values or readings would make true and others false."""
    reading = next((r for r in readings if r.holds is None), readings[0])
    what = f"{_source(declaration)} says {number(declaration)}"
    if reading.holds is None and reading.values and len(reading.free) == 1:
        implies = f"true {_with(reading)}{f'; {doubt}' if doubt else ''}"
        return Undetermined(ITS_RULE, declaration.at, what, reading.free, implies, values=reading.values)
    if reading.holds is None:
        return Undetermined(ITS_RULE, declaration.at, what, reading.free)
    other = next(r for r in readings if r.holds)
    implies = f"true if {product(other.size)} is meant" if other.size and other.size.because else "true in one of two readings"
    return Undetermined(ITS_RULE, declaration.at, what, (Name.WORLD_SIZE,), implies)


def _with(reading: Reading) -> str:
    if reading.free[0] == Name.WORLD_SIZE and len(reading.values) == 1:
        return f"on {count(reading.values[0], Name.WORLD_SIZE)}"
    return f"with {amounts(reading.values, reading.free[0])}"


def _certain(declaration: Declaration) -> str:
    return Severity.WARNING if declaration.weak else Severity.ERROR


def _severity(declaration: Declaration, world: World) -> str:
    return Severity.WARNING if world.weak else _certain(declaration)


def _operands(run: Run) -> tuple[Related, ...]:
    """The places of the settings that make the global batch, in the order of the product."""
    sizes = (run.geometry.get(name) for name in (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS))
    return tuple(Related(size.at, short(size.name)) for size in sizes if isinstance(size, Quantity) and size.at)


def _conditions(declaration: Declaration) -> tuple[Related, ...]:
    return tuple(Related(place, "") for place in declaration.condition_places if place != declaration.at)
