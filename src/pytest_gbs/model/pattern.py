"""Regular expressions that cost nothing until they are used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from pytest_gbs.model.possessive import re


def lazy_pattern(expression: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A function that gives a regular expression, compiled when it is first used."""
    return cache(lambda: re.compile(expression, flags))
