"""Finding the plug-ins of a package: whatever modules lie in its folder, so that adding one is adding a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import listdir

from pytest_gbs.core.typed import Any


def module(name: str) -> Any:
    """Return module `name`, imported: `importlib.import_module` without its package, which nothing else needs at start-up."""
    __import__(name)
    return sys.modules[name]


def modules(package: str, search: Sequence[str]) -> tuple[Any, ...]:
    """Return the modules of `package`, by name, but for those that start with an underscore.

    `search` is the package's `__path__`; where it is no folder (a zipped package) the import system is asked.
    """
    names = sorted(name for name in _names(search) if not name.startswith("_"))
    return tuple(module(f"{package}.{name}") for name in names)


def _names(search: Sequence[str]) -> set[str]:
    try:
        return {name.removesuffix(".py") for folder in search for name in listdir(folder) if name.endswith(".py")}
    except OSError:
        from pkgutil import iter_modules  # takes inspect along: several milliseconds

        return {found.name for found in iter_modules(search)}
