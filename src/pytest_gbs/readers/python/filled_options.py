"""Options of argparse that a program gives other values than its command line does, several at once: those of a file, as a rule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Final

from pytest_gbs.model.limits import MOST_BINDINGS, MOST_EVALUATED, MOST_HANDED_THROUGH
from pytest_gbs.model.location import grouped
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import argument, attribute_path, given_parameters
from pytest_gbs.readers.python.evaluation import Evaluation
from pytest_gbs.readers.python.modules import Defined, Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import NAMESPACE, Items, Known, Made, Table
from pytest_gbs.readers.python.scopes import Branch, Scope

# Functions that run a function with the flags of the command line as its arguments.
RUNS: Final = frozenset(
    ("fire.Fire", "Fire", "typer.run", "tyro.cli", "defopt.run", "CLI", "jsonargparse.CLI", "jsonargparse.cli.CLI", "jsonargparse.auto_cli")
)
# What the names of options end with that a program hands on.
_CALLED: Final = ("args", "opt", "opts", "options", "flags", "params", "config", "cfg", "conf", "arguments", "namespace", "settings")
# What must be in the text of a program that fills anything.
_SIGNS: Final = ("setattr", "__dict__", "vars(")
_SETTERS: Final = ("set_training", "set_dataloader")  # of TrainingArguments (transformers training_args.py)
TRAINER_SIZES: Final = frozenset(("per_device_train_batch_size", "gradient_accumulation_steps"))
"""The arguments of a trainer that its setters set."""
_REPLACE: Final = "dataclasses.replace"  # the one that it makes trains in place of the one that it gets
FLAGS: Final = "--"
"""Stands for all attributes that the command line may give, which it hands to a function with `**flags`."""
_FURTHER: Final = "**"  # for those of the keywords that a function gets and sets
_PARSING: Final = ("parse_args", "parse_known_args", "parse_intermixed_args")


class Filling(NamedTuple):
    """A statement in `branch` of `scope` that fills what `filled` is in the scope `of`, at the one or more `keys`."""

    filled: ast.expr
    of: Scope
    keys: ast.expr
    branch: Branch | None
    scope: Scope


class _Continued(NamedTuple):
    """An attribute that is computed from what it was."""

    attribute: str


class FilledOptions(Evaluation):
    """Which options one program fills itself."""

    def fills(self, option: str, *, anew: bool = False) -> bool:
        """Whether the program may give `option` another value together with others: `for key in more: setattr(args, key, more[key])`.

        With `anew` only what does not follow from the option's own value counts.
        """
        if self.filled is None and self.is_filling:
            self.looking.lowest = -1  # what decides about it is asked for before anything is filled
            return False
        if self.filled is None:
            self.is_filling = True
            self.filled = set(_up_to_any(chain(self._filled(), self._filled_elsewhere())))
        return not self.filled.isdisjoint((option, ...) if anew else (option, ..., _Continued(option)))

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
        for filling in self._all_fillings:
            if self._is_options(filling.filled, filling.of) and self._may_run(filling.branch, filling.scope):
                yield from self._keys(filling.keys, filling.scope)

    def _filled_elsewhere(self) -> Iterator[object]:
        """Yield what functions of other files set of the options that they get."""
        for call, scope in self.scopes.calls if self.modules is not None else ():
            here = isinstance(scope.bound(call.func), ast.FunctionDef)  # what it sets is seen where it is
            for each in _given(call) if not here else ():
                is_options = each.id.lower().endswith(_CALLED) and self._is_options(each, scope)
                if is_options and self._may_run(self.scopes.done.get(call), scope):
                    yield from self._functions.sets(call, each.id, self.program)

    def set_otherwise(self, name: str, scope: Scope) -> set[object]:
        """The attributes that the program sets of what `scope` calls `name`, but for statements that name them; an ellipsis: any."""
        key = _owner(name, scope), name
        if key not in self.otherwise:
            self.otherwise[key] = None  # while it is looked at
            self.otherwise[key] = set(_up_to_any(self._set_otherwise(name, key[0])))
        found = self.otherwise[key]
        if found is None:
            self.looking.lowest = -1  # what decides about it is asked for before anything is set
        return found or set()

    def _set_otherwise(self, name: str, scope: Scope) -> Iterator[object]:
        if name in self._with_setters:
            yield from TRAINER_SIZES
        for filling in self._fillings.get((scope, name), ()):
            if self._may_run(filling.branch, filling.scope):
                yield from self._keys(filling.keys, filling.scope)
        for call, where in self._handing.get((scope, name), ()):
            if self.scopes.qualified(call.func) == _REPLACE:
                yield from (each.arg if each.arg is not None else ... for each in call.keywords)
            for each in self._functions.sets(call, name, self.program) if self.modules is not None else ():
                if each == _FURTHER:
                    yield from self._further_names(call, where)
                else:
                    yield each.attribute if isinstance(each, _Continued) else each

    def _further_names(self, call: ast.Call, scope: Scope) -> Iterator[object]:
        """Yield the names of the keywords of `call`, `FLAGS` for those of the command line, and an ellipsis for any others."""
        for each in call.keywords:
            found = scope.binding(each.value) if each.arg is None else None
            function = found[1].parameter if found is not None else None
            is_command = function is not None and found is not None and found[1].node is function.args.kwarg
            yield each.arg or (FLAGS if is_command and function is not None and function.name in self.commands else ...)

    @cached_property
    def commands(self) -> frozenset[str]:
        """The functions that are handed to a library which makes a command line of them."""
        runners = (call for call, _ in self.scopes.calls if self.scopes.qualified(call.func) in RUNS)
        return frozenset(each.id for call in runners for each in call.args if isinstance(each, ast.Name))

    @cached_property
    def _with_setters(self) -> set[str]:
        """The names of which the program calls a setter of the trainer's arguments."""
        calls = (call for setter in _SETTERS for call, _ in self.scopes.called.get(setter, ()))
        return {attribute_path(call.func)[0] for call in calls if len(attribute_path(call.func)) == 2}

    @cached_property
    def _functions(self) -> _Functions:
        assert self.modules is not None, "nothing is looked for in other files"
        return _Functions(self.modules)

    @cached_property
    def _fillings(self) -> dict[tuple[Scope, str], list[Filling]]:
        return grouped(
            ((_owner(name.id, each.of), name.id), each) for each in self._all_fillings for name in _gone_through(each.filled, each.of)
        )

    @cached_property
    def _all_fillings(self) -> list[Filling]:
        return list(_fillings(self.program))

    @cached_property
    def _handing(self) -> dict[tuple[Scope, str], list[tuple[ast.Call, Scope]]]:
        return grouped(((_owner(each.id, scope), each.id), (call, scope)) for call, scope in self.scopes.calls for each in _given(call))

    def _is_options(self, node: ast.expr, scope: Scope) -> bool:
        name = node.id if isinstance(node, ast.Name) else node
        if (name, scope) not in self.are_options:
            value = self.value(node, scope)
            self.are_options[name, scope] = isinstance(value, Made) and value.name == NAMESPACE
        return self.are_options[name, scope]

    def _keys(self, node: ast.expr, scope: Scope) -> Iterator[object]:
        """Yield the keys that `node` is or has, or goes through in a loop; an ellipsis if they are not known."""
        value = self.value(_iterated(node, scope) or node, scope)
        if isinstance(value, (Known, Items)):
            yield from (each.value if isinstance(each, Known) else ... for each in (value.items if isinstance(value, Items) else (value,)))
        elif isinstance(value, Table) and value.rest is None:
            yield from value.entries
        else:
            yield ...

    def _may_run(self, branch: Branch | None, scope: Scope, left: int = MOST_HANDED_THROUGH) -> bool:
        """Whether what is in `branch` of `scope` may run: not if no call of the function does."""
        return self.runs(branch, scope) is not False and (scope.class_around is not None or self._is_called(scope, left))

    def _is_called(self, scope: Scope, left: int) -> bool:
        """Whether a call of the function of `scope` may run; also where none is known."""
        if (scope, left) not in self.called:
            name = getattr(scope.node, "name", None)  # a module and a lambda have none
            calls = self.scopes.called.get(name, ()) if left and name is not None else ()
            runs = (self._may_run(self.scopes.done.get(call), where, left - 1) for call, where in calls[:MOST_BINDINGS])
            self.called[scope, left] = not calls or any(runs) or len(calls) > MOST_BINDINGS
        return self.called[scope, left]


def _up_to_any(found: Iterator[object]) -> Iterator[object]:
    """Yield what was `found` up to the first ellipsis: nothing else counts then."""
    for each in found:
        yield each
        if each is ...:
            return


class _Functions:
    """What functions set of the object that they get, each looked at once."""

    def __init__(self, modules: Modules) -> None:
        self.modules = modules
        self.found: dict[tuple[ast.AST, str], set[object]] = {}
        self.fillings: dict[Scope, dict[Scope, list[Filling]]] = {}  # of each program, by its functions
        self.calls: dict[Scope, dict[Scope, list[ast.Call]]] = {}
        self.left = MOST_EVALUATED  # attributes; functions beyond them may set any

    def sets(self, call: ast.Call, name: str, program: Program, left: int = MOST_HANDED_THROUGH) -> set[object]:
        """The attributes that the function which gets `name` from `call` sets, itself or by others; an ellipsis if it may be any."""
        defined = self.modules.called(call, program)
        given = given_parameters(call, defined.function) if defined is not None else None
        if defined is None or given is None:
            return set()
        parameters = [parameter for parameter, each in given if parameter is not None and any(name == inner.id for inner in _names(each))]
        found = {each for parameter in parameters for each in self._set_by(defined, parameter, left)}
        self.left -= len(found)
        return found if self.left >= 0 else {...}

    def _set_by(self, defined: Defined, parameter: str, left: int) -> set[object]:
        key = defined.function, parameter
        if key not in self.found:
            self.found[key] = set()  # while it is looked at
            self.found[key] = set(self._changes(defined, parameter, left))
        return self.found[key]

    def _changes(self, defined: Defined, parameter: str, left: int) -> Iterator[object]:
        scopes = defined.program.scopes
        scope = scopes.inner[defined.function]
        if scopes.module not in self.fillings:
            self.fillings[scopes.module] = grouped((each.of, each) for each in _fillings(defined.program))
            self.calls[scopes.module] = grouped((where, call) for call, where in scopes.calls)
        for change in scopes.changes.get(parameter, ()):
            if change.scope is scope and isinstance(change.target, ast.Attribute):
                attribute = change.target.attr
                yield _Continued(attribute) if change.continues(attribute) else attribute
        for each in self.fillings[scopes.module].get(scope, ()):
            if any(name.id == parameter for name in _gone_through(each.filled, scope)):
                further = defined.function.args.kwarg
                all_further = further is not None and any(name.id == further.arg for name in _gone_through(_whole(each.keys, scope), scope))
                yield each.keys.value if isinstance(each.keys, ast.Constant) else _FURTHER if all_further else ...
        for call in self.calls[scopes.module].get(scope, ()) if left else ():
            if any(each.id == parameter for each in _given(call)):
                yield from self.sets(call, parameter, defined.program, left - 1)


def _given(call: ast.Call) -> Iterator[ast.Name]:
    """Yield the names that `call` is given, by themselves or together: `fill((train, data), more)`."""
    return (name for each in (*call.args, *(each.value for each in call.keywords)) for name in _names(each))


def _names(node: ast.expr) -> Iterator[ast.Name]:
    """Yield the name that `node` is, or those of a list."""
    return (each for each in (node.elts if isinstance(node, (ast.Tuple, ast.List)) else (node,)) if isinstance(each, ast.Name))


def _gone_through(node: ast.expr, scope: Scope) -> Iterator[ast.Name]:
    """Yield the names that `node` is, or those which a loop goes through that gives it its name: `for each in (train, data)`."""
    iterated = _iterated(node, scope)
    yield from (*_names(node), *(_names(iterated) if iterated is not None else ()))


def _iterated(node: ast.expr, scope: Scope) -> ast.expr | None:
    """What a loop goes through that gives `node` its name, `items` of it included; None if no loop does."""
    found = scope.binding(node)
    loop = found[1].node if found is not None else None
    if not isinstance(loop, (ast.For, ast.comprehension)):
        return None
    return loop.iter.func.value if isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute) else loop.iter


def _whole(node: ast.expr, scope: Scope) -> ast.expr:
    """What `node` is a part of, `section, key = name.split(".")`, or `node` itself."""
    found = scope.binding(node)
    made = found[1].value if found is not None else None
    return made.func.value if isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr == "split" else node


def _owner(name: str, scope: Scope) -> Scope:
    """The scope that binds what `scope` calls `name`."""
    found = scope.find(name)
    return found[0] if found is not None else scope


def _fillings(program: Program) -> Iterator[Filling]:
    """Yield what the program fills of anything by other means than its name: `setattr`, and the dictionary of its attributes."""
    if not any(sign in program.text for sign in _SIGNS):
        return
    scopes = program.scopes
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
