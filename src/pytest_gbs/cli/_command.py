"""What a sub-command is, and which there are: the modules of this folder."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from pytest_gbs.files.plugins import module
from pytest_gbs.model.record import NamedTuple


class SubCommand(NamedTuple):
    """One sub-command: what it does, its arguments, and its work, which returns the exit code; a short usage if there are many flags."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    usage: str | None = None


def commands() -> tuple[str, ...]:
    """The names of all sub-commands: those of the modules in this folder."""
    from pathlib import Path
    from pkgutil import iter_modules

    return tuple(sorted(found.name for found in iter_modules([str(Path(__file__).parent)]) if not found.name.startswith("_")))


def find(name: str) -> SubCommand | None:
    """The sub-command `name`, or None if there is none."""
    if not name.isidentifier() or name.startswith("_"):
        return None
    home = f"{__package__}.{name}"
    try:
        command: SubCommand = module(home).COMMAND
    except ModuleNotFoundError as error:
        if error.name != home:
            raise
        return None
    return command
