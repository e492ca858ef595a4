"""What is reported of a claim that does not hold, and of one that cannot be decided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import amounts, arithmetic, called, count, leaves, listing, product, short
from pytest_gbs.claims.comment_fixes import in_the_comment
from pytest_gbs.claims.readings import apart, size_of, symbolic_size
from pytest_gbs.frameworks.repairs import edit, fixes, reaching
from pytest_gbs.model.declaration import Declaration, Factor
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Applicability, Finding, Fix, Related, Severity, Undetermined
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name, Origin, Quantity
from pytest_gbs.model.run import Reading, Run, World

# A token total is firmly false only beyond here.
_FIRM: Final = 0.25


def false_arithmetic(run: Run, declaration: Declaration, readings: tuple[Reading, ...]) -> Finding:
    """The finding of arithmetic that does not give the result that the comment writes behind it."""
    stated = declaration.sum
    assert stated is not None
    message = f"comment says {stated.text} = {stated.result:,}, but the product is {stated.value:,}"
    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    given = arithmetic(size, run.framework.equations) if isinstance(size, Quantity) else ()
    details = tuple(f"the settings give {each}" for each in given)
    fixes = in_the_comment(run, declaration, size_of(readings))
    return Finding(ITS_RULE, message, _certain(declaration), declaration.at, "declared", _operands(run), details, fixes=fixes)


def stale_factor_finding(run: Run, declaration: Declaration, readings: tuple[Reading, ...], factor: Factor, setting: Quantity) -> Finding:
    """The finding of a claim of which one factor is not the setting that it stands for."""
    key = setting.key or called(setting.name)
    message = f"comment says {called(factor.name or setting.name)} {factor.value:,}, but {key} is {setting.value:,}"
    size = size_of(readings)
    details: tuple[str, ...] = ()
    if size is not None:
        rest = ", as the comment says" if declaration.admits(size.value) else f"; the comment says {claimed_number(declaration)}"
        details = tuple(f"{each}{rest}" for each in arithmetic(size, run.framework.equations))
    related = (Related(setting.at, short(setting.name)),) if setting.at else ()
    severity = Severity.WARNING if setting.origin == Origin.DEFAULT else _certain(declaration)
    fixes = (*_setting_as_said(run, factor, setting, declaration, size), *in_the_comment(run, declaration, size))
    holds = f"set {key} to {factor.value}, or change {factor.value:,} in the comment to {setting.value:,}"
    return Finding(ITS_RULE, message, severity, factor.at, "declared", related, details, holds, fixes=fixes)


def _setting_as_said(run: Run, factor: Factor, setting: Quantity, declaration: Declaration, size: Quantity | None) -> Iterator[Fix]:
    """Yield the fix that gives a setting the value that the comment says it has; one that follows from others, by way of those."""
    found = edit(run, setting, factor.value) if factor.value > 0 else None
    if found is not None:
        yield Fix(f"change {setting.key} to {factor.value}", Applicability.SETTINGS, (found,))
    elif setting.origin == Origin.DERIVED and size is not None:
        yield from fixes(reaching(run, size, declaration.value))


def stale_product(run: Run, declaration: Declaration, reading: Reading, world: World) -> Finding:
    """The finding of a claim whose product the settings do not give in any of its worlds."""
    size = reading.size
    related = (*_operands(run), *_conditions(declaration))
    if size is None:
        given = symbolic_size(run, declaration, world)
        said, free = claimed_number(declaration), listing(map(called, reading.free), last="and")
        none = f"no number of {free}" if all(each in HARDWARE for each in reading.free) else f"no {free}"
        rest = f": {none} gives {said}" if free else ""
        message = f"{source_of(declaration)} says {said}, but the settings give {given}{rest}"
        return Finding(ITS_RULE, message, _severity(declaration, world), declaration.at, "declared", related, assumptions=world.assumptions)
    related = (*related, *_elsewhere(run, size, {declaration.at, *(each.at for each in related)}))
    message = f"{source_of(declaration)} says {claimed_number(declaration)}, but the settings give {size.value:,}{_unit(size)}"
    details = tuple(f"{each}{_rounded(size)}" for each in arithmetic(size, run.framework.equations))
    advice, fixes = _ways_out(run, declaration, size)
    loose = size.name == Name.TOKENS_PER_STEP and apart(declaration, size) <= _FIRM
    severity = Severity.WARNING if loose else _severity(declaration, world)
    return Finding(ITS_RULE, message, severity, declaration.at, "declared", related, details, advice, world.assumptions, fixes)


def _rounded(size: Quantity) -> str:
    """The reason why `size` is less than stated: `, which is train.global_batch_size 14 rounded down ...`; "" if it is not."""
    asked = next((leaf for leaf in leaves(size) if leaf.name == size.name and leaf.value != size.value), None)
    return f", which is {asked.key or called(asked.name)} {asked.value:,} rounded down to whole micro batches" if asked else ""


def _elsewhere(run: Run, size: Quantity, shown: set[Location]) -> tuple[Related, ...]:
    """The hardware that other comments of the recipe gave."""
    parts = (leaf for leaf in leaves(size) if leaf.origin == Origin.COMMENT)
    return tuple(Related(leaf.at, short(leaf.name)) for leaf in parts if leaf.at and leaf.at.source == run.path and leaf.at not in shown)


def _operands(run: Run) -> tuple[Related, ...]:
    """The places of the settings that make the global batch, in the order of the product."""
    sizes = (run.geometry.get(name) for name in RANK_FACTORS)
    return tuple(Related(size.at, short(size.name)) for size in sizes if isinstance(size, Quantity) and size.at)


def _conditions(declaration: Declaration) -> tuple[Related, ...]:
    return tuple(Related(place, "") for place in declaration.condition_places if place != declaration.at)


def _unit(size: Quantity) -> str:
    return " tokens" if size.name == Name.TOKENS_PER_STEP else ""


def _ways_out(run: Run, declaration: Declaration, size: Quantity) -> tuple[str, tuple[Fix, ...]]:
    """The single changes with which the claim would hold, in words, and as fixes."""
    repairs = reaching(run, size, declaration.value)
    fixes = [repair.fix for repair in repairs if repair.fix is not None]
    in_comment = [] if declaration.per_rank else [f"change the comment to {size.value:,}"]
    ways = [*(f"set {repair.words}" for repair in repairs), *in_comment]
    return ", or ".join(ways), (*fixes, *in_the_comment(run, declaration, size))


def doubtful(declaration: Declaration, why: str) -> Undetermined:
    """The outcome of a claim that cannot be decided for a reason other than an unknown size."""
    return Undetermined(ITS_RULE, declaration.at, f"{source_of(declaration)} says {claimed_number(declaration)}", (), why)


def open_claim(declaration: Declaration, readings: tuple[Reading, ...], doubt: str) -> Undetermined:
    """The outcome of a claim that some admissible values or readings would make true and others false."""
    reading = next((r for r in readings if r.holds is None), readings[0])
    what = f"{source_of(declaration)} says {claimed_number(declaration)}"
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


def claimed_number(declaration: Declaration) -> str:
    """The number that is claimed, for people: `128`, `1,048,576 tokens`, `8 x 16 GPUs = 128`."""
    if declaration.per_rank:
        gpus = count(declaration.value // declaration.per_rank, Name.WORLD_SIZE)
        return f"{declaration.per_rank:,} x {gpus} = {declaration.value:,}"
    return f"{declaration.value:,}{' tokens' if declaration.unit == 'tokens' else ''}"


def source_of(declaration: Declaration) -> str:
    """What a claim is called in messages."""
    return "annotation" if declaration.exact else "comment"


def _certain(declaration: Declaration) -> str:
    return Severity.WARNING if declaration.weak else Severity.ERROR


def _severity(declaration: Declaration, world: World) -> str:
    return Severity.WARNING if world.weak else _certain(declaration)
