"""The batch equation: products of sizes, solved for whichever is missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from pytest_gbs.core.quantity import Conflict, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.core.typed import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction


class Rounding:
    """What a division that leaves a remainder comes to."""

    EXACT: Final = "exact"  # it has no whole result
    FLOOR: Final = "floor"  # the framework rounds down and says nothing
    CEIL: Final = "ceil"  # a rest takes one more: the last micro batch of a step is a smaller one


class Enforcement:
    """What the framework does where a relation does not hold."""

    STOPS: Final = "stops"
    STOPS_LATE: Final = "stops-late"
    CORRECTS: Final = "corrects"
    IGNORES: Final = "ignores"


class Equation(NamedTuple):
    """`result` x all `divisors` = all of `product`, every one a size by name, in whole numbers.

    `mismatch` is what the framework does when all are given and disagree. `since` and `until` bound the versions of the
    framework (`until` excluded) for which it holds. `source` cites file, function and version it was read from.
    """

    result: str
    product: tuple[str, ...]
    divisors: tuple[str, ...] = ()
    rounding: str = Rounding.EXACT
    mismatch: str = Enforcement.STOPS
    unit: str = ""
    since: str | None = None
    until: str | None = None
    source: str = ""


def world(source: str) -> Equation:
    """Return the number of processes that train as nodes times GPUs of each."""
    return Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source=source)


class Monomial(NamedTuple):
    """`coefficient` times the product of the sizes in `free`, one entry per factor; the law of a size that is not known."""

    coefficient: Fraction
    free: tuple[str, ...]


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


def law(name: str, sizes: Mapping[str, Size], equations: Iterable[Equation], keep: tuple[str, ...] = ()) -> Monomial | None:
    """Return `name` as a coefficient times the sizes that are not known, or None where no equation gives it.

    Sizes in `keep` stay as letters even where an equation would resolve them further.
    """
    from fractions import Fraction  # it takes decimal along, which a recipe whose sizes are all known never needs

    by_result = {equation.result: equation for equation in equations}
    found = _expand(name, sizes, by_result, keep, depth=0)
    return Monomial(Fraction(found[0], found[1]), found[2]) if found is not None else None


def _expand(
    name: str, sizes: Mapping[str, Size], by_result: dict[str, Equation], keep: tuple[str, ...], depth: int
) -> tuple[int, int, tuple[str, ...]] | None:
    """Return `name` as a fraction, its numerator and its denominator, times the sizes that are not known; None as for `law`."""
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
