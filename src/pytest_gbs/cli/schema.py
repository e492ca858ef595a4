"""`gbs schema`: the JSON Schemas of settings, recipes and our own output."""

from __future__ import annotations

from pytest_gbs.cli._command import Command
from pytest_gbs.cli._output import emit
from pytest_gbs.core.errors import UsageError
from pytest_gbs.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

_OWN = ("settings", "report")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `gbs schema` takes."""
    parser.add_argument("name", nargs="?", metavar="NAME", help="settings, report, or a table of recipes; none: list them all")


def run(arguments: argparse.Namespace) -> int:
    """Write a schema, or the names of all."""
    from pytest_gbs.trees.shipped import read_schema

    recipes = _recipes()
    if arguments.name is None:
        emit("".join(f"{name}\n" for name in (*_OWN, *recipes)))
        return 0
    name = arguments.name.removeprefix("recipes/")
    if name not in (*_OWN, *recipes):
        raise UsageError(f"no schema '{arguments.name}'; there are {', '.join((*_OWN, *recipes))}")
    emit(read_schema(name if name in _OWN else f"recipes/{name}"))
    return 0


def _recipes() -> tuple[str, ...]:
    from pytest_gbs.frameworks import tables
    from pytest_gbs.frameworks._schema import slug

    return tuple(sorted(slug(table) for table in tables()))


COMMAND = Command("print a JSON Schema: of the settings, of recipes, or of our JSON output", add_arguments, run)
