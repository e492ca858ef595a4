"""On which line of a TOML file a key stands: a small search, since tomllib keeps no places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

KeyPath = tuple[str | int, ...]
_PART: Final = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_KEY: Final = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_LINE: Final = rf"[ \t]*(?:(?P<open>\[\[?)[ \t]*(?P<table>{_KEY})[ \t]*\]|(?P<key>{_KEY})[ \t]*=)"


def line_of(text: str, path: KeyPath, value: object = None) -> int:
    """Return the line, from 1, of the key at `path`, or of the nearest thing above it that is found; 1 where there is nothing.

    Of a list, which may stand on several lines, the line that holds the text `value` is meant.
    """
    keys = path
    while keys and isinstance(keys[-1], int) and len(keys) > 1 and not _is_table(text, keys):
        keys = keys[:-1]
    best, depth = 1, 0
    for number, found in _keys(text):
        common = _common(found, keys)
        if common > depth and common == min(len(found), len(keys)):
            best, depth = number, common
    if keys != path and isinstance(value, str):
        lines = text.split("\n")
        quoted = (f'"{value}"', f"'{value}'")
        return next((n for n, line in enumerate(lines[best - 1 :], best) if any(q in line for q in quoted)), best)
    return best


def _is_table(text: str, path: KeyPath) -> bool:
    return any(found == path for _, found in _keys(text))


def _common(one: KeyPath, other: KeyPath) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _keys(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield the line and the full path of each header and key; what stands inside a text of several lines counts as well."""
    pattern = re.compile(_LINE)
    table: KeyPath = ()
    entries: dict[KeyPath, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = pattern.match(line)
        if match is None:
            continue
        if match["key"]:
            yield number, (*table, *_parts(match["key"]))
            continue
        table = ()
        for part in _parts(match["table"]):
            table = (*table, part)
            if table in entries and not (match["open"] == "[[" and table == _parts(match["table"])):
                table = (*table, entries[table])
        if match["open"] == "[[":
            entries[table] = entries.get(table, -1) + 1
            table = (*table, entries[table])
        yield number, table


def _parts(key: str) -> KeyPath:
    return tuple(part.strip("\"'") for part in re.findall(_PART, key))
