"""Cheap tests of whether a text can state anything at all, by finding words rather than by regular expressions."""

from __future__ import annotations

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final

_BEFORE: Final = 24
_SIGNS: Final = ("*", "×", " x ", "÷", "✕", "⨯", "∗", "⋅", "✖", "／")


digit = lazy_pattern("[0-9]")
_count = lazy_pattern(r"\d|\b(?:one|two|three|four|six|eight|sixteen|single)\b")


def has_digit(text: str) -> bool:
    """Whether `text` holds a digit."""
    return digit().search(text) is not None


def counts(text: str, words: tuple[str, ...]) -> bool:
    """Whether a number is shortly in front of one of `words` in `text`, which is in lower case."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            if _count().search(text, max(0, at - _BEFORE), at):
                return True
            at = text.find(word, at + len(word))
    return False


def multiplies(text: str) -> bool:
    """Whether `text`, in lower case, has a sign that may multiply or divide, beside a number if it may be a letter or a slash."""
    return any(map(text.__contains__, _SIGNS)) or _letter_or_slash().search(text) is not None


_letter_or_slash = lazy_pattern(r"[0-9)]\s?[x/]|/\s?[0-9(]")
