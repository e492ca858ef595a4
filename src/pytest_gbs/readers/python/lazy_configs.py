"""What a module sets of configurations that it takes from elsewhere, as for detectron2's LazyConfig: `train.max_iter = 90`."""

from __future__ import annotations

import ast

from pytest_gbs.readers.python.attributes import attribute_path
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Entry, Lost, Table, Value
from pytest_gbs.readers.python.scopes import Scopes
from pytest_gbs.readers.python.values import Evaluator


def set_of_others(program: Program, scopes: Scopes, evaluator: Evaluator) -> dict[str, Entry]:
    """The attributes that statements of the module set of names that it imports or gets from calls, as tables in each other.

    An attribute that is set twice, or only sometimes, is lost.
    """
    found: dict[str, Entry] = {}
    for name, changes in scopes.changes.items():
        for change in changes:
            statement = change.statement
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            path = attribute_path(targets[0]) if len(targets) == 1 else ()
            if change.scope is not scopes.module or path[:1] != (name,) or statement.value is None:
                continue
            plain = change.branch is None and isinstance(statement, ast.Assign)
            value = evaluator.value(statement.value, scopes.module) if plain else evaluator.lost(statement.value)
            _put(found, path, value, program.span(targets[0]))
    return found


def _put(entries: dict[str, Entry], path: tuple[str, ...], value: Value, at: tuple[int, int]) -> None:
    for name in path[:-1]:
        inner = entries.setdefault(name, (at, Table({}, *at)))[1]
        if not isinstance(inner, Table):
            return
        entries = inner.entries
    entries[path[-1]] = (at, Lost(*at) if path[-1] in entries else value)
