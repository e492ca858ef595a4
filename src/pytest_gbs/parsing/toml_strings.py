"""The four kinds of strings of TOML 1.0: where one ends, and what it says."""

from __future__ import annotations

import re
from functools import cache

from pytest_gbs.core.typed import Final
from pytest_gbs.parsing.refusal import Refused

_ESCAPES: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_LAST: Final = 0x10FFFF


def string_at(text: str, start: int) -> tuple[int, str]:
    """Return where the string that starts at `start` ends, and its content with escapes decoded.

    Raises: Refused: the string does not end.
    """
    mark = text[start]
    several = text.startswith(mark * 3, start)
    match = _pattern(mark * 3 if several else mark).match(text, start)
    if match is None:
        raise Refused(start, "found a string that does not end")
    found = match.group()
    content = found[3:-3] if several else found[1:-1]
    if several:  # the first line break is dropped, and all are line feeds
        content = content.replace("\r\n", "\n").removeprefix("\n")
    if mark == '"' and "\\" in content:
        content = _escape().sub(_decoded, content)
    return match.end(), content


def _decoded(match: re.Match[str]) -> str:
    number = match["number"]
    if number:
        code = int(number[1:], 16)
        return chr(code) if code <= _LAST else ""
    letter = match["letter"]
    return _ESCAPES.get(letter, letter) if letter else ""


@cache
def _pattern(marks: str) -> re.Pattern[str]:
    """Return the pattern of the strings between `marks`; three quotes may follow up to two that belong to the string."""
    return re.compile(
        {
            '"': r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"',
            "'": r"'[^'\n]*'",
            '"""': r'"""[^"\\]*(?:(?:\\.|"{1,2}(?!"))[^"\\]*)*"""(?:"{0,2})',
            "'''": r"'''[^']*(?:'{1,2}(?!')[^']*)*'''(?:'{0,2})",
        }[marks],
        re.DOTALL,
    )


@cache
def _escape() -> re.Pattern[str]:
    hexadecimal = "[0-9A-Fa-f]"
    number = rf"u{hexadecimal}{{4}}|U{hexadecimal}{{8}}|x{hexadecimal}{{2}}"
    return re.compile(rf"\\(?:(?P<number>{number})|[ \t]*\n[ \t\n]*|(?P<letter>.))", re.DOTALL)
