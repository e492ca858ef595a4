"""How many columns text takes in a terminal."""

from __future__ import annotations


def width(text: str) -> int:
    """The columns that `text` takes: two for wide East Asian signs, none for signs that combine with the one before."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    columns = 0
    for sign in text:
        if east_asian_width(sign) in "WF":
            columns += 2
        elif category(sign) not in ("Mn", "Me", "Cf"):
            columns += 1
    return columns


def left(text: str, columns: int) -> str:
    """`text` filled up with spaces behind to `columns`."""
    return text + " " * (columns - width(text))


def right(text: str, columns: int) -> str:
    """`text` filled up with spaces before to `columns`."""
    return " " * (columns - width(text)) + text
