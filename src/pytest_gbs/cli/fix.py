"""`gbs fix`: `gbs check --fix`."""

from __future__ import annotations

import argparse

from pytest_gbs.cli import check
from pytest_gbs.cli._command import SubCommand


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    check.add_arguments(parser, fixing=True)


def run(arguments: argparse.Namespace) -> int:
    """Apply the fixes, write the report on what is left, and return the exit code."""
    if arguments.add_ignore is None:
        arguments.fix = True
    return check.run(arguments)


COMMAND = SubCommand("apply safe fixes, or trust the comments or the settings", _add_arguments, run, "[FLAG ...] [PATH ...]")
