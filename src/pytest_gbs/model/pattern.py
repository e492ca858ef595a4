"""Regular expressions with possessive quantifiers and atomic groups, which Python's own have since 3.11, and those that wait for use."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache

if sys.version_info >= (3, 11):
    import re
else:
    import regex as re


def lazy_pattern(expression: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """A function that gives a regular expression, compiled when it is first used."""
    return cache(lambda: re.compile(expression, flags))


__all__ = ["lazy_pattern", "re"]
