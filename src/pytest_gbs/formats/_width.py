"""How many columns text takes in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from unicodedata import category, east_asian_width


def width(text: str) -> int:
    """The columns that `text` takes: two for wide East Asian signs, none for signs that combine with the one before."""
    if text.isascii():
        return len(text)
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


def wrapped(text: str, room: int, indent: str = "") -> Iterator[str]:
    """Yield `text` in lines of at most `room` columns, broken between words, all but the first with `indent` in front."""
    line, empty = "", True
    for word in text.split(" "):
        if not empty and width(line) + 1 + width(word) > room:
            if not word:  # a gap between words ends with the line
                continue
            yield line.rstrip()
            line = indent + word
        else:
            line = word if empty else f"{line} {word}"
        empty = False
    yield line


def shortened(text: str, most: int) -> str:
    """`text`, or as many of its signs as are allowed, behind them one that says that something is left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def ending(text: str, room: int) -> str:
    """The end of `text` in at most `room` columns, behind a sign that says that something is left out."""
    if width(text) <= room:
        return text
    kept = ""
    for sign in reversed(text):
        if width(sign + kept) >= room:
            break
        kept = sign + kept
    return f"…{kept}"
