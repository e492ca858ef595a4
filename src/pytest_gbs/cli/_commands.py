"""Which sub-commands there are: the modules of this folder."""

from __future__ import annotations

from pytest_gbs.cli._command import Command
from pytest_gbs.files.plugins import module


def commands() -> tuple[str, ...]:
    """The names of all sub-commands: those of the modules in this folder."""
    from pathlib import Path
    from pkgutil import iter_modules

    return tuple(sorted(found.name for found in iter_modules([str(Path(__file__).parent)]) if not found.name.startswith("_")))


def find(name: str) -> Command | None:
    """Return sub-command `name`, or None if there is none."""
    if not name.isidentifier() or name.startswith("_"):
        return None
    home = f"{__package__}.{name}"
    try:
        command: Command = module(home).COMMAND
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        return None
    return command
