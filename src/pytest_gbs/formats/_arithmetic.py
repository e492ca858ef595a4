"""How a derived size was computed, in bare numbers or in words."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.core.equation import Equation
from pytest_gbs.core.quantity import Origin, Quantity
from pytest_gbs.core.typed import NamedTuple


class Fraction(NamedTuple):
    """The sizes that were multiplied, and those that their product was divided by."""

    top: tuple[Quantity, ...]
    bottom: tuple[Quantity, ...]


def fraction(size: Quantity, equations: Iterable[Equation]) -> Fraction | None:
    """Return what `size` was computed from, by the equation that has just these sizes; None where it was not computed."""
    if size.origin != Origin.DERIVED or not size.because:
        return None
    used = sorted(part.name for part in size.because)
    for equation in equations:
        names = [equation.result, *equation.product, *equation.divisors]
        if size.name in names and sorted(name for name in names if name != size.name) == used:
            return _split(size, equation)
    return Fraction(size.because, ())


def _split(size: Quantity, equation: Equation) -> Fraction:
    if size.name == equation.result:
        below = set(equation.divisors)
    elif size.name in equation.product:
        below = set(equation.product)
    else:
        below = {equation.result, *equation.divisors}
    return Fraction(
        tuple(part for part in size.because if part.name not in below), tuple(part for part in size.because if part.name in below)
    )


def arithmetic(size: Quantity, equations: Iterable[Equation]) -> str:
    """Return `1 x 2 x 64`, `64 / 2` or `512 / (4 x 8)`; nothing where the size was not computed."""
    found = fraction(size, equations)
    if found is None:
        return ""
    top = " x ".join(str(part.value) for part in found.top)
    bottom = " x ".join(str(part.value) for part in found.bottom)
    if not bottom:
        return top
    return f"{top} / ({bottom})" if len(found.bottom) > 1 else f"{top} / {bottom}"


def number(value: int) -> str:
    """Return a number for people; from five digits on with commas."""
    return f"{value:,}" if abs(value) >= 10_000 else str(value)
