"""Cheap tests of whether a text can state anything at all, by finding words rather than by regular expressions."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

_BEFORE: Final = 24
_AROUND: Final = 28
_SIGNS: Final = ("*", "×", "/", "x", "÷", "✕", "⨯", "∗", "⋅", "✖", "／")


@cache
def digit() -> re.Pattern[str]:
    """Return the pattern that finds a digit."""
    return re.compile("[0-9]")


@cache
def _count() -> re.Pattern[str]:
    return re.compile(r"\d|\b(?:one|two|three|four|six|eight|sixteen|single)\b")


def has_digit(text: str) -> bool:
    """Return whether `text` holds a digit."""
    return digit().search(text) is not None


def counts(text: str, words: tuple[str, ...]) -> bool:
    """Return whether a number stands shortly in front of one of `words` in `text`, which is in lower case."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if _count().search(text, max(0, at - _BEFORE), at):
                return True
            at = text.find(word, at + len(word))
    return False


def multiplies(text: str) -> bool:
    """Return whether `text`, in lower case, has a sign between operands with a digit close by."""
    for sign in _SIGNS:
        at = text.find(sign)
        while at >= 0:
            if _is_operator(text, at) and digit().search(text, max(0, at - _AROUND), at + _AROUND):
                return True
            at = text.find(sign, at + 1)
    return False


def _is_operator(text: str, at: int) -> bool:
    left, right = text[max(0, at - 3) : at].rstrip(), text[at + 1 : at + 4].lstrip("/ \t\n")
    if not left or not right or not (left[-1].isalnum() or left[-1] == ")") or not (right[0].isalnum() or right[0] == "("):
        return False
    if text[at] == "x":
        return not text[at - 1].isalpha() and not text[at + 1].isalpha()
    return text[at] != "/" or right[0].isdigit() or right[0] == "(" or left[-1].isdigit()
