"""One settings file: its text, its table, and every mistake in it at once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping

from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.settings import Settings
from pytest_gbs.model.typed import TYPE_CHECKING, Any, Final, NamedTuple
from pytest_gbs.settings.described import Brought, Described, is_too_deep
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


def interpret(file: SettingsFile, rules: Mapping[str, str], root: str) -> Settings:
    """Return what `file` says, with `rules` the names of all rules by code; other files that it names lie below `root`.

    Raises:
        SettingsError: it holds mistakes; all of them are told, a line each.
    """
    brought = _brought(file, rules)
    names = {**rules, **{rule.code: rule.name for rule in brought.rules}} if brought.rules else rules
    table = ".".join(file.table)
    if fits(file.raw):
        settings, wrong = build(file.raw, file.name, table, names)
    else:
        settings, wrong = Settings(), _all_problems(file, table, names)
    own = _own_frameworks(file, root)
    wrong = [*wrong, *brought.wrong, *own.wrong]
    if wrong or own.lines:
        from pytest_gbs.settings.explain import sentences

        lines = sentences(wrong, file.name, file.text, file.table) if wrong else []
        raise SettingsError("\n".join((*lines, *own.lines)))
    if not (own.tables or brought.tables or brought.rules):
        return settings
    return settings._replace(frameworks=(*own.tables, *brought.tables), rules=brought.rules)


def _own_frameworks(file: SettingsFile, root: str) -> Described:
    """Return the tables that the settings describe; none where that part has the wrong shape, which is told elsewhere."""
    stated = file.raw.get("frameworks") if isinstance(file.raw, dict) else None
    if not stated or is_too_deep(file.raw) or not fits({"frameworks": stated}):
        return Described()
    from pytest_gbs.settings.frameworks import describe

    return describe(stated, root, file.name)


def _brought(file: SettingsFile, rules: Mapping[str, str]) -> Brought:
    """Return what the plug-ins that the settings name bring."""
    named = file.raw.get("plugins") if isinstance(file.raw, dict) else None
    if not named or not fits({"plugins": named}):
        return Brought()
    from pytest_gbs.settings.plugins import installed

    return installed(named, rules)


def _all_problems(file: SettingsFile, table: str, rules: Mapping[str, str]) -> list[Problem]:
    """Return what is wrong with the shape, and then with the meaning of all that has the right shape."""
    from pytest_gbs.settings.explain import problems, without

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
