"""How a derived size was computed, in bare numbers or in words."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from pytest_gbs.arithmetic.wording import Fraction, fraction, quotient
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.quantity import Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.run import Run


def arithmetic(size: Quantity, equations: Iterable[Equation]) -> str:
    """`1 x 2 x 64`, `64 / 2` or `100 / (2 x 8), rounded down`; nothing if the size was not computed."""
    found = fraction(size, equations)
    return f"{_bare(found)}{rounded(size, found)}" if found is not None else ""


def rounded(size: Quantity, found: Fraction) -> str:
    """How `size` comes of a division that leaves a remainder, to be behind it; nothing if it leaves none."""
    if not _leaves_a_remainder(found):
        return ""
    up = size.value * prod(part.value for part in found.bottom) > prod(part.value for part in found.top)
    return ", rounded up" if up else ", rounded down"


def uneven_division(size: Size, run: Run) -> Fraction | None:
    """The division that leaves `size` without a number, since it leaves a remainder; None if that is not why."""
    if not isinstance(size, Unknown) or size.reason != Reason.NOT_WHOLE:
        return None
    for equation in run.framework.equations:
        names = equation.names
        others = [other for name in names if name != size.name and isinstance(other := run.geometry.get(name), Quantity)]
        if size.name in names and len(others) == len(names) - 1:
            found = fraction(Quantity(size.name, 0, Origin.DERIVED, because=tuple(others)), (equation,))
            if found is not None and _leaves_a_remainder(found):
                return found
    return None


def division(size: Size, run: Run) -> str:
    """The division that leaves `size` without a number: `2 / (2 x 8)`; nothing if none does."""
    found = uneven_division(size, run)
    return _bare(found) if found is not None else ""


def number(value: int) -> str:
    """A number in prose: `131,072`."""
    return f"{value:,}"


def _bare(found: Fraction) -> str:
    return quotient((f"{part.value:,}" for part in found.top), (f"{part.value:,}" for part in found.bottom))


def _leaves_a_remainder(found: Fraction) -> bool:
    bottom = prod(part.value for part in found.bottom)
    return bottom != 0 and prod(part.value for part in found.top) % bottom != 0
