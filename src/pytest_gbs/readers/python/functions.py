"""Functions that make a configuration and return it: `cfg.train.global_batch_size = 512`, one statement after the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.limits import MOST_DOCUMENTS
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator, Lost, Made, Table

_READING: Final = frozenset(("int", "float", "str", "len", "print", "isinstance", "getattr", "hasattr", "max", "min", "repr"))


def configurations(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield each function that returns what it sets attributes of, or what the call of a class makes, with what it set.

    What it starts from may set more, so that a key that is absent is unknown.
    """
    handed = _handed_on(scopes)
    found = [(node, scope) for node, scope in scopes.inner.items() if isinstance(node, ast.FunctionDef) and len(scope.returned) == 1]
    for node, scope in found[:MOST_DOCUMENTS]:
        (returned,) = scope.returned
        if isinstance(returned, str):
            table = _changed(returned, scope, scopes, evaluator, handed.get((scope, returned), []))
        else:
            table = _made(returned, scope, evaluator)
        if table is not None and table.entries:
            yield node, table


def _changed(name: str, scope: Scope, scopes: Scopes, evaluator: Evaluator, handed: list[tuple[ast.expr, list[str]]]) -> Table | None:
    """The attributes of `name` at the end of its function; what is handed on to somebody who may change it is lost."""
    bindings = scope.names.get(name, [])
    changes = [each for each in scopes.changes.get(name, ()) if each.scope is scope]
    if len(bindings) != 1 or bindings[0].value is None or bindings[0].branch or bindings[0].item >= 0 or bindings[0].parameter is not None:
        return None
    table = _made(bindings[0].value, scope, evaluator) or Table(
        {}, *evaluator.program.span(bindings[0].value), evaluator.lost(bindings[0].value)
    )
    events: list[tuple[int, ast.AST, list[str], bool]] = [(node.lineno, node, path, True) for node, path in handed]
    for statement, branch in ((each.statement, each.branch) for each in changes):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        paths = (_path(target) for target in targets)
        known = isinstance(statement, ast.Assign) and not branch
        events.extend((statement.lineno, statement, path[1:], not known) for path in paths if path is not None and path[0] == name)
    events.sort(key=lambda event: event[0])
    last = {tuple(path): node for _, node, path, is_lost in events if is_lost}  # what is lost twice is lost
    for _, node, path, is_lost in events:
        if is_lost and last[tuple(path)] is node:
            _lose(table, path, Lost(*evaluator.program.span(node)))  # type: ignore[arg-type]
        elif not is_lost and isinstance(node, ast.Assign):
            place = evaluator.program.span(node.targets[0])
            _put(table, path, place, evaluator.value(node.value, scope))
    return table


def _made(node: ast.AST, scope: Scope, evaluator: Evaluator) -> Table | None:
    """The arguments of the class that `node` calls, open for its defaults."""
    made = evaluator.value(node, scope) if isinstance(node, ast.Call) else None
    return made.arguments._replace(rest=Lost(made.start, made.stop)) if isinstance(made, Made) else None


def dotted(node: ast.AST) -> str:
    """The text of a name or an attribute of one, `args.max_train_steps`; "" if it is anything else."""
    return ".".join(_path(node) or ())


def _path(node: ast.AST) -> list[str] | None:
    """The names of `cfg.train.global_batch_size`, None if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else None


def _put(table: Table, path: list[str], place: tuple[int, int], value: object) -> None:
    for key in path[:-1]:
        _, inner = table.entries.get(key, (place, None))
        if isinstance(inner, Made):
            inner = inner.arguments
        if not isinstance(inner, Table):
            inner = Table({}, *place)
        table.entries[key] = place, inner
        table = inner
    table.entries[path[-1]] = place, value  # type: ignore[assignment]


def _lose(table: Table, path: list[str], lost: Lost) -> None:
    """Make all that is known below `path` unknown."""
    for key in path[:-1]:
        inner = table.entries.get(key, (None, None))[1]
        inner = inner.arguments if isinstance(inner, Made) else inner
        if not isinstance(inner, Table):
            return
        table = inner
    for key in path[-1:] or list(table.entries):
        if key in table.entries:
            place, inner = table.entries[key]
            inner = inner.arguments if isinstance(inner, Made) else inner
            if isinstance(inner, Table):
                _lose(inner, [], lost)
            else:
                table.entries[key] = place, lost


def _handed_on(scopes: Scopes) -> dict[tuple[Scope, str], list[tuple[ast.expr, list[str]]]]:
    """What each function gives to a call or calls a method of, by scope and name, with the path below the name."""
    found: dict[tuple[Scope, str], list[tuple[ast.expr, list[str]]]] = {}
    for call, scope in scopes.calls:
        given = [*call.args, *(each.value for each in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        elif isinstance(call.func, ast.Name) and call.func.id in _READING:
            continue
        for each in given:
            path = _path(each)
            if path is not None:
                found.setdefault((scope, path[0]), []).append((call, path[1:]))
    for scope in scopes.inner.values():
        for bindings in scope.names.values():
            for binding in bindings:
                path = _path(binding.value) if binding.value is not None else None
                if path is not None and binding.value is not None:
                    found.setdefault((scope, path[0]), []).append((binding.value, path[1:]))
    return found
