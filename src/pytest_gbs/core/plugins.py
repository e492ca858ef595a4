"""Finding the plug-ins of a package: whatever modules lie in its folder, so that adding one is adding a file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from os import listdir, scandir

from pytest_gbs.core.typed import Any, Final

INDEX: Final = "_index.py"


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


def sizes_of(search: Sequence[str]) -> dict[str, int]:
    """Return the size in bytes of each Python file of a package, by name, but for the index itself; nothing where it is no folder."""
    try:
        found = [entry for folder in search for entry in scandir(folder) if entry.name.endswith(".py") and entry.name != INDEX]
        return {entry.name: entry.stat().st_size for entry in found}
    except OSError:
        return {}


def index_of(package: str, search: Sequence[str]) -> Any:
    """Return what is written down of the plug-ins of `package`, so that none need be imported; None where that is out of date.

    The index (`_index.py`, made by tools/generate_index.py) says how large each file was: a plug-in that was added, removed or
    changed since is then looked at itself, which is slower and just as right.
    """
    try:
        written = module(f"{package}.{INDEX[:-3]}")
    except ImportError:
        return None
    return written.INDEX if sizes_of(search) == written.FILES else None
