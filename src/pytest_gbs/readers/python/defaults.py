"""The options that a program has by itself, with their defaults: those of argparse, and names that `configurator.py` overrides."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_gbs.readers.python.configurator import first_override
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Value
from pytest_gbs.readers.python.values import Evaluator


def own_defaults(program: Program) -> Iterator[tuple[str, Value]]:
    """Yield the name of each option of the command line and what it is if the command line does not give it."""
    scopes, evaluator = program.scopes, Evaluator(program)
    yield from evaluator.own_options()
    line = first_override(scopes)
    for name, bindings in scopes.module.names.items() if line else ():
        before = [each for each in bindings if isinstance(each.node, ast.Assign) and each.node.lineno < line]
        if before and before[-1].value is not None:
            agreed = len(before) == 1 and before[0].item < 0 and before[0].branch is None
            yield name, evaluator.value(before[-1].value, scopes.module) if agreed else evaluator.lost(before[-1].value)
