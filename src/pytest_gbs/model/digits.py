"""Whole numbers in text from others: ASCII digits, and no more of them than a size can have."""

from __future__ import annotations

from pytest_gbs.model.record import Final

_MOST: Final = 8  # digits: a hundred million GPUs, samples or steps are not a size


def is_digits(text: str) -> bool:
    """Whether `text` is ASCII digits alone, one at least; to `str.isdigit` `²` is one too, at which `int` stops."""
    return text.isascii() and text.isdigit()


def whole_number(text: str, most: int = _MOST) -> int | None:
    """The number that `text` is, None if it is anything but 1 to `most` ASCII digits: Python stops at 4,300 of them."""
    return int(text) if len(text) <= most and is_digits(text) else None
