"""Parameters of functions, by the calls in the program, and what functions return."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Final

from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.readers.python.attributes import is_unpacked
from pytest_gbs.readers.python.expressions import Expressions
from pytest_gbs.readers.python.options import destinations
from pytest_gbs.readers.python.results import CONFIGURATION, NAMESPACE, Lost, Made, Table, Value
from pytest_gbs.readers.python.scopes import Binding, Function, Scope

# What starts a function in several processes, with the number of arguments that it gives it by itself: the rank.
_SPAWNS: Final = {
    "torch.multiprocessing.spawn": 1,
    "torch_xla.distributed.xla_multiprocessing.spawn": 1,
    "accelerate.notebook_launcher": 0,
    "accelerate.launchers.notebook_launcher": 0,
}
_CACHES: Final = frozenset(("functools.cache", "functools.lru_cache"))
_FACTORIES: Final = frozenset(("nemo_run.cli.factory", "nemo_run.factory"))


class Parameters(Expressions):
    """The values of the parameters of one program."""

    def _parameter(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        """What a parameter is: its default if a command line runs the function, else what all calls in the file give."""
        function = binding.parameter
        assert function is not None and isinstance(binding.node, ast.arg)
        if binding.node in self.given:
            return self.given[binding.node]
        option = self._decorated(function, binding.node.arg) or self._hydra(binding, function, node)
        if option is not None:
            return option
        around = scope.parent
        if around is not None and any(self._is_factory(each) for each in function.decorator_list):
            return self.value(binding.value, around) if binding.value is not None else self.lost(node)
        if around is None or around.names.get(function.name, [None])[0] is None or len(around.names[function.name]) > 1:
            return self.lost(node)
        if isinstance(around.node, ast.ClassDef):
            return self._of_instance(binding, function, around, node)
        named = (each for each in self.scopes.called.get(function.name, ()) if isinstance(each[0].func, ast.Name))
        calls = [*islice(named, MOST_BINDINGS + 1), *self._spawned(function.name)]
        if self._is_command(function):
            default = self._default(binding.value, around) if binding.value is not None else self.lost(node)
            by_place = isinstance(binding.value, ast.Call) and self.scopes.qualified(binding.value.func) == "typer.Argument"
            given = self.from_command_line((binding.node.arg,), default, node, by_place=by_place)
            calls = calls[:MOST_BINDINGS]
            handed = (self._argument(call, where, binding, around) for call, where in calls)
            return self._agreed(chain((given,), handed), 1 + len(calls), node)
        runs = function.name in self.commands
        if runs and not calls:
            default = self._default(binding.value, around) if binding.value is not None else self.lost(node)
            return self.from_command_line((binding.node.arg,), default, node, by_place=True)
        if not calls and self._handles_options(binding.node, function):
            return Made(NAMESPACE, Table({}, *self.program.span(node)), None, *self.program.span(node))
        if runs or not calls or len(calls) > MOST_BINDINGS:
            return self.lost(node)
        return self._agreed((self._argument(call, where, binding, around) for call, where in calls), len(calls), node)

    def _spawned(self, name: str) -> Iterator[tuple[ast.Call, Scope]]:
        """Yield what calls the function `name` in processes of its own: `spawn(name, args=(a, b))` is `name(rank, a, b)`."""
        for call, scope in (each for method in ("spawn", "notebook_launcher") for each in self.scopes.called.get(method, ())):
            ranks = _SPAWNS.get(self.scopes.qualified(call.func))
            started = {each.arg: each.value for each in call.keywords} | dict(zip(("fn", "args"), call.args, strict=False))
            function, given = started.get("fn", started.get("function")), started.get("args", ast.Tuple([], ast.Load()))
            if ranks is not None and isinstance(function, ast.Name) and function.id == name:
                # What stands for the rank is the function itself, whose value is not known either.
                own: list[ast.expr] = [function] * ranks
                own += given.elts if isinstance(given, ast.Tuple) else [ast.Starred(given, ast.Load())]
                yield ast.copy_location(ast.Call(function, own, []), call), scope

    def _handles_options(self, parameter: ast.arg, function: Function) -> bool:
        """Whether a function that nothing here calls gets what argparse gives: `sub.set_defaults(func=train)`, and `args.func(args)`."""
        if function.args.args[:1] != [parameter]:
            return False
        set_later = (each.value for call, _ in self.scopes.called.get("set_defaults", ()) for each in call.keywords)
        return any(isinstance(each, ast.Name) and each.id == function.name for each in set_later)

    def _of_instance(self, binding: Binding, function: Function, around: Scope, node: ast.expr) -> Value:
        """What a parameter of `__init__` is: what all calls of the class in the file give."""
        assert isinstance(around.node, ast.ClassDef)
        made = self.scopes.called.get(around.node.name, ()) if function.name == "__init__" else ()
        calls = [each for each in made if isinstance(each[0].func, ast.Name)]
        if not calls or len(calls) > MOST_BINDINGS or self._is_made_otherwise(around.node.name):
            return self.lost(node)
        return self._agreed((self._argument(call, where, binding, around, skipped=1) for call, where in calls), len(calls), node)

    def _argument(self, call: ast.Call, where: Scope, binding: Binding, around: Scope, skipped: int = 0) -> Value:
        """What `call` gives for one parameter of a function, whose first `skipped` ones it does not give."""
        function = binding.parameter
        assert isinstance(binding.node, ast.arg) and function is not None
        if binding.node is function.args.kwarg:
            return self._further(call, where, function)
        named = next((each.value for each in call.keywords if each.arg == binding.node.arg), None)
        if named is not None:
            return self.value(named, where)
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)][skipped:]
        number = names.index(binding.node.arg) if binding.node.arg in names else len(call.args)
        if any(isinstance(each, ast.Starred) for each in call.args[: number + 1]):
            return self.lost(call)
        if number < len(call.args):
            return self.value(call.args[number], where)
        for spread in (each.value for each in call.keywords if each.arg is None):
            found = self._spread_to(binding.node.arg, spread, where)
            if found is not None:
                return found
        return self.value(binding.value, around) if binding.value is not None else self.lost(call)

    def _further(self, call: ast.Call, where: Scope, function: Function) -> Table:
        """The keywords of `call` that `**kwargs` of a function takes: those of which it has no parameter."""
        own = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
        table = self.keywords(call, where)
        return table._replace(entries={name: entry for name, entry in table.entries.items() if name not in own})

    def arguments(self, function: ast.FunctionDef, call: ast.Call, scope: Scope, skipped: int = 0) -> dict[ast.AST, Value]:
        """What `call` gives for the parameters of a function of another file but the first `skipped`, by parameter.

        All are lost if it unpacks something.
        """
        plain = [*function.args.posonlyargs, *function.args.args][skipped:]
        by_name = {each.arg: each for each in (*plain, *function.args.kwonlyargs)}
        if is_unpacked(call) or any(each.arg is None for each in call.keywords):
            return {each: self.lost(call) for each in by_name.values()}
        given: dict[ast.AST, Value] = {node: self.value(each, scope) for node, each in zip(plain, call.args, strict=False)}
        if function.args.kwarg is not None:
            further = {each.arg: (self.name_of(each, call), self.value(each.value, scope)) for each in call.keywords if each.arg}
            given[function.args.kwarg] = Table({k: v for k, v in further.items() if k not in by_name}, *self.program.span(call))
        named = {by_name[each.arg]: each.value for each in call.keywords if each.arg in by_name}
        return given | {node: self.value(each, scope) for node, each in named.items()}

    def own_arguments(self, function: ast.FunctionDef, call: ast.Call, scope: Scope) -> dict[ast.AST, Value] | None:
        """What `call` gives the parameters of a function of this file, where others may give them something else; None if it is alone."""
        alone = len(self.scopes.called.get(function.name, ())) < 2 or not self.scopes.inner[function].names
        if alone or is_unpacked(call) or any(each.arg is None for each in call.keywords):
            return None
        return self.defaults(function) | self.arguments(function, call, scope)

    def defaults(self, function: ast.FunctionDef) -> dict[ast.AST, Value]:
        """What the parameters of a function of the module are by default; lost if they have none."""
        bindings = (each for several in self.scopes.inner[function].names.values() for each in several if each.parameter is function)
        around = self.scopes.module
        return {
            each.node: self.value(each.value, around) if each.value is not None else Lost(*self.program.span(function)) for each in bindings
        }

    def _spread_to(self, name: str, spread: ast.expr, scope: Scope) -> Value | None:
        """What `**spread` gives the parameter `name`; None if it certainly gives nothing."""
        value = self.value(spread, scope)
        if isinstance(value, Made) and value.name == NAMESPACE:
            return self._of_namespace(value, name, spread)
        if isinstance(value, Made) and value.name == CONFIGURATION:
            return self._of_configuration(value, name, spread) if name in value.arguments.entries else None
        if not isinstance(value, Table):
            return self.lost(spread)
        return self._entry(value, name, spread) if name in value.entries or value.rest is not None else None

    def _is_factory(self, decorator: ast.expr) -> bool:
        """Whether a decorator makes a function a recipe that a command line runs by its name, as NeMo-Run does."""
        return self.scopes.qualified(decorator.func if isinstance(decorator, ast.Call) else decorator) in _FACTORIES

    def _is_command(self, function: Function) -> bool:
        """Whether typer makes a function a command of its program: `app = typer.Typer()` and `@app.command()`."""
        names = [each.func if isinstance(each, ast.Call) else each for each in function.decorator_list]
        apps = [self.origin(each.value, self.scopes.module) for each in names if isinstance(each, ast.Attribute) and each.attr == "command"]
        return any(each is not None and self.scopes.qualified(each.func) == "typer.Typer" for each in apps)

    def _decorated(self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> Value | None:
        """The default that an option of click gives a parameter, None if none of its decorators does."""
        if function not in self.decorators:
            calls = (each for each in reversed(function.decorator_list) if isinstance(each, ast.Call))
            options = (each for each in calls if self.scopes.qualified(each.func).endswith(".option"))
            self.decorators[function] = {name: each for each in options for name in destinations(each)}
        decorator = self.decorators[function].get(parameter)
        return self._of_option(decorator, decorator) if decorator is not None else None

    def result_of(self, function: ast.FunctionDef) -> tuple[ast.expr, Scope] | None:
        """The one thing that a function of this file returns, with its scope; None if that is unknown."""
        names = (self.scopes.qualified(each.func if isinstance(each, ast.Call) else each) for each in function.decorator_list)
        if not _CACHES.issuperset(names):
            return None
        inner = self.scopes.inner[function]
        for value, branch in inner.results[:MOST_BINDINGS]:
            runs = self.runs(branch, inner)
            if runs is not False:
                return (value, inner) if runs and value is not None else None
        return None

    def _is_made_otherwise(self, name: str) -> bool:
        """Whether a class is named elsewhere than where it is called, so that something else may make one, or be made from it."""
        calls = len(self.scopes.called.get(name, ()))
        if self.program.text.count(name) == calls + 1:  # with the definition itself
            return False
        return self._mentioned[name] > calls

    @cached_property
    def _mentioned(self) -> Counter[str]:
        """How often the program has each name."""
        return Counter(each.id for each in ast.walk(self.program.tree) if isinstance(each, ast.Name))
