"""Remembering what follows from a large value by which value it is: hashing it would cost more than most of what follows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Final, TypeVar

# Values that live on are asked for again and again; those made for one document need not be kept.
_MOST: Final = 256
Value = TypeVar("Value")
Result = TypeVar("Result")


def by_identity(function: Callable[[Value], Result]) -> Callable[[Value], Result]:
    """Return `function` with its results remembered for each value, told apart by identity; for values that live on, such as tables.

    Where there are too many of them, all are forgotten.
    """
    known: dict[int, tuple[Value, Result]] = {}

    @wraps(function)
    def remembered(value: Value) -> Result:
        found = known.get(id(value))
        if found is None or found[0] is not value:
            if len(known) >= _MOST:
                known.clear()
            found = known[id(value)] = value, function(value)
        return found[1]

    return remembered
