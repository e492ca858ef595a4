"""What a sub-command is, and which there are: the modules of this folder."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable

from pytest_gbs.files.plugins import module, names
from pytest_gbs.model.record import NamedTuple


class SubCommand(NamedTuple):
    """One sub-command: what it does, its arguments, and its work, which returns the exit code; a short usage if there are many flags."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    usage: str | None = None


def commands() -> tuple[str, ...]:
    """The names of all sub-commands: those of the modules in this folder."""
    return names([os.path.dirname(__file__)])  # noqa: PTH120 - no pathlib on the way of a check


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
