"""`gbs schema`: the JSON Schemas of settings, recipes and our own output."""

from __future__ import annotations

import argparse

from pytest_gbs.arithmetic.near_miss import suggestion
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._output import emit
from pytest_gbs.files.shipped import read_schema
from pytest_gbs.frameworks import slug, tables, titles
from pytest_gbs.frameworks._schema import text
from pytest_gbs.model.documentation import DOCUMENTATION
from pytest_gbs.model.errors import UsageError

_OWN = ("settings", "framework", "report", "plan", "scale", "rules", "frameworks")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name",
        nargs="?",
        metavar="NAME",
        help="settings, framework (one of your own), the output of a command, or a table of recipes; none: list them all",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a schema, or the names of all."""
    names = (*_OWN, *sorted(map(slug, titles())))
    if arguments.name is None:
        emit("".join(f"{name}\n" for name in names))
        return 0
    name = arguments.name.removeprefix("recipes/")
    if name not in names:
        raise UsageError(f"no schema '{arguments.name}'; {suggestion(name, names)}gbs schema lists them")
    emit(read_schema(name) if name in _OWN else _of_recipes(name))
    return 0


def _of_recipes(name: str) -> str:
    """The schema of the recipes of a table; it is in no file, since pytest looks at each file of its plug-ins at every start."""
    address = f"{DOCUMENTATION}schemas/recipes/{name}.schema.json"
    return next(text(table, address) for table in tables() if slug(table.title) == name)


COMMAND = SubCommand("print a JSON Schema: of settings, of recipes, or of JSON output", _add_arguments, run)
