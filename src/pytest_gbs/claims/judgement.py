"""Comparing a claim with the settings: each claim once, in worlds of its own, one cause for each finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.claims.factors import named_factors, stale_factor
from pytest_gbs.claims.readings import doubt_of, reading_of, size_of
from pytest_gbs.claims.worlds import is_of_other_settings
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Verified
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.run import Cause, Claim, Judgement, Reading, Run, World


def judged_claims(run: Run, claimed: Iterable[tuple[Declaration, tuple[World, ...]]]) -> Iterator[Claim]:
    """Yield each of what is claimed of `run` in some worlds with its judgement, without what counts only if it is true, and is not."""
    for declaration, worlds in claimed:
        confirms = declaration.force == Force.CONFIRMS
        if confirms and not reading_of(run, declaration, worlds[0]).holds:  # most do not: nothing else of them is needed
            continue
        claim = judged(run, declaration, worlds)
        if claim.judgement.verified or not confirms:
            yield claim


def judged(run: Run, declaration: Declaration, worlds: tuple[World, ...]) -> Claim:
    """What is claimed of `run` with its judgement: false arithmetic, a stale factor, a stale product, in order, or open."""
    readings = tuple(reading_of(run, declaration, world) for world in worlds)
    cause, outcome = _judged(run, declaration, worlds, readings)
    return Claim(declaration, worlds, Judgement(readings, cause, outcome))


def _judged(run: Run, declaration: Declaration, worlds: tuple[World, ...], readings: tuple[Reading, ...]) -> tuple[str, Outcome]:
    if declaration.sum is not None and declaration.sum.is_false:
        from pytest_gbs.claims.findings import false_arithmetic

        return Cause.ARITHMETIC, false_arithmetic(run, declaration, readings)
    stale = stale_factor(run, declaration)
    # Where the batch is right, a factor without a name may be several sizes in one.
    in_order = readings[0].holds and (stale is None or not stale[0].name or is_of_other_settings(declaration, worlds[0].geometry))
    if stale is not None and not in_order:
        from pytest_gbs.claims.findings import stale_factor_finding

        return Cause.FACTOR, stale_factor_finding(run, declaration, readings, *stale)
    return Cause.PRODUCT, _product(run, declaration, worlds, readings)


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
    names, others = ({factor.name for factor in named_factors(each)} for each in (said, right))
    return (said.name, said.value) == (right.name, right.value) and bool(names) and names <= others


def _repeats(claim: Claim, other: Claim) -> bool:
    """Whether a false total of tokens is that of the batch that is false as well: `512 * 1024 = 524288 tokens per step`."""
    if claim.declaration.unit != "tokens" or other.declaration.unit == "tokens":
        return False
    false = all(isinstance(each.judgement.outcome, Finding) for each in (claim, other))
    tokens, batch = size_of(claim.judgement.readings), size_of(other.judgement.readings)
    if not false or tokens is None or batch is None or tokens.value % batch.value:
        return False
    return claim.declaration.admits(other.declaration.value * (tokens.value // batch.value))


def _product(run: Run, declaration: Declaration, worlds: tuple[World, ...], readings: tuple[Reading, ...]) -> Outcome:
    """The outcome of the number claimed: in order where the preferred reading holds, false if none does."""
    doubt, size = doubt_of(run, readings), size_of(readings)
    if readings[0].holds and not doubt:
        return Verified(ITS_RULE, declaration.at, worlds[0].assumptions, decides=True)
    from pytest_gbs.claims.findings import doubtful, open_claim, stale_product

    if doubt:
        return doubtful(declaration, f"{run.framework.package} is at {run.framework.commit}, and {doubt}")
    if any(reading.holds is not False for reading in readings):
        return open_claim(declaration, readings, worlds[0].doubt)
    if size is not None and _gives_too(declaration, size):
        return doubtful(declaration, f"it also says {size.value:,}, which the settings give")
    return stale_product(run, declaration, readings[0], worlds[0])


def _gives_too(declaration: Declaration, size: Quantity) -> bool:
    """Whether the statement has the number that the settings give, too, for nothing else that it names: `16, or 64 accumulated`."""
    stated = declaration.sum
    named = {value for _, value in declaration.conditions} | {factor.value for factor in (stated.factors if stated else ())}
    numbers = {int(found.replace(",", "")) for found in _integer().findall(declaration.text)}
    return size.value in numbers - named


_integer = lazy_pattern(r"(?<![\w.,-])(\d{1,3}(?:,\d{3})+|\d{2,9})(?![\w%]|[.,-]?\d)")
