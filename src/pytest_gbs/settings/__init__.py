"""The settings of a check: `gbs.toml` or `[tool.gbs]`, read only if there is one, merged with what the command line says."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_gbs.files.regular import MISSING, may_hold, read_bytes, too_large
from pytest_gbs.files.root import StrPath, has_settings
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.limits import MOST_SETTINGS_BYTES
from pytest_gbs.model.settings import Overrides, Settings
from pytest_gbs.rules import rules as built_in


def load_settings(
    root: StrPath, config: StrPath | None = None, overrides: Overrides | None = None, *, rules: Mapping[str, str] | None = None
) -> Settings:
    """The settings of the repository at `root`, those of the command line in front.

    They are in file `config`, or else in `gbs.toml`, or else in `[tool.gbs]` of pyproject.toml. `rules` are the names of all rules
    by code, those of gbs itself if they are not given.

    Raises:
        SettingsError: the file can't be read or has mistakes; all of them are listed, a line each.
        UsageError: the overrides name no rule.
    """
    rules = {rule.code: rule.name for rule in built_in()} if rules is None else rules
    settings = _found(str(root), rules) if config is None else _named(str(root), str(config), rules)
    if overrides is None or overrides == Overrides():
        return settings
    if overrides.local_rules:
        from pytest_gbs.settings.plugins import with_local_rules

        settings = with_local_rules(settings, overrides.local_rules, rules)
    from pytest_gbs.settings.selection import merge

    names = {**rules, **{rule.code: rule.name for rule in settings.rules}}
    return merge(settings, overrides, names)


def _found(root: str, rules: Mapping[str, str]) -> Settings:
    """The settings of the repository at `root`, the defaults if it has none."""
    own = read_bytes(f"{root}/gbs.toml", MOST_SETTINGS_BYTES)
    shared = read_bytes(f"{root}/pyproject.toml", MOST_SETTINGS_BYTES) if own == MISSING else ""
    if shared == too_large(MOST_SETTINGS_BYTES) and may_hold(f"{root}/pyproject.toml", ("gbs",)):
        raise SettingsError(f"pyproject.toml: {shared}, and may contain [tool.gbs], which gbs.toml would override")
    if own == MISSING and (isinstance(shared, str) or not has_settings(shared)):
        return Settings()
    from pytest_gbs.settings.file import TABLE, parse
    from pytest_gbs.settings.reading import interpret

    if own != MISSING:
        return interpret(parse("gbs.toml", own, ()), rules, root)
    file = parse("pyproject.toml", shared, TABLE)
    return Settings() if file.raw is None else interpret(file, rules, root)


def _named(root: str, config: str, rules: Mapping[str, str]) -> Settings:
    """The settings of the file that the user named: what is in its `[tool.gbs]`, or else all of it."""
    from pytest_gbs.settings.file import TABLE, parse
    from pytest_gbs.settings.reading import interpret

    name = config.removeprefix(root.rstrip("/") + "/")
    data = read_bytes(config, MOST_SETTINGS_BYTES)
    base = config.replace("\\", "/").rpartition("/")[2]
    if base != "gbs.toml":
        file = parse(name, data, TABLE)
        if file.raw is not None:
            return interpret(file, rules, root)
        if base == "pyproject.toml":
            raise SettingsError(f"{name}: it has no section [tool.gbs]")
    return interpret(parse(name, data, ()), rules, root)


__all__ = ["Overrides", "load_settings"]
