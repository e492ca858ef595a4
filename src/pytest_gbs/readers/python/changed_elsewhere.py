"""What a function changes of a value that others hand to it, followed into other files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final, TypeAlias

from pytest_gbs.model.limits import DEEPEST_EXPRESSION
from pytest_gbs.readers.python.attributes import AttributePath, attribute_path, dotted, given_parameters
from pytest_gbs.readers.python.modules import Defined, Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.scopes import OPEN, Change, Scope, Scopes

_READING: Final = frozenset(("int", "float", "str", "len", "print", "isinstance", "getattr", "hasattr", "max", "min", "repr"))
_Changed: TypeAlias = tuple[ast.expr | ast.stmt, AttributePath, ast.Constant | None]


def changed_elsewhere(name: str, scope: Scope, program: Program, modules: Modules, depth: int = 0) -> Iterator[_Changed]:
    """Yield what may change the value called `name` other than statements of its scope, each with the attribute that it may change.

    With it comes the constant that a function sets that attribute to, if it always does.
    """
    module = program.scopes.module
    if module not in modules.handed_on:
        modules.handed_on[module] = _handed_on(program.scopes)
    for node, path in modules.handed_on[module].get((scope, name), ()):
        function = _callee(node, scope, program, modules) if isinstance(node, ast.Call) and depth < DEEPEST_EXPRESSION else None
        parameters = _parameters(node, (name, *path), function) if isinstance(node, ast.Call) and function is not None else None
        if function is None or parameters is None:
            yield node, path, None
        else:
            for parameter in parameters:
                for inner, constant in _changed_by(function, parameter, modules, depth + 1).items():
                    yield node, (*path, *inner), constant if len(parameters) == 1 else None


def _callee(call: ast.Call, scope: Scope, program: Program, modules: Modules) -> Defined | None:
    """The function that `call` calls, if its text can be found."""
    found = scope.find(call.func.id) if isinstance(call.func, ast.Name) else None
    is_of_module = found is not None and found[0] is program.scopes.module
    return modules.function(call.func.id, program) if is_of_module and isinstance(call.func, ast.Name) else None


def _parameters(call: ast.Call, path: AttributePath, function: Defined) -> list[str] | None:
    """The parameters of `function` that get what is at `path`, None if that is not plain."""
    arguments = function.function.args
    given = given_parameters(call, function.function)
    if given is None:
        return None
    known = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    found = [name for name, value in given if attribute_path(value) == path]
    return [name for name in found if name is not None] if all(name in known for name in found) else None


def _changed_by(defined: Defined, parameter: str, modules: Modules, depth: int) -> dict[AttributePath, ast.Constant | None]:
    """The attributes of `parameter` that a function may change, an empty path if that may be all; with the constant that it always sets."""
    key = defined.function, parameter
    if key not in modules.changed:
        modules.changed[key] = {(): None}  # while it is looked at
        found = sorted(_changes(defined, parameter, modules, depth), key=lambda each: (each[0].lineno, each[0].col_offset))
        modules.changed[key] = _settled(found, ends_once(defined.function))
    return modules.changed[key]


def _settled(found: list[_Changed], runs: bool) -> dict[AttributePath, ast.Constant | None]:
    """What changes leave at each path: a constant, if the function `runs` to its end and nothing changes that, or what is around, later."""
    left: dict[AttributePath, ast.Constant | None] = {}
    around: set[AttributePath] = set()
    for _, path, constant in reversed(found):
        steps = [path[:number] for number in range(len(path) + 1)]
        left.setdefault(path, constant if runs and path not in around and left.keys().isdisjoint(steps) else None)
        around.update(steps)
    return dict(reversed(left.items()))


def _changes(defined: Defined, parameter: str, modules: Modules, depth: int) -> Iterator[_Changed]:
    scope = defined.program.scopes.inner[defined.function]
    if len(scope.names.get(parameter, ())) != 1:
        yield defined.function, (), None
    for change in defined.program.scopes.changes.get(parameter, ()):
        statement, value = change.statement, change.statement.value
        if change.scope is scope:
            path, whole = set_by(change)
            plain = whole and change.branch is None and isinstance(statement, ast.Assign)
            yield statement, path, value if plain and isinstance(value, ast.Constant) else None
        elif change.scope.find(parameter) == (scope, scope.names.get(parameter)):
            yield statement, (), None
    for node, path, constant in changed_elsewhere(parameter, scope, defined.program, modules, depth):
        yield node, path, constant if defined.program.scopes.done.get(node, OPEN) is None else None


def ends_once(function: ast.FunctionDef) -> bool:
    """Whether a function returns at its end alone, so that it always runs to there."""
    return all(each is function.body[-1] for each in ast.walk(function) if isinstance(each, ast.Return))


def _handed_on(scopes: Scopes) -> dict[tuple[Scope, str], list[tuple[ast.expr, AttributePath]]]:
    """What each function gives to a call or calls a method of, by scope and name, with the path below the name."""
    found: dict[tuple[Scope, str], list[tuple[ast.expr, AttributePath]]] = {}
    for call, scope in scopes.calls:
        given = [*call.args, *(each.value for each in call.keywords)]
        if isinstance(call.func, ast.Attribute):
            given.append(call.func.value)
        name = dotted(call.func)
        if name in _READING or name.rpartition(".")[2][:1].isupper():
            continue  # it reads what it gets, or keeps it
        for each in given:
            path = attribute_path(each)
            if path:
                found.setdefault((scope, path[0]), []).append((call, path[1:]))
    for scope in (scopes.module, *scopes.inner.values()):
        for bindings in scope.names.values():
            for binding in bindings:
                path = attribute_path(binding.value) if binding.value is not None else ()
                if path and binding.value is not None:
                    found.setdefault((scope, path[0]), []).append((binding.value, path[1:]))
    return found


def set_by(change: Change) -> tuple[AttributePath, bool]:
    """The attribute that a statement sets, without the name it belongs to, and whether it sets all of it."""
    whole = next((each for each in change.targets if any(node is change.target for node in ast.walk(each))), change.target)
    path, inner = attribute_path(whole), whole
    while not path and isinstance(inner, (ast.Attribute, ast.Subscript)) and inner is not change.target:
        inner = inner.value  # an item: `cfg.trainer.callbacks[0].backend`
        path = attribute_path(inner)
    return path[1:], inner is whole
