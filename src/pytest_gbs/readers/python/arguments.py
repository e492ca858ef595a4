"""The classes into which a program parses its command line, and what they are made from."""

from __future__ import annotations

import ast
from typing import Final

from pytest_gbs.readers.python.scopes import Scopes

CLASSES: Final = "dataclass_types"  # the keyword of transformers' parser, which argparse hands on from `add_parser`
_PARSERS: Final = ("HfArgumentParser", "TrlParser", "H4ArgumentParser")


def parsed_classes(scopes: Scopes) -> dict[str, tuple[str, ...]]:
    """The names, as imported, of the classes that a program hands to parsers of transformers or TRL.

    They are by the sub-command that such a parser is for, "" for the whole program; other sub-commands have none.
    """
    added = scopes.called.get("add_parser", ())
    takes = any(each.arg == CLASSES for call, _ in added for each in call.keywords)
    names_given = ((call, name.value) for call, _ in added for name in call.args[:1] if takes and isinstance(name, ast.Constant))
    commands = {call: name for call, name in names_given if isinstance(name, str)}
    found: dict[str, tuple[str, ...]] = dict.fromkeys(commands.values(), ())
    for call, _ in scopes.calls:
        if call in commands or scopes.qualified(call.func).endswith(_PARSERS):
            names = tuple(filter(None, map(scopes.qualified, argument_classes(call))))
            command = commands.get(call, "")
            found[command] = found.get(command, ()) + names
    return found


def argument_classes(call: ast.Call) -> list[ast.expr]:
    """The classes that a call which makes a parser gives it: `HfArgumentParser((A, B))`, `add_parser("train", dataclass_types=[A])`."""
    given = [each.value for each in call.keywords if each.arg == CLASSES] or call.args[:1]
    return [inner for each in given for inner in (each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each])]


def bases(scopes: Scopes, name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names of what the class `name` of a module is made from, or imported as, and the fields to which it gives a value."""
    bindings = scopes.module.names.get(name, [])
    definition = bindings[0].node if len(bindings) == 1 else None
    if isinstance(definition, ast.ClassDef):
        return tuple(filter(None, map(scopes.qualified, definition.bases))), frozenset(scopes.inner[definition].names)
    if name in scopes.imported:
        return (scopes.imported[name],), frozenset()
    return tuple(f"{module}.{name}" for module, _ in scopes.stars), frozenset()
