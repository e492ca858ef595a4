"""What a sub-command is, and a parser that says what is wrong in one line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple, NoReturn


class Command(NamedTuple):
    """One sub-command: what it does, its arguments, and its work, which returns the exit code; a short usage where there are many flags."""

    summary: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    usage: str | None = None


class Formatter(argparse.HelpFormatter):
    """Help of one width everywhere: asking the terminal for its own imports modules for archives."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=110)


class Parser(argparse.ArgumentParser):
    """A parser whose complaints are one line, and exit with 2."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the call."""
        from pytest_gbs.formats._escape import escape

        print(f"{self.prog}: {escape(message)} ({self.prog} --help)", file=sys.stderr)
        sys.exit(2)
