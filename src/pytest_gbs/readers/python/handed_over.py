"""Functions and classes of other files that a program starts with the options it parsed, evaluated for what they get."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.location import grouped
from pytest_gbs.readers.python.modules import Bound
from pytest_gbs.readers.python.results import NAMESPACE, Made, Value
from pytest_gbs.readers.python.values import Evaluator

# A class that has one of these makes batches of its own, whatever the arguments say that it makes.
_LOADS: Final = frozenset(("get_train_dataloader", "_get_train_sampler", "get_batch_samples"))


def handed_over(evaluator: Evaluator) -> Iterator[tuple[ast.Call, Evaluator, set[ast.AST]]]:
    """Yield each call that gives options to what another file defines, with what evaluates that file, and the nodes that then may run."""
    modules, scopes = evaluator.modules, evaluator.scopes
    for call, scope in scopes.calls:
        imported = isinstance(scope.bound(call.func), ast.ImportFrom)
        if modules is None or not imported or evaluator.runs(scopes.done.get(call), scope) is False:
            continue
        found = modules.bound(scopes.qualified(call.func), evaluator.program.source.path)
        node = found.program.scopes.module.names[found.name][0].node if found is not None else None
        methods = [each for each in node.body if isinstance(each, ast.FunctionDef)] if isinstance(node, ast.ClassDef) else []
        function = next((each for each in methods if each.name == "__init__"), node)
        if found is None or not isinstance(function, ast.FunctionDef) or not _LOADS.isdisjoint(each.name for each in methods):
            continue
        given = evaluator.arguments(function, call, scope, skipped=1 if methods else 0)
        if any(_is_of_command_line(each, evaluator) for each in given.values()):
            other = Evaluator(found.program, evaluator.line, modules)
            other.left, other.depth = evaluator.left, evaluator.depth
            other.given = other.defaults(function) | {each: evaluator.carried(value) for each, value in given.items()}
            yield call, other, _reached({function, *methods}, found)
            evaluator.left = other.left


def _is_of_command_line(value: Value, evaluator: Evaluator) -> bool:
    options = isinstance(value, Made) and (value.name == NAMESPACE or evaluator.class_of(value) is not None)
    return options or getattr(value, "at", None) is not None


def _reached(nodes: set[ast.AST], file: Bound) -> set[ast.AST]:
    """`nodes`, functions of a file, and those of the file that they call by name, and these in turn."""
    scopes, pending = file.program.scopes, list(nodes)
    called = grouped((scope, call.func.id) for call, scope in scopes.calls if isinstance(call.func, ast.Name))
    while pending:
        names = called.get(scopes.inner[pending.pop()], ())
        new = {each.node for name in names for each in scopes.module.names.get(name, ()) if isinstance(each.node, ast.FunctionDef)} - nodes
        pending += new
        nodes.update(new)
    return nodes
