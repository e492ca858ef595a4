"""What a settings file says, or every mistake in it at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings.described import Described, PluginParts, is_too_deep
from pytest_gbs.settings.file import SettingsFile
from pytest_gbs.settings.meaning import SettingsProblem, build
from pytest_gbs.settings.shape import fits

_ROUNDS: Final = 5


def interpret(file: SettingsFile, rules: Mapping[str, str], root: str) -> Settings:
    """What `file` says, with `rules` the names of all rules by code; other files that it names lie below `root`.

    Raises:
        SettingsError: it has mistakes; all of them are listed, a line each.
    """
    brought = _plugin_parts(file, rules)
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
    """The tables that the settings describe; none if that part has the wrong shape, which is reported elsewhere."""
    stated = file.raw.get("frameworks") if isinstance(file.raw, dict) else None
    if not stated or is_too_deep(file.raw) or not fits({"frameworks": stated}):
        return Described()
    from pytest_gbs.settings.frameworks import describe

    return describe(stated, root, file.name)


def _plugin_parts(file: SettingsFile, rules: Mapping[str, str]) -> PluginParts:
    """What the plug-ins that the settings name bring."""
    named = file.raw.get("plugins") if isinstance(file.raw, dict) else None
    if not named or not fits({"plugins": named}):
        return PluginParts()
    from pytest_gbs.settings.plugins import installed

    return installed(named, rules)


def _all_problems(file: SettingsFile, table: str, rules: Mapping[str, str]) -> list[SettingsProblem]:
    """What is wrong with the shape, and then with the meaning of all that has the right shape."""
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
