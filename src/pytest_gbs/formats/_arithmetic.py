"""How a derived size was computed, in bare numbers or in words."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.quantity import Quantity
from pytest_gbs.core.wording import fraction, quotient


def arithmetic(size: Quantity, equations: Iterable[Equation]) -> str:
    """Return `1 x 2 x 64`, `64 / 2` or `512 / (4 x 8)`; nothing where the size was not computed."""
    found = fraction(size, equations)
    if found is None:
        return ""
    return quotient((str(part.value) for part in found.top), (str(part.value) for part in found.bottom))


def number(value: int) -> str:
    """Return a number for people; from five digits on with commas."""
    return f"{value:,}" if abs(value) >= 10_000 else str(value)
