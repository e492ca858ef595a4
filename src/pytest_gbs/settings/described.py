"""What settings bring beside their own values: tables and rules, and what is wrong with where these are described."""

from __future__ import annotations

from typing import Any

from pytest_gbs.model.framework import Framework
from pytest_gbs.model.limits import DEEPEST_SETTINGS
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import Rule
from pytest_gbs.settings.meaning import SettingsProblem


class Described(NamedTuple):
    """The tables that settings describe, what is wrong within the settings file, and what is wrong in other files, a line each."""

    tables: tuple[Framework, ...] = ()
    wrong: tuple[SettingsProblem, ...] = ()
    lines: tuple[str, ...] = ()


class PluginParts(NamedTuple):
    """The tables and the rules of plug-ins, and what is wrong with these."""

    tables: tuple[Framework, ...] = ()
    rules: tuple[Rule, ...] = ()
    wrong: tuple[SettingsProblem, ...] = ()


def is_too_deep(raw: Any) -> bool:
    """Whether tables and lists nest deeper than any settings do, and than functions may call each other."""
    level = [raw]
    for _ in range(DEEPEST_SETTINGS):
        level = [each for one in level if isinstance(one, (dict, list)) for each in (one.values() if isinstance(one, dict) else one)]
    return bool(level)
