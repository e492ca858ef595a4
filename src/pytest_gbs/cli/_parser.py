"""A parser that says what is wrong in one line."""

from __future__ import annotations

import argparse
import sys

from pytest_gbs.cli._output import complain, emit
from pytest_gbs.cli._split_arguments import MARK
from pytest_gbs.model.record import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

    from _typeshed import SupportsWrite

# All that `gbs` says is English. To look for translations takes longer than to read a recipe.
argparse._ = str  # type: ignore[attr-defined]


class Formatter(argparse.HelpFormatter):
    """Help of one width everywhere: asking the terminal for its own imports modules for archives."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=80)

    def add_argument(self, action: argparse.Action) -> None:
        """Add the help of a flag, but for those that are left out: argparse itself compares that word by identity."""
        if action.help != argparse.SUPPRESS:
            super().add_argument(action)

    def _format_action_invocation(self, action: argparse.Action) -> str:
        """`-o, --output-file FILE` in every version of Python, as since 3.13; before, each flag had the value behind it."""
        if len(action.option_strings) < 2 or action.nargs == 0:
            return super()._format_action_invocation(action)
        return f"{', '.join(action.option_strings)} {self._format_args(action, self._get_default_metavar_for_optional(action))}"


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, and exit with 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call."""
        from pytest_gbs.arithmetic.near_miss import suggestion

        flag = message.partition("unrecognized arguments: ")[2].partition(" ")[0].partition("=")[0]
        meant = suggestion(flag, self._option_string_actions) if flag.startswith("--") else ""
        complain(f"{message.replace(MARK, '')} ({meant}{self.prog} --help)", f"{self.prog}: ")
        sys.exit(2)

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        """Write the help as everything else is written."""
        if file is sys.stderr:
            complain(message)
        else:
            emit(message)
