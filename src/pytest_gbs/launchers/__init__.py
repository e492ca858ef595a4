"""The launchers: one file each, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.launch import Launcher
from pytest_gbs.core.plugins import modules


@cache
def launchers() -> tuple[Launcher, ...]:
    """Return every launcher whose files we read, by module name."""
    return tuple(module.LAUNCHER for module in modules(__name__, __path__))
