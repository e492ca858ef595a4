"""`gbs frameworks`: what each framework makes of a recipe, and all that is known of one."""

from __future__ import annotations

import argparse
from typing import Any, Final

from pytest_gbs.arithmetic.near_miss import suggestion
from pytest_gbs.arithmetic.wording import called
from pytest_gbs.cli._command import SubCommand
from pytest_gbs.cli._framework_page import all_of, formula, page, relation
from pytest_gbs.cli._from_settings import added
from pytest_gbs.cli._output import emit, terminal_columns
from pytest_gbs.cli._table import write_table
from pytest_gbs.formats._json import dump, taken
from pytest_gbs.frameworks import slug, tables
from pytest_gbs.launches.programs import launchers
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.location import dotted, grouped
from pytest_gbs.model.quantity import Name
from pytest_gbs.rules import rules as built_in

_WIDE: Final = 180  # columns from which on the table of all frameworks fits
_HEAD: Final = ("framework", "a batch counts", "global batch size", "ranks", "read from")
# A recipe of these is a program: nothing but running it says what its batch is. Where the recipes are, in their repositories.
_PROGRAMS: Final = (
    ("AXLearn", "axlearn/experiments/**/*.py", ""),
    ("ColossalAI", "flags of its training scripts", ""),
    ("NeMo 2 recipes", "nemo/collections/llm/recipes/*.py", "YAML of NeMo 1 is read, and Megatron Bridge's override files"),
    ("Tinker cookbook", "tinker_cookbook/recipes/**/*.py", ""),
    ("torchtitan since it has no TOML files", "torchtitan/models/*/config_registry.py", "earlier TOML files are read"),
)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="show what gbs knows about these: trl, trl-grpo")
    parser.add_argument("--all", action="store_true", help="show what gbs knows about each")
    parser.add_argument("--format", choices=("text", "markdown", "json"), default="text", help="output format (default: text)")


def run(arguments: argparse.Namespace) -> int:
    """Write a line for each framework, or the pages that are asked for."""
    settings = added()
    known = (*tables(), *settings.frameworks)
    chosen = known if arguments.all or not arguments.names else _chosen(arguments.names, known)
    if arguments.format == "json":
        emit(dump([_entry(table) for table in chosen]))
    elif arguments.all or arguments.names:
        emit("\n".join(page(table, (*built_in(), *settings.rules), arguments.format) for table in chosen))
    else:
        emit(_overview(known, arguments.format))
    return 0


def _chosen(words: list[str], known: tuple[Framework, ...]) -> list[Framework]:
    """The tables that the words name: by title, as files and settings have it, or all of one framework."""
    names = ((dict.fromkeys((slug(table.title), slug(table.name), slug(table.title.split(" (")[0]))), table) for table in known)
    named = grouped((name, table) for several, table in names for name in several)
    found: list[Framework] = []
    for word in words:
        if slug(word) not in named:
            raise UsageError(f"no framework is called {word}; {suggestion(slug(word), named)}gbs frameworks lists them")
        found += [table for table in named[slug(word)] if table not in found]
    return found


def _overview(known: tuple[Framework, ...], format_name: str) -> str:
    columns = terminal_columns()
    parts = (
        _names(known)
        if 0 < columns < _WIDE and format_name == "text"
        else write_table(_HEAD, [_row(table) for table in known], format_name),
        write_table(("launcher", "reads"), [(each.name, each.summary) for each in launchers()], format_name),
        write_table(("not read: configurations written in Python", "where they are", ""), _PROGRAMS, format_name),
    )
    return "\n".join(parts)


def _names(known: tuple[Framework, ...]) -> str:
    """The titles alone, those of one framework in a line, for a terminal that is too narrow for the table."""
    found: dict[str, list[str]] = {}
    for table in known:
        name, _, variant = table.title.partition(" (")
        found.setdefault(name, []).extend([variant.removesuffix(")")] if variant else [])
    lines = (f"{name}: {'; '.join(variants)}\n" if variants else f"{name}\n" for name, variants in found.items())
    return "".join(lines) + "\ngbs frameworks NAME shows the keys and the arithmetic of one.\n"


def _row(table: Framework) -> tuple[str, ...]:
    return (table.title, table.unit, _formula(table, Name.GLOBAL_BATCH_SIZE), _formula(table, Name.DATA_PARALLEL_SIZE), table.version)


def _formula(table: Framework, name: str) -> str:
    """How `table` computes size `name`: `micro x accumulation x data-parallel`; `stated` where it computes it not."""
    equation = next((equation for equation in table.equations if equation.result == name), None)
    return "stated" if equation is None else formula(equation)


def _entry(table: Framework) -> dict[str, Any]:
    return {
        **taken(table, "name title unit"),
        "equations": {equation.result: formula(equation) for equation in table.equations},
        "keys": {dotted(row.key): called(row.name) for row in table.rows},
        "sizes": [{"key": dotted(row.key), "size": row.name, "when": all_of(row.when), "source": row.source} for row in table.rows],
        "constraints": [{**taken(each, "rule label"), "relation": relation(each), "source": each.source} for each in table.constraints],
        "requirements": [{"keys": list(map(dotted, each.keys)), "label": each.label, "source": each.source} for each in table.requirements],
        "exclusions": [{"keys": list(map(dotted, each.keys)), "label": each.label, "source": each.source} for each in table.exclusions],
        "switches": [{"when": all_of((each.condition, *each.when)), "label": each.label, "source": each.source} for each in table.switches],
        **taken(table, "version source"),
    }


COMMAND = SubCommand("list the supported frameworks, or show what gbs knows about one", _add_arguments, run)
