"""Dictionaries that change other than by items of their names: `part = cfg["a"]; part["b"] = 2`, `override(cfg, args)`."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from typing import Final, TypeAlias

from pytest_gbs.model.limits import DEEPEST_EXPRESSION
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import given_parameters
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.scopes import Scope

CHANGING: Final = frozenset(("update", "pop", "setdefault", "clear", "popitem"))
_Calls: TypeAlias = dict[str, list[tuple[ast.Call, Scope]]]


class Uses(NamedTuple):
    """What a program does with its dictionaries, by their names: methods that change one or a part of it, functions whose result nothing
    takes, and the names that parts get."""

    methods: _Calls
    functions: _Calls
    parts: dict[str, list[tuple[str, Scope]]]


class Changes:
    """What may change the dictionaries of one program, whose `modules` have the functions that it calls.

    `is_constant` says whether what a call is given is known to be a number or a text, which it can't change.
    """

    def __init__(self, program: Program, modules: Modules, is_constant: Callable[[ast.expr, Scope], bool]) -> None:
        self.program, self.scopes, self.modules, self.is_constant = program, program.scopes, modules, is_constant
        if self.scopes.module not in modules.uses:
            modules.uses[self.scopes.module] = _uses(program)
        self.uses: Uses = modules.uses[self.scopes.module]

    def otherwise(self, name: str, scope: Scope, line: int) -> bool:
        """Whether the dictionary that `scope` calls `name` may change before `line` other than by its own items and methods."""
        return self._by_part(name, scope, line, {(scope, name)})

    def at_all(self, name: str, scope: Scope, line: int, seen: set[tuple[Scope, str]]) -> bool:
        """Whether the dictionary that `scope` calls `name` may change before `line`; those `seen` are looked at already."""
        if (scope, name) in seen:
            return False
        seen.add((scope, name))
        if len(seen) > DEEPEST_EXPRESSION:
            return True
        own = (each for each in self.scopes.changes.get(name, ()) if isinstance(each.target, ast.Subscript))
        if any(_is_of(name, each.scope, scope) and each.statement.lineno < line for each in own):
            return True
        methods = self.uses.methods.get(name, ())
        return any(_is_before(each, name, scope, line) for each in methods) or self._by_part(name, scope, line, seen)

    def _by_part(self, name: str, scope: Scope, line: int, seen: set[tuple[Scope, str]]) -> bool:
        """Whether a method of a part changes that, a part has a name by which it is changed, or a function that gets it changes it."""
        methods = (each for each in self.uses.methods.get(name, ()) if not isinstance(_owner(each[0]), ast.Name))
        if any(_is_before(each, name, scope, line) for each in methods):
            return True
        parts = [part for part, where in self.uses.parts.get(name, ()) if where is scope]
        if any(self.at_all(part, scope, line, seen) for part in parts):
            return True
        calls = (each for each in self.uses.functions.get(name, ()) if _is_before(each, name, scope, line))
        return any(self._by_function(call, where, name, seen) for call, where in calls)

    def _by_function(self, call: ast.Call, where: Scope, name: str, seen: set[tuple[Scope, str]]) -> bool:
        assert isinstance(call.func, ast.Name)
        defined = self.modules.function(call.func.id, self.program)
        if defined is None:
            module = self.scopes.imported.get(call.func.id, "")
            if not module or module.partition(".")[0] in sys.stdlib_module_names:
                return False
            parts = (each for each in (*call.args, *(keyword.value for keyword in call.keywords)) if _root(each) == name)
            return not all(self.is_constant(each, where) for each in parts)
        given = given_parameters(call, defined.function)
        parameters = [parameter for parameter, value in given if _root(value) == name] if given is not None else [None]
        if None in parameters:
            return True
        inside, inner = Changes(defined.program, self.modules, _is_unknown), defined.program.scopes.inner[defined.function]
        return any(inside.at_all(each, inner, sys.maxsize, seen) for each in parameters if each is not None)


def _is_unknown(_: ast.expr, __: Scope) -> bool:
    return False


def _uses(program: Program) -> Uses:
    scopes = program.scopes
    uses = Uses({}, {}, {})
    alone = {each.value for each in ast.walk(program.tree) if isinstance(each, ast.Expr)}
    for call, scope in scopes.calls:
        owner = _owner(call)
        if owner is not None and isinstance(call.func, ast.Attribute) and call.func.attr in CHANGING:
            uses.methods.setdefault(_root(owner), []).append((call, scope))
        elif isinstance(call.func, ast.Name) and call in alone:
            for name in {_root(each) for each in (*call.args, *(keyword.value for keyword in call.keywords))}:
                uses.functions.setdefault(name, []).append((call, scope))
    for scope in (scopes.module, *scopes.inner.values()):
        for part, bindings in scope.names.items():
            for name in {_root(each.value) for each in bindings if each.value is not None and each.parameter is None}:
                uses.parts.setdefault(name, []).append((part, scope))
    return uses


def _owner(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def _root(node: ast.AST) -> str:
    """The name that `cfg["train"]`, `cfg.get("train", {})` or `cfg` is a part of; "" if it is anything else."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            node = node.func
            if not isinstance(node, ast.Attribute) or node.attr != "get":
                return ""
        elif not isinstance(node, ast.Subscript):
            return ""
        node = node.value
    return node.id


def _is_before(each: tuple[ast.Call, Scope], name: str, scope: Scope, line: int) -> bool:
    return each[0].lineno < line and _is_of(name, each[1], scope)


def _is_of(name: str, place: Scope, scope: Scope) -> bool:
    """Whether `name` is at `place` the one of `scope`."""
    found = place.find(name)
    return found is not None and found[0] is scope
