"""The classes into which a program parses its command line, and what they are made from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.readers.python.scopes import Scopes

_PARSERS: Final = ("HfArgumentParser", "TrlParser", "H4ArgumentParser")


def parsed_classes(scopes: Scopes) -> Iterator[str]:
    """Yield the names, as imported, of the classes that a program hands to a parser of transformers or TRL."""
    for call, _ in scopes.calls:
        if not scopes.qualified(call.func).endswith(_PARSERS):
            continue
        given = (*call.args, *(each.value for each in call.keywords if each.arg == "dataclass_types"))[:1]
        for each in given:
            several = each.elts if isinstance(each, (ast.Tuple, ast.List)) else [each]
            yield from filter(None, map(scopes.qualified, several))


def bases(scopes: Scopes, name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The names of what the class `name` of a module is made from, or imported as, and the fields to which it gives a value."""
    bindings = scopes.module.names.get(name, [])
    definition = bindings[0].node if len(bindings) == 1 else None
    if isinstance(definition, ast.ClassDef):
        return tuple(filter(None, map(scopes.qualified, definition.bases))), frozenset(scopes.inner[definition].names)
    if name in scopes.imported:
        return (scopes.imported[name],), frozenset()
    return tuple(f"{module}.{name}" for module, _ in scopes.stars), frozenset()
