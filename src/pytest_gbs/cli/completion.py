"""`gbs completion`: what makes a shell complete the commands, flags and files of `gbs`."""

from __future__ import annotations

import argparse
from typing import Final

from pytest_gbs.cli._command import SubCommand, commands, find
from pytest_gbs.cli._output import emit
from pytest_gbs.model.errors import UsageError

_SHELLS: Final = ("bash", "zsh", "fish")
_FILES: Final = ("PATH", "FILE", "RECIPE", "FOLDER", "REV_OR_PATH")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=", ".join(_SHELLS))


def run(arguments: argparse.Namespace) -> int:
    """Write the script for one shell.

    Raises:
        UsageError: shtab, which writes it, is not installed.
    """
    try:
        import shtab
    except ModuleNotFoundError as error:
        raise UsageError("gbs completion needs shtab: pip install 'pytest-gbs[completion]'") from error
    emit(shtab.complete(whole_parser(shtab.FILE), arguments.shell) + "\n")
    return 0


def whole_parser(file: object = None) -> argparse.ArgumentParser:
    """A parser of all commands; `file` marks an argument that is one."""
    parser = argparse.ArgumentParser("gbs")
    each = parser.add_subparsers()
    for name in commands():
        command = find(name)
        assert command is not None
        inner = each.add_parser(name, help=command.summary, description=command.summary)
        command.add_arguments(inner)
        for action in inner._actions:
            if action.help == argparse.SUPPRESS:
                action.help = argparse.SUPPRESS  # it is compared by identity
            elif action.metavar in _FILES:
                action.complete = file  # type: ignore[attr-defined]
            elif action.dest == "format" and action.choices is None:
                action.choices = (action.help or "").split(", ")
    return parser


COMMAND = SubCommand("print a shell script that completes commands and flags", _add_arguments, run)
