"""Finding the plug-ins of a package: whatever modules lie in its folder, so that adding one is adding a file."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any


def modules(package: str, search: Sequence[str]) -> tuple[Any, ...]:
    """Return the modules of `package`, by name, but for those that start with an underscore.

    `search` is the package's `__path__`. The import system is asked rather than the file system, so that a zipped or frozen
    package works too.
    """
    from pkgutil import iter_modules

    names = sorted(found.name for found in iter_modules(search) if not found.name.startswith("_"))
    return tuple(import_module(f"{package}.{name}") for name in names)
