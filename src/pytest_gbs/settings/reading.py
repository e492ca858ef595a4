"""One settings file: its text, its table, and every mistake in it at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from pytest_gbs.core.errors import SettingsError
from pytest_gbs.core.preferences import Settings
from pytest_gbs.core.typed import TYPE_CHECKING, Any, Final, NamedTuple
from pytest_gbs.settings.meaning import build
from pytest_gbs.settings.shape import fits

if TYPE_CHECKING:
    from pytest_gbs.settings.meaning import Problem

TABLE: Final = ("tool", "gbs")
_ROUNDS: Final = 5
# tomllib takes minutes for a key of a hundred thousand parts.
_MANY_DOTS: Final = r"""(?:\.[ \t]*[\w"'-]{1,100}[ \t]*){64}"""


class SettingsFile(NamedTuple):
    """A settings file: its name for people, its text, the path of its table, and that table."""

    name: str
    text: str
    table: tuple[str, ...]
    raw: Any


def parse(name: str, data: bytes | str, table: tuple[str, ...]) -> SettingsFile:
    """Return the file with what stands in its table; None there where it has no such table.

    Raises:
        SettingsError: there are no bytes but a reason for it, or they are no TOML.
    """
    if isinstance(data, str):
        raise SettingsError(f"{name}: {data}")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{name}:{line}: no TOML: not UTF-8") from error
    if re.search(_MANY_DOTS, text):
        raise SettingsError(f"{name}: nested too deeply")
    try:
        raw: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax_error(name, str(error), text)) from error
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"{name}: no TOML: a number is too long") from error
    except RecursionError as error:
        raise SettingsError(f"{name}: nested too deeply") from error
    for part in table:
        raw = raw.get(part) if isinstance(raw, dict) else None
    return SettingsFile(name, text, table, raw)


def _syntax_error(name: str, message: str, text: str) -> str:
    """Return the sentence of tomllib with the place in front."""
    words, _, place = message.removesuffix(")").rpartition(" (at ")
    line, _, column = place.removeprefix("line ").partition(", ")
    if not line.isdigit():  # "at end of document"
        line, column = str(text.rstrip().count("\n") + 1), "at the end"
    return f"{name}:{line}: no TOML: {words[:1].lower()}{words[1:]} ({column})"


def interpret(file: SettingsFile, rules: Mapping[str, str]) -> Settings:
    """Return what `file` says, with `rules` the names of all rules by code.

    Raises:
        SettingsError: it holds mistakes; all of them are told, a line each.
    """
    table = ".".join(file.table)
    if fits(file.raw):
        settings, wrong = build(file.raw, file.name, table, rules)
        if not wrong:
            return settings
    else:
        wrong = _all_problems(file, table, rules)
    from pytest_gbs.settings.explain import sentences

    raise SettingsError("\n".join(sentences(wrong, file.name, file.text, file.table)))


def _all_problems(file: SettingsFile, table: str, rules: Mapping[str, str]) -> list[Problem]:
    """Return what is wrong with the shape, and then with the meaning of all that has the right shape."""
    from pytest_gbs.settings.explain import is_too_deep, problems, without

    if is_too_deep(file.raw):
        raise SettingsError(f"{file.name}: nested too deeply")
    wrong = newly = problems(file.raw)
    rest = file.raw
    # Taking a list's only item away may leave a list that has too few.
    for _ in range(_ROUNDS):
        if fits(rest):
            return [*wrong, *build(rest, file.name, table, rules)[1]]
        rest = without(rest, newly)
        newly = problems(rest)
    return wrong
