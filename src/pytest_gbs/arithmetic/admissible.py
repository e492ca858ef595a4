"""The values that a size which is not known may have, and for which of them a relation holds; hardware that a caller gives."""

from __future__ import annotations

from collections.abc import Container, Mapping

from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.equation import Monomial
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

MOST_GPUS: Final = 65_536
# One machine has up to 16 GPUs; an NVL72 rack counts as one.
GPUS_PER_NODE: Final = (*range(1, 17), 72)
_OTHERWISE: Final = 1_000_000_000
_MOST: Final[Mapping[str, int]] = {
    Name.WORLD_SIZE: MOST_GPUS,
    Name.DATA_PARALLEL_SIZE: MOST_GPUS,
    Name.NUM_NODES: MOST_GPUS,
    Name.GPUS_PER_NODE: GPUS_PER_NODE[-1],
}
ENOUGH: Final = 1_000  # values of a size that are listed


def hardware(nodes: int | None, per_node: int | None, world: int | None, prefix: str = "--") -> CommandLineHardware:
    """The hardware of flags that start with `prefix`.

    Raises:
        UsageError: they contradict each other, or are none, or more than gbs supports.
    """
    for flag, value in (("nodes", nodes), ("gpus-per-node", per_node), ("world-size", world)):
        if value is not None and value < 1:
            raise UsageError(f"{prefix}{flag} {value:,} is not a positive whole number")
    each = (nodes or 1) * (per_node or 1)
    if nodes and per_node and world and each != world:
        raise UsageError(
            f"{prefix}nodes {nodes:,} x {prefix}gpus-per-node {per_node:,} is {each:,} GPUs, but {prefix}world-size is {world:,}"
        )
    for flag, divisor in (("nodes", nodes), ("gpus-per-node", per_node)):
        if divisor and world and world % divisor:
            raise UsageError(f"{prefix}world-size {world:,} is not a multiple of {prefix}{flag} {divisor:,}")
    if max(world or 1, each) > MOST_GPUS:
        raise UsageError(f"at most {MOST_GPUS:,} GPUs are supported")
    return CommandLineHardware(nodes, per_node, world)


def admits(name: str, value: int) -> bool:
    """Whether size `name` may have `value` if nothing is known of it."""
    if name == Name.GPUS_PER_NODE:
        return value in GPUS_PER_NODE
    return 1 <= value <= _MOST.get(name, _OTHERWISE)


def reaching(symbolic: Monomial, wanted: tuple[Interval, ...], among: Container[int] = range(_OTHERWISE + 1)) -> tuple[int, ...] | None:
    """The admissible values `among` those of the one free size of `symbolic` that bring it into `wanted`, at most a thousand.

    None if more than one size is free. Without a free size the result is `(0,)` if the value fits and `()` if it does not.
    """
    if not symbolic.free:
        fixed = symbolic.coefficient
        return (0,) if fixed.denominator == 1 and any(int(fixed) in interval for interval in wanted) else ()
    if len(symbolic.free) > 1 or symbolic.coefficient <= 0:
        return None
    top, bottom = symbolic.coefficient.numerator, symbolic.coefficient.denominator
    name, found = symbolic.free[0], set[int]()
    for interval in wanted:
        low = max(1, -(-interval.low * bottom // top))
        high = min(_MOST.get(name, _OTHERWISE), interval.high * bottom // top)
        for value in range(-(-low // bottom) * bottom, high + 1, bottom):
            if admits(name, value) and value in among:
                found.add(value)
            if len(found) >= ENOUGH:
                return tuple(sorted(found))
    return tuple(sorted(found))


class Multiples(NamedTuple):
    """The values of one free size for which a division leaves no remainder: multiples of `of`, or those that divide `within`."""

    name: str
    of: int
    within: int = 0

    @property
    def everything(self) -> bool:
        """True if every value works."""
        return self.of == 1 and self.within == 0

    @property
    def nothing(self) -> bool:
        """True if no admissible value works."""
        return self.of > _MOST.get(self.name, _OTHERWISE)


def whole(size: Monomial) -> Multiples | bool | None:
    """For which values of its one free size `size` is a whole number.

    True or False if nothing is free; None if more than one factor is.
    """
    if len(size.free) + len(size.under) > 1:
        return None
    if size.free:
        return Multiples(size.free[0], size.coefficient.denominator)
    fits = size.coefficient.denominator == 1
    return Multiples(size.under[0], 1, within=size.coefficient.numerator) if fits and size.under else fits


def dividing(dividend: Monomial, divisor: Monomial) -> Multiples | bool | None:
    """For which values of the one free size `dividend` is a multiple of `divisor`.

    True or False if nothing is free or it cancels; None if the question has no simple answer: two free sizes are left.
    """
    quotient = dividend.over(divisor)
    return whole(quotient) if quotient else None
