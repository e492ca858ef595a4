"""Sizes in terms of the number of GPUs, and the numbers of GPUs for which something holds of them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm
from typing import Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS, Multiples, whole
from pytest_gbs.model.equation import Monomial, ratio
from pytest_gbs.model.record import NamedTuple


class Bounds(NamedTuple):
    """The admissible numbers of GPUs: multiples of `multiple` from `low` to `high` that divide `within` (0: any)."""

    multiple: int = 1
    within: int = 0
    low: int = 1
    high: int = MOST_GPUS

    def whole(self, size: Monomial) -> Bounds | None:
        """The numbers of these for which `size` is a whole number, or None if that has no simple answer."""
        found = whole(size)
        if isinstance(found, Multiples):
            return self._replace(multiple=lcm(self.multiple, found.of), within=gcd(self.within, found.within))
        return None if found is None else self if found else NOWHERE

    def at_least(self, size: Monomial, least: int) -> Bounds | None:
        """The numbers of these for which `size` is at least `least`."""
        if len(size.free) == 1 and size.coefficient > 0:
            return self._replace(low=max(self.low, -(-least // size.coefficient)))
        if len(size.under) == 1 and least > 0:
            return self._replace(high=min(self.high, size.coefficient // least))
        return None

    def exactly(self, number: int | Fraction) -> Bounds:
        """`number` alone, or nothing if it is none of these."""
        if number.denominator != 1:
            return NOWHERE
        return self._replace(low=max(self.low, int(number)), high=min(self.high, int(number)))

    def numbers(self) -> Iterator[int]:
        """Yield the numbers in ascending order."""
        high = min(self.high, self.within or self.high)
        start = -(-self.low // self.multiple) * self.multiple
        for number in range(start, high + 1, self.multiple):
            if self.within % number == 0:
                yield number

    def __contains__(self, number: object) -> bool:
        """Whether `number` is one of these."""
        if not isinstance(number, int) or not self.low <= number <= self.high:
            return False
        return number % self.multiple == 0 and self.within % number == 0


NOWHERE: Final = Bounds(low=1, high=0)


def agree(one: Monomial, other: Monomial, bounds: Bounds) -> Bounds | None:
    """The numbers of GPUs for which two values of one size are equal."""
    share = one.over(other)
    if share is None or not share.coefficient:
        return bounds if one == other else NOWHERE
    if not share.free and not share.under:
        return bounds if share.coefficient == 1 else NOWHERE
    if len(share.free) == 1:
        return bounds.exactly(ratio(1, share.coefficient))
    return bounds.exactly(share.coefficient) if len(share.under) == 1 else None
