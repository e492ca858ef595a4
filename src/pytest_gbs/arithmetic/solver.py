"""The one solver over the table of equations: sizes that follow from known ones, and symbolic values if a size is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from pytest_gbs.model.equation import Equation, Monomial, Rounding
from pytest_gbs.model.quantity import Conflict, Origin, Quantity, Reason, Size, Unknown


def solve(known: Mapping[str, Size], equations: Iterable[Equation]) -> dict[str, Size]:
    """Return `known` and every size that follows from it, each with the sizes it was computed from.

    An equation gives its one missing size. A backward division that leaves a remainder gives `Unknown(not-whole)`. Where
    every size of an equation is known and they disagree, the result becomes a `Conflict` of the stated and the computed one.
    """
    sizes = dict(known)
    pending = list(equations)
    progress = True
    while progress and pending:
        progress = False
        waiting = []
        for equation in pending:
            solved = _solve_one(equation, sizes)
            if solved is None:
                waiting.append(equation)
                continue
            progress = True
            if solved.name not in sizes or type(sizes[solved.name]) is not Quantity or type(solved) is Conflict:
                sizes[solved.name] = solved
        pending = waiting
    return sizes


def _solve_one(equation: Equation, sizes: dict[str, Size]) -> Size | None:
    """Return the size that `equation` gives, or None while two or more of its sizes are not known."""
    missing = ""
    for name in (equation.result, *equation.product, *equation.divisors):
        if type(sizes.get(name)) is not Quantity:
            if missing:
                return None
            missing = name
    if missing and missing != equation.result:
        return _solve_backward(equation, sizes, missing)
    factors = _quantities(equation.product, sizes)
    divisors = _quantities(equation.divisors, sizes)
    top, bottom = prod(q.value for q in factors), prod(q.value for q in divisors)
    whole = bottom != 0 and (top % bottom == 0 or equation.rounding != Rounding.EXACT)
    result = 0 if not bottom else -(-top // bottom) if equation.rounding == Rounding.CEIL else top // bottom
    if not missing:
        stated = sizes[equation.result]
        assert isinstance(stated, Quantity)
        if whole and result == stated.value:
            return stated
        return Conflict(equation.result, (stated, Quantity(equation.result, result, Origin.DERIVED, because=(*factors, *divisors))))
    if not whole:
        return Unknown(equation.result, Reason.NOT_WHOLE)
    return Quantity(equation.result, result, Origin.DERIVED, equation.unit, because=(*factors, *divisors))


def _solve_backward(equation: Equation, sizes: dict[str, Size], missing: str) -> Size | None:
    """Return the one missing factor or divisor; nothing where rounding makes it ambiguous or a zero makes it free."""
    if (*equation.product, *equation.divisors).count(missing) > 1:
        return None
    used = tuple(
        q for n in (equation.result, *equation.product, *equation.divisors) if n != missing and isinstance(q := sizes[n], Quantity)
    )
    result = sizes[equation.result]
    assert isinstance(result, Quantity)
    divisors = [q.value for q in _quantities([n for n in equation.divisors if n != missing], sizes)]
    factors = [q.value for q in _quantities([n for n in equation.product if n != missing], sizes)]
    if missing in equation.product:
        if equation.rounding != Rounding.EXACT and prod(divisors) != 1:
            return None
        top, bottom = result.value * prod(divisors), prod(factors)
    else:
        if equation.rounding != Rounding.EXACT:
            return None
        top, bottom = prod(factors), result.value * prod(divisors)
    if bottom == 0:
        return None
    if top % bottom:
        return Unknown(missing, Reason.NOT_WHOLE)
    return Quantity(missing, top // bottom, Origin.DERIVED, because=used)


def _quantities(names: Iterable[str], sizes: Mapping[str, Size]) -> tuple[Quantity, ...]:
    return tuple(q for name in names if isinstance(q := sizes[name], Quantity))


def symbolic(name: str, sizes: Mapping[str, Size], equations: Iterable[Equation], keep: tuple[str, ...] = ()) -> Monomial | None:
    """Return `name` as a coefficient times the sizes that are not known, or None if no equation gives it.

    Sizes in `keep` stay as letters even where an equation would resolve them further.
    """
    from fractions import Fraction  # it takes decimal along, which a recipe whose sizes are all known never needs

    by_result = {equation.result: equation for equation in equations}
    found = _expand(name, sizes, by_result, keep, depth=0)
    return Monomial(Fraction(found[0], found[1]), found[2]) if found is not None else None


def _expand(
    name: str, sizes: Mapping[str, Size], by_result: dict[str, Equation], keep: tuple[str, ...], depth: int
) -> tuple[int, int, tuple[str, ...]] | None:
    """Return `name` as a fraction, its numerator and its denominator, times the sizes that are not known; None as for `symbolic`."""
    size = sizes.get(name)
    if isinstance(size, Quantity):
        return size.value, 1, ()
    equation = by_result.get(name)
    if equation is None or name in keep or depth > 8:
        return (1, 1, (name,)) if depth else None
    top = bottom = 1
    free: list[str] = []
    for factor in equation.product:
        part = _expand(factor, sizes, by_result, keep, depth + 1)
        if part is None:
            return None
        top, bottom = top * part[0], bottom * part[1]
        free.extend(part[2])
    for divisor in equation.divisors:
        known = sizes.get(divisor)
        if not isinstance(known, Quantity) or known.value == 0:
            return None
        bottom *= known.value
    if depth and len(free) > 1:  # a product of two unknown sizes is best called by its own name
        return 1, 1, (name,)
    return top, bottom, tuple(sorted(free))
