"""The batch equation: products of sizes, solved for whichever is missing."""

from __future__ import annotations

from functools import lru_cache

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import TYPE_CHECKING, Final, NamedTuple

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
    YIELDS: Final = "yields"  # of an equation alone: it gives its size where nothing else does, and no other size


class Equation(NamedTuple):
    """`result` x all `divisors` = all of `product`, every one a size by name, in whole numbers.

    `mismatch` is what the framework does when all are given and disagree. `since` and `until` bound the versions of the
    framework (`until` excluded) for which it holds, and `doubt` is as for a `Constraint`. If all conditions of `when` hold, it takes
    the place of equations of the same size without any. `source` cites file, function and version it was read from.
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
    when: tuple[Condition, ...] = ()
    doubt: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every size of the equation, one entry per factor."""
        return (self.result, *self.product, *self.divisors)

    def isolated(self, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The sizes whose product, divided by all of the others, is size `name`."""
        if name == self.result:
            return self.product, self.divisors
        product = tuple(factor for factor in self.product if factor != name)
        beside = (self.result, *(divisor for divisor in self.divisors if divisor != name))
        return (beside, product) if name in self.product else (product, beside)


def world(source: str) -> Equation:
    """The number of processes that train as nodes times GPUs of each."""
    return Equation(Name.WORLD_SIZE, (Name.NUM_NODES, Name.GPUS_PER_NODE), source=source)


class Monomial(NamedTuple):
    """`coefficient` times the sizes in `free` over those in `under`, one entry per factor; the symbolic value of an unknown size."""

    coefficient: int | Fraction
    free: tuple[str, ...] = ()
    under: tuple[str, ...] = ()

    def times(self, other: Monomial) -> Monomial:
        """The product."""
        return _cancelled(self.coefficient * other.coefficient, (*self.free, *other.free), (*self.under, *other.under))

    def over(self, other: Monomial) -> Monomial | None:
        """The quotient, or None if the divisor is nothing."""
        if not other.coefficient:
            return None
        return _cancelled(ratio(self.coefficient, other.coefficient), (*self.free, *other.under), (*self.under, *other.free))


def ratio(dividend: int | Fraction, divisor: int | Fraction) -> int | Fraction:
    """The exact quotient, an integer where it is whole."""
    if isinstance(dividend, int) and isinstance(divisor, int) and dividend % divisor == 0:
        return dividend // divisor
    from fractions import Fraction  # it takes decimal along, which a recipe whose sizes are all known never needs

    found = Fraction(dividend) / divisor
    return int(found) if found.denominator == 1 else found


@lru_cache
def fixed(value: int) -> Monomial:
    """A size that is known."""
    return Monomial(value)


@lru_cache
def letter(name: str) -> Monomial:
    """A size that is not known, by its name."""
    return Monomial(1, (name,))


def _cancelled(coefficient: int | Fraction, free: tuple[str, ...], under: tuple[str, ...]) -> Monomial:
    if not under:
        return Monomial(coefficient, tuple(sorted(free)))
    above, below = sorted(free), list[str]()
    for name in sorted(under):
        if name in above:
            above.remove(name)
        else:
            below.append(name)
    return Monomial(coefficient, tuple(above), tuple(below))
