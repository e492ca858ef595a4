"""The fix that makes a comment say what the settings give."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.claims.factors import pairs
from pytest_gbs.frameworks.repairs import in_comment
from pytest_gbs.model.declaration import Declaration, without_partners
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Fix
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.run import Run


def in_the_comment(run: Run, declaration: Declaration, size: Quantity | None) -> tuple[Fix, ...]:
    """The fix that makes the comment say what the settings give, its factors included; nothing if that takes a person."""
    if declaration.per_rank:
        return ()  # the comment says it of any number of GPUs
    changes = {factor.at: setting.value for factor, setting in pairs(run, declaration) if factor.value != setting.value}
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
    """Yield the place behind the arithmetic of a claim where its number is repeated: `128 (4 x 2 x 16 = 128)`."""
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
