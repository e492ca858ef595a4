"""What an interpolation is made of, once parsed: references, calls of resolvers, and their arguments; and how it fails."""

from __future__ import annotations

from typing import TypeAlias

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple


class Reference(NamedTuple):
    """`${a.${b}[0]}`: the parts of the dotted key, references of their own among them."""

    parts: tuple[str | Interpolation, ...]


class Call(NamedTuple):
    """`${name:argument,argument}`."""

    name: tuple[str | Interpolation, ...]
    arguments: tuple[Element, ...]


class Text(NamedTuple):
    """Text with interpolations in it. A `quoted` one, or one of several parts, is always a string."""

    parts: tuple[str | Interpolation, ...]
    quoted: bool = False


class Plain(NamedTuple):
    """A value that stands for itself."""

    value: int | float | bool | str | None


class Many(NamedTuple):
    """`[a, b]`."""

    items: tuple[Element, ...]


class Pairs(NamedTuple):
    """`{a: b}`."""

    entries: tuple[tuple[int | float | bool | str | None, Element], ...]


Interpolation: TypeAlias = Reference | Call
Element: TypeAlias = Plain | Text | Many | Pairs


class Failed(Exception):
    """An interpolation has no value; the reason is one of `Why`."""

    def __init__(self, reason: str, message: str, at: Location | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.at = at
