"""The four kinds of strings of TOML 1.0: where one ends, and what it says."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_gbs.readers.refusal import RefusedDocument

_ESCAPES: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_LAST: Final = 0x10FFFF
# Escapes matched at once: each repeat of a pattern takes memory until the whole has matched.
_AT_ONCE: Final = 1_000


def string_at(text: str, start: int) -> tuple[int, str]:
    """Where the string that starts at `start` ends, and its content with escapes decoded.

    Raises: Refused: the string does not end.
    """
    mark = text[start]
    several = text.startswith(mark * 3, start)
    marks = mark * 3 if several else mark
    first = start + len(marks)
    last = _end(text, first, marks)
    if not text.startswith(marks, last):
        raise RefusedDocument(start, "found a string that does not end")
    for _ in range(2 * several):  # three quotes may follow up to two that belong to the string
        last += text.startswith(marks, last + 1)
    content = text[first:last]
    if several:  # the first line break is dropped, and all are line feeds
        content = content.replace("\r\n", "\n").removeprefix("\n")
    if mark == '"' and "\\" in content:
        content = _escape().sub(_decoded, content)
    return last + len(marks), content


def _decoded(match: re.Match[str]) -> str:
    number = match["number"]
    if number:
        code = int(number[1:], 16)
        return chr(code) if code <= _LAST else ""
    letter = match["letter"]
    return _ESCAPES.get(letter, letter) if letter else ""


def _end(text: str, place: int, marks: str) -> int:
    """Where the content ends that starts at `place`, at the first `marks` behind it or at what can't be in it."""
    stop = place
    while match := _content(marks).match(text, place):
        stop = match.end()
        if stop - place < _AT_ONCE:
            break
        place = stop
    return stop


@cache
def _content(marks: str) -> re.Pattern[str]:
    """The pattern of what is between `marks`, up to so many escapes and quotes."""
    times = f"{{0,{_AT_ONCE}}}"
    return re.compile(
        {
            '"': rf'[^"\\\n]*(?:\\.[^"\\\n]*){times}',
            "'": r"[^'\n]*",
            '"""': rf'[^"\\]*(?:(?:\\.|"{{1,2}}(?!"))[^"\\]*){times}',
            "'''": rf"[^']*(?:'{{1,2}}(?!')[^']*){times}",
        }[marks],
        re.DOTALL,
    )


@cache
def _escape() -> re.Pattern[str]:
    hexadecimal = "[0-9A-Fa-f]"
    number = rf"u{hexadecimal}{{4}}|U{hexadecimal}{{8}}|x{hexadecimal}{{2}}"
    return re.compile(rf"\\(?:(?P<number>{number})|[ \t]*\n[ \t\n]*|(?P<letter>.))", re.DOTALL)
