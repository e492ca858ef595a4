"""`gbs schema`: the JSON Schemas of settings, recipes and our own output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_gbs.cli._command import Command
from pytest_gbs.cli._output import emit
from pytest_gbs.model.errors import UsageError

if TYPE_CHECKING:
    import argparse

_OWN = ("settings", "framework", "report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs schema` takes."""
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="settings, framework (one of your own), report, or a table of recipes; none: list them all"
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a schema, or the names of all."""
    from pytest_gbs.files.shipped import read_schema
    from pytest_gbs.frameworks._schema import schemas

    recipes = {file.removesuffix(".schema.json"): text for file, text in schemas().items()}
    names = (*_OWN, *sorted(recipes))
    if arguments.name is None:
        emit("".join(f"{name}\n" for name in names))
        return 0
    name = arguments.name.removeprefix("recipes/")
    if name not in names:
        raise UsageError(f"no schema '{arguments.name}'; there are {', '.join(names)}")
    # Those of recipes are made here: a hundred files more would slow down every start of pytest, which looks at each file of a plug-in.
    emit(recipes.get(name) or read_schema(name))
    return 0


COMMAND = Command("print a JSON Schema: of the settings, of recipes, or of our JSON output", add_arguments, run)
