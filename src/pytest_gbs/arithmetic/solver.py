"""The one solver over the table of equations: sizes that follow from known ones, and symbolic values if a size is missing."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from math import prod

from pytest_gbs.model.equation import Enforcement, Equation, Monomial, Rounding, fixed, letter
from pytest_gbs.model.quantity import Conflict, Origin, Quantity, Reason, Size, Unknown


def walk(equations: Iterable[Equation], known: Container[str], settle: Callable[[Equation, str], bool]) -> None:
    """Call `settle` with each equation of whose sizes at most one is not `known`, and with that one or "", until nothing follows.

    An equation for which `settle` returns False is tried again after the others.
    """
    pending = list(equations)
    while True:
        waiting = []
        for equation in pending:
            missing = ""
            for name in equation.names:
                if name not in known:
                    if missing:
                        waiting.append(equation)
                        break
                    missing = name
            else:
                if not settle(equation, missing):
                    waiting.append(equation)
        if len(waiting) == len(pending):
            return
        pending = waiting


def solve(known: Mapping[str, Size], equations: Iterable[Equation]) -> dict[str, Size]:
    """`known` and every size that follows from it, each with the sizes it was computed from.

    An equation gives its one missing size. A backward division that leaves a remainder gives `Unknown(not-whole)`. Where
    every size of an equation is known and they disagree, the result becomes a `Conflict` of the stated and the computed one.
    What one equation refuses so, no other equation gives a value.
    """
    sizes = dict(known)
    quantities = {name for name, size in sizes.items() if type(size) is Quantity}
    refused: set[str] = set()

    def settle(equation: Equation, missing: str) -> bool:
        if missing in refused or (not missing and equation.mismatch == Enforcement.YIELDS):
            return True
        solved = _solve_one(equation, sizes, missing)
        if solved is None:
            return False
        sizes[solved.name] = solved
        if type(solved) is Quantity:
            quantities.add(solved.name)
        else:
            quantities.discard(solved.name)
            refused.add(solved.name)
        return True

    walk(equations, quantities, settle)
    return sizes


def _solve_one(equation: Equation, sizes: Mapping[str, Size], missing: str) -> Size | None:
    """The one size of `equation` that is `missing`, else its result; nothing where rounding or a zero leaves a factor open."""
    name = missing or equation.result
    backward = name != equation.result
    above, below = equation.isolated(name)
    top, bottom = _product(above, sizes), _product(below, sizes)
    exact = equation.rounding == Rounding.EXACT
    if backward and (
        equation.mismatch == Enforcement.YIELDS
        or not bottom
        or not (exact or (name in equation.product and _product(equation.divisors, sizes) == 1))
    ):
        return None
    value, rest = divmod(top, bottom) if bottom else (0, 1)
    if bottom and rest and not exact and not backward:
        value, rest = value + (equation.rounding == Rounding.CEIL), 0
    used = tuple(q for other in equation.names if other != name and isinstance(q := sizes[other], Quantity))
    if not missing:
        stated = sizes[name]
        assert isinstance(stated, Quantity)
        if not rest and value == stated.value:
            return stated
        return Conflict(name, (stated, Quantity(name, value, Origin.DERIVED, because=used)))
    if rest:
        return Unknown(name, Reason.NOT_WHOLE)
    return Quantity(name, value, Origin.DERIVED, "" if backward else equation.unit, because=used)


def _product(names: Iterable[str], sizes: Mapping[str, Size]) -> int:
    return prod(q.value for name in names if isinstance(q := sizes[name], Quantity))


def symbolic(name: str, sizes: Mapping[str, Size], equations: Iterable[Equation], keep: tuple[str, ...] = ()) -> Monomial | None:
    """`name` as a coefficient times the sizes that are not known, or None if no equation gives it.

    Sizes in `keep` stay as letters even where an equation would resolve them further.
    """
    return _expand(name, sizes, {equation.result: equation for equation in equations}, keep, depth=0)


def _expand(name: str, sizes: Mapping[str, Size], by_result: dict[str, Equation], keep: tuple[str, ...], depth: int) -> Monomial | None:
    """`name` as `symbolic` does."""
    size = sizes.get(name)
    if isinstance(size, Quantity):
        return fixed(size.value)
    own = letter(name)
    equation = by_result.get(name)
    if equation is None or name in keep or depth > 8:
        return own if depth else None
    found: Monomial | None = fixed(1)
    for factor in equation.product:
        part = _expand(factor, sizes, by_result, keep, depth + 1)
        found = found.times(part) if found and part else None
    for divisor in equation.divisors:
        known = sizes.get(divisor)
        found = found.over(fixed(known.value)) if found and isinstance(known, Quantity) else None
    # a product of two unknown sizes is best called by its own name
    return own if depth and found and len(found.free) > 1 else found
