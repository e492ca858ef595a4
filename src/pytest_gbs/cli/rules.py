"""`gbs rules`: all rules at a glance, those of plug-ins too."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._from_settings import added
from pytest_gbs.cli._output import emit
from pytest_gbs.cli._table import write_table
from pytest_gbs.cli.rule import entry
from pytest_gbs.formats._json import dump
from pytest_gbs.model.location import grouped
from pytest_gbs.model.rule import Rule
from pytest_gbs.rules import rules

# What the rules of a hundred are about, by the first digit of their codes.
FAMILIES: Final = {
    "0": "The file can't be read or understood",
    "1": "Comments that contradict the settings",
    "2": "The batch equation",
    "3": "Launch and several files",
    "4": "Checks of one framework",
    "5": "A team's own policy",
    "6": "Advice: rules of thumb, off unless selected",
    "9": "Comments for gbs",
}
_HEAD = ("code", "name", "severity", "default", "what it finds")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="output format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Write a line for each rule."""
    known = (*rules(), *added().rules)
    if arguments.format == "json":
        emit(dump([entry(rule) for rule in known]))
    elif arguments.format == "markdown":
        emit("\n".join(_families(known)))
    else:
        emit(_table(known, arguments.format))
    return 0


def _table(known: Iterable[Rule], format_name: str) -> str:
    rows = [(rule.code, rule.name, rule.severity, "on" if rule.default else "off", rule.summary) for rule in known]
    return write_table(_HEAD, rows, format_name)


def _families(known: Iterable[Rule]) -> Iterator[str]:
    """Yield a table for the rules of each hundred, and one for those of others."""
    for title, family in grouped((_family(rule.code), rule) for rule in known).items():
        yield f"## {title}\n\n{_table(family, 'markdown')}"


def _family(code: str) -> str:
    """The title of the rules of a hundred to which a code belongs."""
    digit = code[3:4] if code.startswith("GBS") else ""
    return f"{digit}xx: {FAMILIES[digit]}" if digit in FAMILIES else "Rules of plug-ins"


COMMAND = SubCommand("list all rules", _add_arguments, run)
