"""A parser that says what is wrong in one line."""

from __future__ import annotations

import argparse
import sys

from pytest_gbs.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn


class Formatter(argparse.HelpFormatter):
    """Help of one width everywhere: asking the terminal for its own imports modules for archives."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=110)

    def add_argument(self, action: argparse.Action) -> None:
        """Add the help of a flag, but for those that are left out: argparse itself compares that word by identity."""
        if action.help != argparse.SUPPRESS:
            super().add_argument(action)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, and exit with 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call."""
        from pytest_gbs.cli._words import MARK
        from pytest_gbs.formats._escape import escape

        message = message.replace(MARK, "")
        print(f"{self.prog}: {escape(message)} ({self.prog} --help)", file=sys.stderr)
        sys.exit(2)
