"""What a module sets of configurations that it takes from elsewhere, as for detectron2's LazyConfig: `train.max_iter = 90`."""

from __future__ import annotations

import ast

from pytest_gbs.readers.python.attributes import attribute_path
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Entry, Lost, Table, put, value_below
from pytest_gbs.readers.python.values import Evaluator


def set_of_others(program: Program, evaluator: Evaluator) -> dict[str, Entry]:
    """The attributes that statements of the module set of names that it imports or gets from calls, as tables in each other.

    An attribute that is set twice, or only sometimes, is lost.
    """
    found = Table({}, 0, 0)
    for name, changes in program.scopes.changes.items():
        for change in changes:
            statement, targets = change.statement, change.targets
            path = attribute_path(targets[0]) if len(targets) == 1 else ()
            if change.scope is not program.scopes.module or path[:1] != (name,) or statement.value is None:
                continue
            plain = change.branch is None and isinstance(statement, ast.Assign)
            value = evaluator.value(statement.value, program.scopes.module) if plain else evaluator.lost(statement.value)
            at = program.span(targets[0])
            put(found, path, at, value if value_below(found, path) is None else Lost(*at))
    return found.entries
