"""`gbs frameworks`: what each framework makes of a recipe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pytest_gbs.arithmetic.wording import called, quotient, short
from pytest_gbs.cli._added import added
from pytest_gbs.cli._command import Command
from pytest_gbs.cli._output import emit
from pytest_gbs.cli._table import write_table
from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.quantity import Name

if TYPE_CHECKING:
    import argparse

HEAD: Final = ("framework", "a batch counts", "global batch size", "ranks", "read from")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs frameworks` takes."""
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="output format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Write a line for each framework."""
    from pytest_gbs.frameworks import tables

    known = (*tables(), *added().frameworks)
    if arguments.format == "json":
        from pytest_gbs.formats._json import dump

        emit(dump([_entry(table) for table in known]))
    else:
        emit(write_table(HEAD, [row(table) for table in known], arguments.format))
    return 0


def row(table: Framework) -> tuple[str, ...]:
    """Return what the list says of one table, in the order of `HEAD`."""
    batch, ranks = formula(table, Name.GLOBAL_BATCH_SIZE), formula(table, Name.DATA_PARALLEL_SIZE)
    return (table.title, table.unit, batch, ranks, table.version)


def formula(table: Framework, name: str) -> str:
    """Return how `table` computes size `name`: `micro x accumulation x data-parallel`; `stated` where it computes it not."""
    equation = next((equation for equation in table.equations if equation.result == name), None)
    return "stated" if equation is None else _formula(equation)


def _formula(equation: Equation) -> str:
    sign = {Rounding.FLOOR: "//", Rounding.CEIL: "/ (up)"}.get(equation.rounding, "/")
    return quotient(map(short, equation.product), map(short, equation.divisors), sign)


def _entry(table: Framework) -> dict[str, Any]:
    keys = {".".join(map(str, row.key)): called(row.name) for row in table.rows}
    return {
        "name": table.name,
        "title": table.title,
        "unit": table.unit,
        "equations": {equation.result: _formula(equation) for equation in table.equations},
        "keys": keys,
        "version": table.version,
        "source": table.source,
    }


COMMAND = Command("list the frameworks whose recipes are understood, with their batch equations", add_arguments, run)
