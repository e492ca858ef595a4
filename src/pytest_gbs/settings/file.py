"""One settings file: its text and its table."""

from __future__ import annotations

import re
from typing import Any, Final

from pytest_gbs.files.toml import tomllib
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.record import NamedTuple

TABLE: Final = ("tool", "gbs")


# tomllib takes minutes for a key of a hundred thousand parts.
_MANY_DOTS: Final = r"""(?:\.[ \t]*[\w"'-]{1,100}[ \t]*){64}"""


class SettingsFile(NamedTuple):
    """A settings file: its name for people, its text, the path of its table, and that table."""

    name: str
    text: str
    table: tuple[str, ...]
    raw: Any


def parse(name: str, data: bytes | str, table: tuple[str, ...]) -> SettingsFile:
    """The file with what is in its table; None there if it has no such table.

    Raises:
        SettingsError: there are no bytes but a reason for it, or they are not TOML.
    """
    if isinstance(data, str):
        raise SettingsError(f"{name}: {data}")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{name}:{line}: not TOML: not UTF-8") from error
    if re.search(_MANY_DOTS, text):
        raise SettingsError(f"{name}: nested too deeply")
    try:
        raw: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax_error(name, str(error), text)) from error
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"{name}: not TOML: a number is too long") from error
    except RecursionError as error:
        raise SettingsError(f"{name}: nested too deeply") from error
    for part in table:
        raw = raw.get(part) if isinstance(raw, dict) else None
    return SettingsFile(name, text, table, raw)


def _syntax_error(name: str, message: str, text: str) -> str:
    """The sentence of tomllib with the place in front."""
    words, _, place = message.removesuffix(")").rpartition(" (at ")
    line, _, column = place.removeprefix("line ").partition(", ")
    if not line.isdigit():  # "at end of document"
        line, column = str(text.rstrip().count("\n") + 1), "at the end"
    return f"{name}:{line}: not TOML: {words[:1].lower()}{words[1:]} ({column})"
