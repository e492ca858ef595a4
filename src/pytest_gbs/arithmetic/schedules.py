"""Sizes that have several values one after the other while training runs: their stages, and those of what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pytest_gbs.arithmetic.solver import solve
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.model.document import Mapping as MappingNode
from pytest_gbs.model.document import Node, Scalar, Sequence, followed
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.limits import LONGEST_SCHEDULE, MOST_STAGES
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Note, Noted, Origin, Quantity, Size
from pytest_gbs.model.record import Final

_VALUE: Final = "value"
_THOUSANDS: Final = {"": 1, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}
# The note of a size that is reached by a ramp-up.
RAMP_UP: Final = Note("at the end of a ramp-up", Noted.RAMP_UP)


def read_stages(node: Node | None, whole: Callable[[Scalar], int | None]) -> tuple[int, ...]:
    """The values of a schedule in their order, or nothing if some of them are unknown.

    A schedule is a list of mappings that have a `value` each, or text such as `0:768 250B:1536`. `whole` reads one number.
    """
    if isinstance(node, Sequence):
        values = [_value(item, whole) for item in node.items[: MOST_STAGES + 1]]
    else:
        values = list(_written(node.text)) if isinstance(node, Scalar) else []
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) <= MOST_STAGES else ()


def _value(item: Node, whole: Callable[[Scalar], int | None]) -> int | None:
    """What the stage `item` says under the key `value`."""
    target = followed(item)
    if not isinstance(target, MappingNode):
        return None
    found = [value for key, value in target.entries if isinstance(key, Scalar) and key.text == _VALUE]
    value = followed(found[-1]) if found else None
    return whole(value) if isinstance(value, Scalar) else None


def _written(text: str) -> Iterator[int | None]:
    """Yield the batch of each `threshold:batch`, by threshold, as Megatron-Core reads it; None for what is none."""
    stages = []
    for word in text[:LONGEST_SCHEDULE].replace(",", " ").split():
        match = _stage().fullmatch(word)
        if match is None:
            yield None
            return
        threshold = float(match[1]) * _THOUSANDS[match[2].upper()]
        stages.append((threshold, int(match[3]) * _THOUSANDS[match[4].upper()]))
    yield from (batch for _, batch in sorted(stages, key=lambda stage: stage[0]))


_stage = lazy_pattern(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)([KMBTkmbt]?):([0-9]{1,12})([KMBTkmbt]?)")


def ramp(start: int, increment: int, end: int) -> tuple[int, ...]:
    """The values of a ramp-up, or nothing if it does not meet its end or has too many steps."""
    if not (1 <= start < end and increment >= 1 and (end - start) % increment == 0 and (end - start) // increment < MOST_STAGES):
        return ()
    return tuple(range(start, end + 1, increment))


def changing(sizes: Mapping[str, Size]) -> Quantity | None:
    """The size that is stated as a schedule, or None if every size has one value."""
    for size in sizes.values():
        if type(size) is Quantity and size.stages:
            return size
    return None


def stages_of(name: str, sizes: Mapping[str, Size], equations: Iterable[Equation]) -> tuple[int | None, ...]:
    """The values that size `name` has one after the other, None if a stage gives no whole number.

    Nothing if it does not change.
    """
    size, source = sizes.get(name), changing(sizes)
    if source is None or not isinstance(size, Quantity) or not any(leaf.name == source.name for leaf in leaves(size)):
        return size.stages if isinstance(size, Quantity) else ()
    equations = tuple(equations)
    found = (at_stage(sizes, source._replace(value=value, stages=()), equations).get(name) for value in source.stages)
    return tuple(each.value if isinstance(each, Quantity) else None for each in found)


def at_stage(sizes: Mapping[str, Size], stage: Quantity, equations: Iterable[Equation]) -> dict[str, Size]:
    """All sizes while `stage` is what its size is: what was computed is computed again."""
    stated = {name: size for name, size in sizes.items() if not (isinstance(size, Quantity) and size.origin == Origin.DERIVED)}
    return solve({**stated, stage.name: stage}, equations)
