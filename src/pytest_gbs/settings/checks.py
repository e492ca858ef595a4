"""Checks of the shape of values as TOML gives them, put together as a JSON Schema is, at a fraction of its cost."""

from __future__ import annotations

from collections.abc import Callable

from pytest_gbs.core.typed import Any

Check = Callable[[Any], bool]


def whole(high: int) -> Check:
    """Return a check for a whole number from 1 to `high`; 8.0 is one, as JSON Schema has it, and true is none."""

    return number(1, high)


def number(low: int, high: int) -> Check:
    """Return a check for a whole number from `low` to `high`."""

    def check(value: Any) -> bool:
        return (type(value) is int or (type(value) is float and value.is_integer())) and low <= value <= high

    return check


def text(most: int) -> Check:
    """Return a check for a text of 1 to `most` characters."""
    return lambda value: type(value) is str and 1 <= len(value) <= most


def one_of(*allowed: Any) -> Check:
    """Return a check for one of these values, of the same type."""
    return lambda value: any(type(value) is type(each) and value == each for each in allowed)


def list_of(item: Check, least: int = 0) -> Check:
    """Return a check for a list of at least so many items that `item` accepts."""
    return lambda value: type(value) is list and len(value) >= least and all(map(item, value))


def by_name(value_fits: Check, name_fits: Check) -> Check:
    """Return a check for a table whose keys and values these accept."""
    return lambda value: type(value) is dict and all(map(name_fits, value)) and all(map(value_fits, value.values()))


def table(fields: dict[str, Check], required: tuple[str, ...] = (), any_of: tuple[str, ...] = ()) -> Check:
    """Return a check for a table of these fields and no others, with all of `required` and at least one of `any_of`."""

    def check(value: Any) -> bool:
        return (
            type(value) is dict
            and all(key in fields and fields[key](each) for key, each in value.items())
            and all(key in value for key in required)
            and (not any_of or any(key in value for key in any_of))
        )

    return check


def either(*checks: Check) -> Check:
    """Return a check for what one of `checks` accepts."""
    return lambda value: any(check(value) for check in checks)


def scalar(value: Any) -> bool:
    """Return whether `value` is a text, a number, true or false."""
    return type(value) in (str, int, float, bool)
