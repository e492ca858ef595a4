"""Sizes in terms of the number of GPUs, and the numbers of GPUs for which something holds of them."""

from __future__ import annotations

from collections.abc import Iterator
from math import gcd, lcm
from typing import Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.model.record import NamedTuple


class Form(NamedTuple):
    """A size as a fraction times the number of GPUs to a power: 16 x GPUs is (16, 1, 1), 512 / GPUs is (512, 1, -1).

    The fraction is in lowest terms, its denominator above zero. (`fractions` would take `decimal` along at start-up.)
    """

    numerator: int
    denominator: int = 1
    power: int = 0

    def times(self, other: Form) -> Form:
        """Return the product."""
        return _form(self.numerator * other.numerator, self.denominator * other.denominator, self.power + other.power)

    def over(self, other: Form) -> Form | None:
        """Return the quotient, or None if the divisor is nothing."""
        if other.numerator == 0:
            return None
        return _form(self.numerator * other.denominator, self.denominator * other.numerator, self.power - other.power)


def _form(numerator: int, denominator: int, power: int) -> Form:
    common = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
    return Form(numerator // common, denominator // common, power)


class Bounds(NamedTuple):
    """The admissible numbers of GPUs: multiples of `multiple` from `low` to `high` that divide `within` (0: any)."""

    multiple: int = 1
    within: int = 0
    low: int = 1
    high: int = MOST_GPUS

    def whole(self, form: Form) -> Bounds | None:
        """Return the numbers of these for which `form` is a whole number, or None if that has no simple answer."""
        if form.power == 0:
            return self if form.denominator == 1 else NOWHERE
        if form.power == 1:
            return self._replace(multiple=lcm(self.multiple, form.denominator))
        if form.power == -1:
            return self._replace(within=gcd(self.within, form.numerator)) if form.denominator == 1 else NOWHERE
        return None

    def at_least(self, form: Form, least: int) -> Bounds | None:
        """Return the numbers of these for which `form` is at least `least`."""
        if form.power == 1 and form.numerator > 0:
            return self._replace(low=max(self.low, -(-least * form.denominator // form.numerator)))
        if form.power == -1 and least > 0:
            return self._replace(high=min(self.high, form.numerator // (form.denominator * least)))
        return None

    def exactly(self, numerator: int, denominator: int) -> Bounds:
        """Return the one number of these that is `numerator` / `denominator`, or nothing."""
        if denominator == 0 or numerator % denominator:
            return NOWHERE
        number = numerator // denominator
        return self._replace(low=max(self.low, number), high=min(self.high, number))

    def numbers(self) -> Iterator[int]:
        """Yield the numbers in ascending order."""
        high = min(self.high, self.within or self.high)
        start = -(-self.low // self.multiple) * self.multiple
        for number in range(start, high + 1, self.multiple):
            if self.within % number == 0:
                yield number

    def __contains__(self, number: object) -> bool:
        """Return whether `number` is one of these."""
        if not isinstance(number, int) or not self.low <= number <= self.high:
            return False
        return number % self.multiple == 0 and self.within % number == 0


NOWHERE: Final = Bounds(low=1, high=0)


def agree(one: Form, other: Form, bounds: Bounds) -> Bounds | None:
    """Return the numbers of GPUs for which two forms of one size are equal."""
    ratio = one.over(other)
    if ratio is None or ratio.numerator == 0:
        return bounds if one == other else NOWHERE
    if ratio.power == 0:
        return bounds if ratio == Form(1) else NOWHERE
    if ratio.power == 1:
        return bounds.exactly(ratio.denominator, ratio.numerator)
    return bounds.exactly(ratio.numerator, ratio.denominator) if ratio.power == -1 else None
