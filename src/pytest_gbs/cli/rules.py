"""`gbs rules`: all rules at a glance, those of plug-ins too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.cli._added import added
from pytest_gbs.cli._command import Command
from pytest_gbs.cli._output import emit
from pytest_gbs.cli._table import write_table

if TYPE_CHECKING:
    import argparse

_HEAD = ("code", "name", "severity", "default", "what it finds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs rules` takes."""
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="output format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Write a line for each rule."""
    from pytest_gbs.rules import rules

    known = (*rules(), *added().rules)
    if arguments.format == "json":
        from pytest_gbs.cli.rule import entry
        from pytest_gbs.formats._json import dump

        emit(dump([entry(rule) for rule in known]))
    else:
        rows = [(rule.code, rule.name, rule.severity, "on" if rule.default else "off", rule.summary) for rule in known]
        emit(write_table(_HEAD, rows, arguments.format))
    return 0


COMMAND = Command("list all rules", add_arguments, run)
