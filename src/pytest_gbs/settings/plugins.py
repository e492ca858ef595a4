"""Rules and tables that are not built in: of installed packages that the settings name, and of files that the command line names.

A package offers a module under the entry point group `pytest_gbs`: `[project.entry-points.pytest_gbs] acme = "acme_gbs"`. The module
has `RULE` or `RULES`, `FRAMEWORK` or `FRAMEWORKS`. Nothing of it is imported unless `plugins = ["acme"]` is in the settings.
"""

# ruff: noqa: PTH110, PTH112

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any, Final

from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import Rule
from pytest_gbs.model.settings import Settings
from pytest_gbs.settings.described import PluginParts
from pytest_gbs.settings.meaning import SettingsProblem

GROUP: Final = "pytest_gbs"


def installed(names: Sequence[str], rules: Mapping[str, str]) -> PluginParts:
    """What the installed plug-ins called `names` bring, and what is wrong with them; `rules` are those that are there."""
    offered = {found.name: found for found in entry_points(group=GROUP)}
    tables: list[Framework] = []
    found: list[Rule] = []
    wrong: list[SettingsProblem] = []
    for number, name in enumerate(names):
        offer = _load(offered.get(name), tuple(sorted(offered)), {*rules, *(rule.code for rule in found)})
        found.extend(offer.rules)
        tables.extend(offer.tables)
        wrong.extend(SettingsProblem(("plugins", number), f'contains "{name[:80]}", which {problem}') for problem in offer.wrong)
    return PluginParts(tuple(tables), tuple(found), tuple(wrong))


def with_local_rules(settings: Settings, paths: Iterable[str], rules: Mapping[str, str]) -> Settings:
    """`settings` with the rules and tables of Python files: they run as they are, which is why only the command line names them.

    Raises:
        UsageError: a path is neither a Python file nor a folder of some, or a file holds none of them.
    """
    tables: list[Framework] = []
    found: list[Rule] = []
    lines: list[str] = []
    for file in dict.fromkeys(each for path in paths for each in _python_files(path)):
        taken = {*rules, *(rule.code for rule in (*settings.rules, *found))}
        offer = _of_module(_run(file), taken)
        found.extend(offer.rules)
        tables.extend(offer.tables)
        lines.extend(f"--allow-local-rules {file}: it {problem}" for problem in offer.wrong)
    if lines:
        raise UsageError("\n".join(lines))
    return settings._replace(rules=(*settings.rules, *found), frameworks=(*settings.frameworks, *tables))


def _python_files(path: str) -> list[str]:
    if os.path.isdir(path):
        inside = [f"{path.rstrip('/')}/{name}" for name in sorted(os.listdir(path)) if name.endswith(".py") and name[0] not in "_."]
        if inside:
            return inside
    elif os.path.exists(path) and path.endswith(".py"):
        return [path]
    raise UsageError(f"--allow-local-rules {path}: not a Python file, or a folder with Python files")


def _run(file: str) -> Any:
    """The module that a Python file is.

    Raises:
        UsageError: it can't be imported.
    """
    name = f"pytest_gbs_local.{os.path.realpath(file)}"
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError, AttributeError, NameError, TypeError) as error:
        del sys.modules[name]
        raise UsageError(f"--allow-local-rules {file}: {type(error).__name__}: {error}") from error
    return module


class _Offer(NamedTuple):
    """What one module brings, and what is wrong with it, as the rest of a sentence."""

    rules: tuple[Rule, ...] = ()
    tables: tuple[Framework, ...] = ()
    wrong: tuple[str, ...] = ()


def _load(point: EntryPoint | None, there: tuple[str, ...], taken: set[str]) -> _Offer:
    if point is None:
        return _Offer(wrong=(f"no installed package offers under the entry point group {GROUP}; there are {', '.join(there) or 'none'}",))
    try:
        return _of_module(point.load(), taken)
    except (ImportError, AttributeError) as error:
        return _Offer(wrong=(f"can't be loaded: {type(error).__name__}: {error}",))


def _of_module(module: Any, taken: set[str]) -> _Offer:
    """The rules and the tables of a module; `taken` are the codes that are there already."""
    offered = [*getattr(module, "RULES", ()), *_single(module, "RULE")]
    tables = [*getattr(module, "FRAMEWORKS", ()), *_single(module, "FRAMEWORK")]
    rules = [each for each in offered if isinstance(each, Rule)]
    codes = [rule.code for rule in rules]
    wrong = [f"offers a {type(each).__name__} as a rule" for each in offered if not isinstance(each, Rule)]
    wrong += [f"offers a {type(each).__name__} as a framework" for each in tables if not isinstance(each, Framework)]
    wrong += [f"has a rule {code}, and there is one already" for n, code in enumerate(codes) if code in taken or code in codes[:n]]
    if not offered and not tables:
        wrong.append("offers neither rules (RULE, RULES) nor frameworks (FRAMEWORK, FRAMEWORKS)")
    documented = (each if each.manual else each._replace(manual=module.__doc__ or "") for each in rules)
    return _Offer(tuple(documented), tuple(each for each in tables if isinstance(each, Framework)), tuple(wrong))


def _single(module: Any, name: str) -> tuple[Any, ...]:
    return (getattr(module, name),) if hasattr(module, name) else ()
