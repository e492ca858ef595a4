"""On which line of a TOML file a key is: a small search, since tomllib keeps no places."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.location import KeyPath

# tool.gbs.frameworks.acme.keys."train.batch".0.words.auto
_DEEPEST: Final = 9
_PART: Final = r"""(?:"[^"\\\n]*(?:\\.[^"\\\n]*)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_KEY: Final = rf"{_PART}(?:[ \t]*\.[ \t]*{_PART})*"
_LINE: Final = rf"[ \t]*(?:(?P<open>\[\[?)[ \t]*(?P<table>{_KEY})[ \t]*\]|(?P<key>{_KEY})[ \t]*=)"


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line, from 1, on which each table and key of a TOML text first occurs, by its full path."""
    found: dict[KeyPath, int] = {}
    for number, path in _keys(text):
        for length in range(1, min(len(path), _DEEPEST) + 1):
            found.setdefault(path[:length], number)
    return found


def line_of(lines: dict[KeyPath, int], path: KeyPath) -> int:
    """The line of the key at `path`, or of the nearest thing above it; 1 if there is nothing of it."""
    return next((lines[path[:length]] for length in range(len(path), 0, -1) if path[:length] in lines), 1)


def line_holding(text: str, value: str, start: int) -> int:
    """The first line from `start` on that holds `value` in quotes, or `start`: lists are on several lines."""
    quoted = (f'"{value}"', f"'{value}'")
    return next((n for n, line in enumerate(text.split("\n")[start - 1 :], start) if any(q in line for q in quoted)), start)


def _keys(text: str) -> Iterator[tuple[int, KeyPath]]:
    # What looks like a key inside a text of several lines counts as well: this is for messages only.
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
