"""Reading the settings of a repository: which file, which table, and every mistake in it at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pytest_gbs.core.errors import SettingsError
from pytest_gbs.core.preferences import Settings
from pytest_gbs.settings.selection import Overrides, merge
from pytest_gbs.settings.shape import fits
from pytest_gbs.trees.files import MISSING, read_bytes
from pytest_gbs.trees.root import MOST_SETTINGS_BYTES, StrPath, has_settings

if TYPE_CHECKING:
    from pytest_gbs.settings.meaning import Problem

_TABLE: Final = ("tool", "gbs")
_ROUNDS: Final = 5


class _File(NamedTuple):
    """A settings file: its name for people, its text, the path of its table, and that table."""

    name: str
    text: str
    table: tuple[str, ...]
    raw: Any


def load_settings(
    root: StrPath, config: StrPath | None = None, overrides: Overrides | None = None, *, rules: Mapping[str, str]
) -> Settings:
    """Return the settings of the repository at `root`, those of the command line in front.

    They stand in file `config`, or else in `gbs.toml`, or else in `[tool.gbs]` of pyproject.toml. `rules` are the names of all rules
    by code.

    Raises:
        SettingsError: the file can't be read or holds mistakes; all of them are told, a line each.
        UsageError: the overrides name no rule.
    """
    file = _named(str(root), str(config)) if config is not None else _found(str(root))
    settings = Settings() if file is None else _read(file, rules)
    return settings if overrides is None else merge(settings, rules=rules, **overrides._asdict())


def _found(root: str) -> _File | None:
    """Return the settings file of the repository at `root`, or None where it has none."""
    own = read_bytes(f"{root}/gbs.toml", MOST_SETTINGS_BYTES)
    if own != MISSING:
        return _parse("gbs.toml", own, ())
    shared = read_bytes(f"{root}/pyproject.toml", MOST_SETTINGS_BYTES)
    if isinstance(shared, str) or not has_settings(shared):
        return None
    file = _parse("pyproject.toml", shared, _TABLE)
    return None if file.raw is None else file


def _named(root: str, config: str) -> _File:
    """Return the settings file that the user named; a file with `[tool.gbs]` holds them there, another is all settings."""
    name = config.removeprefix(root.rstrip("/") + "/")
    data = read_bytes(config, MOST_SETTINGS_BYTES)
    base = config.replace("\\", "/").rpartition("/")[2]
    if base != "gbs.toml":
        file = _parse(name, data, _TABLE)
        if file.raw is not None:
            return file
        if base == "pyproject.toml":
            raise SettingsError(f"{name}: there is no [tool.gbs] in it")
    return _parse(name, data, ())


def _parse(name: str, data: bytes | str, table: tuple[str, ...]) -> _File:
    """Return the file with what stands in its table; None there where it has no such table."""
    if isinstance(data, str):
        raise SettingsError(f"{name}: {data}")
    import tomllib

    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{name}:{line}: no TOML: not UTF-8") from error
    try:
        raw: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(_syntax_error(name, str(error), text)) from error
    except ValueError as error:  # a number of thousands of digits
        raise SettingsError(f"{name}: no TOML: a number is too long") from error
    except RecursionError as error:
        raise SettingsError(f"{name}: no TOML: nested too deeply") from error
    for part in table:
        raw = raw.get(part) if isinstance(raw, dict) else None
    return _File(name, text, table, raw)


def _syntax_error(name: str, message: str, text: str) -> str:
    """Return the sentence of tomllib with the place in front."""
    words, _, place = message.removesuffix(")").rpartition(" (at ")
    line, _, column = place.removeprefix("line ").partition(", ")
    if not line.isdigit():  # "at end of document"
        line, column = str(text.rstrip().count("\n") + 1), "at the end"
    return f"{name}:{line}: no TOML: {words[:1].lower()}{words[1:]} ({column})"


def _read(file: _File, rules: Mapping[str, str]) -> Settings:
    from pytest_gbs.settings.meaning import build

    table = ".".join(file.table)
    if fits(file.raw):
        settings, wrong = build(file.raw, file.name, table, rules)
        if not wrong:
            return settings
    else:
        wrong = _all_problems(file, table, rules)
    from pytest_gbs.settings.explain import sentences

    raise SettingsError("\n".join(sentences(wrong, file.name, file.text, file.table)))


def _all_problems(file: _File, table: str, rules: Mapping[str, str]) -> list[Problem]:
    """Return what is wrong with the shape, and then with the meaning of all that has the right shape."""
    from pytest_gbs.settings.explain import is_too_deep, problems, without
    from pytest_gbs.settings.meaning import build

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
