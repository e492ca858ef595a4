"""Options of argparse that a program gives other values than its command line does, several at once: those of a file, as a rule."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import Final

from pytest_gbs.model.limits import MOST_BINDINGS, MOST_HANDED_THROUGH
from pytest_gbs.model.location import grouped
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import argument, given_parameters
from pytest_gbs.readers.python.evaluation import Evaluation
from pytest_gbs.readers.python.modules import Defined, Modules
from pytest_gbs.readers.python.results import NAMESPACE, Items, Known, Made, Table
from pytest_gbs.readers.python.scopes import Branch, Scope, Scopes

# What the names of options end with that a program hands on.
_CALLED: Final = ("args", "opt", "opts", "options", "flags", "params", "config", "cfg", "conf", "arguments", "namespace", "settings")
# What must be in the text of a program that fills its options itself.
_SIGNS: Final = ("setattr", "__dict__", "vars(", "set_defaults", "namespace", "._actions")
_PARSING: Final = ("parse_args", "parse_known_args", "parse_intermixed_args")


class Filling(NamedTuple):
    """A statement in `branch` of `scope` that fills what `filled` is in the scope `of`, at the one or more `keys`."""

    filled: ast.expr
    of: Scope
    keys: ast.expr
    branch: Branch | None
    scope: Scope


class FilledOptions(Evaluation):
    """Which options one program fills itself."""

    def fills(self, option: str) -> bool:
        """Whether the program may give `option` another value together with others: `for key in more: setattr(args, key, more[key])`."""
        if self.filled is None and self.is_filling:
            self.looking.lowest = -1  # what decides about it is asked for before anything is filled
            return False
        if self.filled is None:
            self.is_filling = True
            own = self._filled() if any(sign in self.program.text for sign in _SIGNS) else ()
            self.filled = {*own, *self._filled_elsewhere()}
        return option in self.filled or ... in self.filled

    def _filled(self) -> Iterator[object]:
        """Yield the names of the options that the program fills; an ellipsis if it may be any."""
        for call, scope in self.scopes.called.get("set_defaults", ()):
            further = [each.value for each in call.keywords if each.arg is None]
            for keys in further if self._may_run(self.scopes.done.get(call), scope) else ():
                yield from self._keys(keys, scope)
        for call, scope in (each for name in _PARSING for each in self.scopes.called.get(name, ())):
            given = argument(call, "namespace", position=1)
            if given is not None and getattr(self.value(given, scope), "value", ...) is not None:
                yield ...
        if "._actions" in self.program.text:
            yield ...
        for filling in fillings(self.scopes):
            if self._is_options(filling.filled, filling.of) and self._may_run(filling.branch, filling.scope):
                yield from self._keys(filling.keys, filling.scope)

    def _filled_elsewhere(self) -> Iterator[object]:
        """Yield what functions of other files fill of the options that they get."""
        modules = self.modules
        if modules is None:
            return
        elsewhere, known = _Elsewhere(modules), dict[tuple[str, Scope], bool]()
        for call, scope in self.scopes.calls:
            named = [each for each in _given(call) if each.id.lower().endswith(_CALLED)]
            for each in named:
                if (each.id, scope) not in known:
                    known[each.id, scope] = self._is_options(each, scope)
            given = {each.id for each in named if known[each.id, scope]}
            defined = modules.called(call, self.program) if given else None
            if defined is not None and defined.program is not self.program and self._may_run(self.scopes.done.get(call), scope):
                for name in _parameters(call, given, defined):
                    yield from elsewhere.filled(defined, name, MOST_HANDED_THROUGH)

    def _is_options(self, node: ast.expr, scope: Scope) -> bool:
        value = self.value(node, scope)
        return isinstance(value, Made) and value.name == NAMESPACE

    def _keys(self, node: ast.expr, scope: Scope) -> Iterator[object]:
        """Yield the keys that `node` is or has, or goes through in a loop; an ellipsis if they are not known."""
        found = scope.binding(node)
        loop = found[1].node if found is not None else None
        if isinstance(loop, (ast.For, ast.comprehension)):
            node = loop.iter.func.value if isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute) else loop.iter
        value = self.value(node, scope)
        if isinstance(value, (Known, Items)):
            yield from (each.value if isinstance(each, Known) else ... for each in (value.items if isinstance(value, Items) else (value,)))
        elif isinstance(value, Table) and value.rest is None:
            yield from value.entries
        else:
            yield ...

    def _may_run(self, branch: Branch | None, scope: Scope, left: int = MOST_HANDED_THROUGH) -> bool:
        """Whether what is in `branch` of `scope` may run: not if no call of the function does."""
        if self.runs(branch, scope) is False:
            return False
        if scope.class_around is not None:
            return True
        calls = self.scopes.called.get(getattr(scope.node, "name", ""), ())[:MOST_BINDINGS] if left else ()
        around = [self._may_run(self.scopes.done.get(call), where, left - 1) for call, where in calls]
        return any(around) if around else True


class _Elsewhere:
    """What functions fill of the options that they get, each looked at once."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.seen: set[tuple[ast.AST, str]] = set()
        self.fillings: dict[Scope, dict[Scope, list[Filling]]] = {}  # of each program, by its functions
        self.calls: dict[Scope, dict[Scope, list[ast.Call]]] = {}

    def filled(self, defined: Defined, parameter: str, left: int) -> Iterator[object]:
        """Yield what a function fills of the options that `parameter` is, itself or by others to which it hands them on."""
        if (defined.function, parameter) in self.seen:
            return
        self.seen.add((defined.function, parameter))
        scopes = defined.program.scopes
        scope = scopes.inner[defined.function]
        if scopes.module not in self.fillings:
            fills = any(sign in defined.program.text for sign in _SIGNS)
            self.fillings[scopes.module] = grouped((each.of, each) for each in fillings(scopes)) if fills else {}
            self.calls[scopes.module] = grouped((where, call) for call, where in scopes.calls)
        for each in self.fillings[scopes.module].get(scope, ()):
            if isinstance(each.filled, ast.Name) and each.filled.id == parameter:
                yield each.keys.value if isinstance(each.keys, ast.Constant) else ...
        for call in self.calls[scopes.module].get(scope, ()) if left else ():
            further = self.modules.called(call, defined.program) if any(each.id == parameter for each in _given(call)) else None
            if further is not None:
                for name in _parameters(call, (parameter,), further):
                    yield from self.filled(further, name, left - 1)


def _given(call: ast.Call) -> Iterator[ast.Name]:
    """Yield the names that `call` is given."""
    given = (*call.args, *(each.value for each in call.keywords))
    return (each for each in given if isinstance(each, ast.Name))


def _parameters(call: ast.Call, names: Container[str], defined: Defined) -> Iterator[str]:
    """Yield the parameters of a function as which `call` gives it one of `names`."""
    for name, each in given_parameters(call, defined.function) or ():
        if name is not None and isinstance(each, ast.Name) and each.id in names:
            yield name


def fillings(scopes: Scopes) -> Iterator[Filling]:
    """Yield what the program fills of anything by other means than its name: `setattr`, and the dictionary of its attributes."""
    for call, scope in scopes.called.get("setattr", ()):
        if len(call.args) > 1:
            yield Filling(call.args[0], scope, call.args[1], scopes.done.get(call), scope)
    for call, scope in scopes.called.get("__setattr__", ()):
        if isinstance(call.func, ast.Attribute) and call.args:
            yield Filling(call.func.value, scope, call.args[0], scopes.done.get(call), scope)
    for call, scope in scopes.called.get("update", ()):
        found = _of_dictionary(call.func.value, scope) if isinstance(call.func, ast.Attribute) else None
        named = (each.value if each.arg is None else ast.copy_location(ast.Constant(each.arg), call) for each in call.keywords)
        yield from (Filling(*found, keys, scopes.done.get(call), scope) for keys in (*call.args, *named)) if found is not None else ()
    for change in (each for changes in scopes.changes.values() for each in changes):
        for target in change.targets:
            found = _of_dictionary(target.value, change.scope) if isinstance(target, ast.Subscript) else None
            if found is not None and isinstance(target, ast.Subscript):
                yield Filling(*found, target.slice, change.branch, change.scope)


def _of_dictionary(node: ast.expr, scope: Scope) -> tuple[ast.expr, Scope] | None:
    """Of what `node` is the dictionary of attributes, `vars(args)` or `args.__dict__`, or a name of that; None if it is none."""
    found = scope.binding(node)
    if found is not None and found[1].value is not None and found[1].item < 0:
        node, scope = found[1].value, found[0]
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        return node.value, scope
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars" and len(node.args) == 1:
        return node.args[0], scope
    return None
