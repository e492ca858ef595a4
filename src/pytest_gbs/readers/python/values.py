"""What an expression of a program is, as far as its text fixes that; everything else is lost, with the place where."""

from __future__ import annotations

import ast
import operator
import re
import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Final

from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.limits import DEEPEST_EXPRESSION, LARGEST_PRODUCT, MOST_BINDINGS, MOST_EVALUATED, MOST_POWER
from pytest_gbs.model.location import below
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.command_settings import CommandLine, CommandSetting
from pytest_gbs.readers.python.data_files import CONFIGURATION, composed, configuration, loaded
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import NAMESPACE, Constant, Items, Known, Lost, Made, Table, Value
from pytest_gbs.readers.python.scopes import OPEN, Binding, Branch, Change, Function, Scope, Scopes

_PARSES: Final = frozenset(("parse_args_into_dataclasses", "parse_args_and_config", "parse_dict", "parse_json_file", "parse_yaml_file"))
_RUNS: Final = frozenset(("fire.Fire", "Fire", "typer.run", "tyro.cli", "defopt.run", "jsonargparse.CLI", "CLI"))
_LOADS: Final = frozenset(("yaml.safe_load", "yaml.load", "yaml.full_load", "json.load", "omegaconf.OmegaConf.load"))
_HYDRA: Final = "hydra.main"
_COPIES: Final = frozenset(("dataclasses.replace", "copy.copy", "copy.deepcopy", "copy.replace"))
_OF_LIBRARIES: Final = _LOADS | _COPIES | {"vars"}
_FACTORIES: Final = frozenset(("nemo_run.cli.factory", "nemo_run.factory"))
_WORLD_SIZES: Final = frozenset(("torch.distributed.get_world_size", "dist.get_world_size"))
_FIELDS: Final = frozenset(("dataclasses.field", "pydantic.Field", "attr.ib", "attrs.field"))
_ASKS_TEXT: Final[dict[str, Callable[[str, str], bool]]] = {"startswith": str.startswith, "endswith": str.endswith}
_OF_TEXT: Final[dict[str, Callable[[str], str]]] = {"lower": str.lower, "upper": str.upper, "strip": str.strip}
_CHANGING: Final = frozenset(("update", "pop", "setdefault", "clear", "popitem"))
_ARITHMETIC: Final[dict[type[ast.operator], Callable[[int | float, int | float], int | float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Evaluator:
    """The values of one program's expressions; it looks at no more of them than a bound allows.

    With a `line` they are those that the program has when it is started so, else what it does by default. With `modules` what it
    imports from other files of its repository is looked at there.
    """

    def __init__(self, program: Program, scopes: Scopes, line: CommandLine | None = None, modules: Modules | None = None) -> None:
        self.program, self.scopes, self.line, self.modules = program, scopes, line, modules
        self.brought: dict[tuple[ast.Call, bool], Table | None] = {}
        self.others: dict[str, Evaluator] = {}  # of the files that are imported, by their paths; one for all of them
        self.given: dict[ast.AST, Value] = {}  # what parameters are, if that is known better than from the calls in the file
        self.left = MOST_EVALUATED
        self.depth = 0
        self.options: dict[str, list[ast.Call]] | None = None
        self.set_options: dict[tuple[str, bool], bool] = {}
        self.settings = {each.name: (number, each) for number, each in enumerate(line.settings)} if line is not None else {}
        self.abbreviated: dict[tuple[str, ...], bool] = {}
        self.run: frozenset[str] | None = None
        self.mentioned: Counter[str] | None = None
        self.changed: frozenset[str] | None = None
        self.decorators: dict[ast.AST, dict[str, ast.Call]] = {}
        self.ancestors: dict[ast.AST, list[ast.ClassDef]] = {}
        self.returned: dict[ast.AST, ast.expr | None] = {}
        self.bound: set[ast.AST] = set()  # the statements that are being looked at

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What `node` is in `scope`."""
        self.left -= 1
        if self.left < 0 or self.depth >= DEEPEST_EXPRESSION:
            return self.lost(node)
        self.depth += 1
        try:
            reads = getattr(self, f"_{type(node).__name__.lower()}", None)
            return reads(node, scope) if reads is not None else self.lost(node)
        finally:
            self.depth -= 1

    def lost(self, node: ast.expr) -> Lost:
        """What is not known of `node`."""
        return Lost(*self.program.span(node))

    def _constant(self, node: ast.Constant, _: Scope) -> Value:
        known = node.value is None or isinstance(node.value, (int, float, str))
        return Known(node.value, *self.program.span(node)) if known else self.lost(node)  # type: ignore[arg-type]

    def _tuple(self, node: ast.Tuple | ast.List, scope: Scope) -> Value:
        return Items(tuple(self.value(each, scope) for each in node.elts), *self.program.span(node))

    _list = _tuple

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        table = Table({}, *self.program.span(node))
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                table = self._spread(table, self.value(value, scope))
            elif isinstance(key, ast.Constant) and isinstance(key.value, str):
                table.entries[key.value] = self.program.span(key), self.value(value, scope)
            else:
                table = table._replace(rest=self.lost(key))
        return table

    def _spread(self, table: Table, more: Value) -> Table:
        """`table` with the entries of `**more`; what they are where that is not known."""
        if isinstance(more, Made) and more.name == CONFIGURATION and not self.may_set:
            more = more.arguments
        if isinstance(more, Table):
            table.entries.update(more.entries)
            return table._replace(rest=table.rest or more.rest)
        return table._replace(rest=Lost(more.start, more.stop))

    def keywords(self, call: ast.Call, scope: Scope) -> Table:
        """The arguments of a call that have names."""
        table = Table({}, *self.program.span(call))
        for keyword in call.keywords:
            if keyword.arg is None:
                table = self._spread(table, self.value(keyword.value, scope))
            else:
                start, _ = self.program.span(keyword)
                table.entries[keyword.arg] = (start, start + len(keyword.arg)), self.value(keyword.value, scope)
        return table

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        inner = self.value(node.operand, scope)
        if isinstance(inner, Known) and isinstance(node.op, ast.Not):
            return inner._replace(value=not inner.value)
        if isinstance(inner, Known) and isinstance(node.op, ast.USub) and isinstance(inner.value, (int, float)):
            return Known(-inner.value, *self.program.span(node))
        return self.lost(node)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if self.line is None and isinstance(node.op, (ast.Div, ast.FloorDiv)) and _counts_processes(node.right):
            return self.lost(node)  # `64 // devices` is no number of each process: it changes with the hardware
        computes = _power if isinstance(node.op, ast.Pow) else _ARITHMETIC.get(type(node.op))
        if computes is None or not isinstance(left, Known) or not isinstance(right, Known):
            return self.lost(node)
        if not isinstance(left.value, (int, float)) or not isinstance(right.value, (int, float)):
            return self.lost(node)
        try:
            result = computes(left.value, right.value)
        except (ArithmeticError, ValueError):
            return self.lost(node)
        return Known(result, *self.program.span(node)) if abs(result) <= LARGEST_PRODUCT else self.lost(node)

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        for each in node.values:
            found = self.value(each, scope)
            if not isinstance(found, Known):
                return self.lost(node)
            if bool(found.value) == isinstance(node.op, ast.Or):
                return found
        return found

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        compares = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        if isinstance(left, Known) and isinstance(right, Items) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            members = [each.value for each in right.items if isinstance(each, Known)]
            all_known = len(members) == len(right.items)
            found = (left.value in members) == isinstance(node.ops[0], ast.In)
            return Known(found, *self.program.span(node)) if all_known else self.lost(node)
        if compares is None or not isinstance(left, Known) or not isinstance(right, Known):
            return self.lost(node)
        try:
            return Known(compares(left.value, right.value), *self.program.span(node))
        except TypeError:
            return self.lost(node)

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Value:
        test = self.value(node.test, scope)
        if isinstance(test, Known):
            return self.value(node.body if test.value else node.orelse, scope)
        return self._agreed((self.value(node.body, scope), self.value(node.orelse, scope)), node)

    def _agreed(self, found: tuple[Value, ...], node: ast.expr) -> Value:
        """The one constant that all of `found` are, or what argparse gives in each case."""
        first = found[0]
        if all(isinstance(each, Made) and each.name == NAMESPACE and not each.arguments.entries for each in found):
            return first
        same = all(isinstance(each, Known) and isinstance(first, Known) and each.value == first.value for each in found)
        return first if same else self.lost(node)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        base, key = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(key, Known) and isinstance(key.value, str) and isinstance(base, Table):
            return self._entry(base, key.value, node)
        if (
            isinstance(key, Known)
            and type(key.value) is int
            and isinstance(base, Items)
            and -len(base.items) <= key.value < len(base.items)
        ):
            return base.items[key.value]
        parsed = isinstance(base, Made) and base.name == NAMESPACE and isinstance(key, Known)
        if isinstance(base, Made) and base.name == CONFIGURATION and isinstance(key, Known) and isinstance(key.value, str):
            return self._of_configuration(base, key.value, node)
        if isinstance(base, Made) and parsed and isinstance(key, Known) and isinstance(key.value, str):
            return self._of_namespace(base, key.value, node)  # of `vars(args)`
        return base if parsed and isinstance(key, Known) and key.value == 0 else self.lost(node)

    def _entry(self, table: Table, key: str, node: ast.expr) -> Value:
        found = table.entries.get(key)
        return found[1] if found is not None and table.rest is None else self.lost(node)

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        found = scope.find(node.id)
        if found is None:
            return self._imported(node) if self.scopes.stars else self.lost(node)
        where, bindings = found
        if len(bindings) > MOST_BINDINGS:
            return self.lost(node)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.ImportFrom):
            return self._imported(node)
        chosen = self.chosen(bindings, node.lineno, where) if where is scope else None
        if chosen is None and any(isinstance(each.node, ast.AugAssign) for each in bindings):
            return self.lost(node)
        result = self._agreed_value([self._bound(each, where, node) for each in chosen or bindings], node)
        return self.with_items(result, node.id, node, where, node.lineno) if isinstance(result, Table) else result

    def chosen(self, bindings: list[Binding], line: int, scope: Scope) -> list[Binding] | None:
        """The last binding before `line` that runs, and those behind it that may run; None in a loop, or in cells that have no order."""
        if len(bindings) > 1 and self.program.source.path.endswith(NOTEBOOK):
            bindings = self._of_the_cell(bindings, line)
        if any(each.branch is not None and each.branch.open for each in bindings):
            return None
        chosen: list[Binding] = []
        for each in reversed(bindings):
            runs = self.runs(each.branch, scope) if getattr(each.node, "end_lineno", 0) < line else False
            if runs is not False:
                chosen.insert(0, each)
            if runs:
                return chosen
        return None

    def _of_the_cell(self, bindings: list[Binding], line: int) -> list[Binding]:
        """Those of `bindings` in the cell of a notebook that has `line`, where the order of the text is that of the run.

        None of them if a function changes the name of another cell, or at the end of all cells.
        """
        if line == sys.maxsize or any(each.branch is OPEN for each in bindings):
            return []
        cells = [start for start, _ in self.program.cells]
        here = bisect_right(cells, line)
        return [each for each in bindings if bisect_right(cells, getattr(each.node, "lineno", 0)) == here]

    def runs(self, branch: Branch | None, scope: Scope) -> bool | None:
        """Whether what is in `branch` runs, None if the text does not say."""
        runs: bool | None = True
        while branch is not None:
            if self.left < 0:
                return None
            test = self.value(branch.test, scope) if branch.test is not None else None
            if not isinstance(test, Known):
                runs = None
            elif bool(test.value) != branch.taken:
                return False
            branch = branch.outer
        return runs

    def at_end(self, name: str) -> tuple[tuple[int, int], Value] | None:
        """The place of a name of the module and its value once all of the module has run; None if no expression gives it one."""
        scope = self.scopes.module
        bindings = scope.names[name]
        if not isinstance(bindings[-1].node, ast.stmt):
            return None
        settled = (self.chosen(bindings, sys.maxsize, scope) or ()) if len(bindings) <= MOST_BINDINGS else ()
        chosen = settled[0] if len(settled) == 1 else bindings[-1]
        if not isinstance(chosen.node, (ast.Assign, ast.AnnAssign, ast.AugAssign)) or chosen.value is None or chosen.item >= 0:
            return None
        targets = chosen.node.targets if isinstance(chosen.node, ast.Assign) else [chosen.node.target]
        target = next(each for each in targets if isinstance(each, ast.Name) and each.id == name)
        place = self.program.span(target)
        if len(settled) != 1:
            return place, self.lost(target)
        found = self._bound(chosen, scope, target)
        return place, self.with_items(found, name, target, scope, sys.maxsize) if isinstance(found, Table) else found

    def with_items(self, table: Table, name: str, node: ast.expr, scope: Scope, line: int) -> Table:
        """`table`, called `name`, with the items that are set after it was made and before `line`; what may change is lost at `node`."""
        if self._is_changed(name):
            lost = self.lost(node)
            return table._replace(entries={key: (place, lost) for key, (place, _) in table.entries.items()}, rest=table.rest or lost)
        changes = self.scopes.changes.get(name, ())
        self.left -= len(changes)
        entries = dict(table.entries) if changes else table.entries
        rest = table.rest
        for change in changes:
            if not isinstance(change.target, ast.Subscript):
                continue
            key, given = change.target.slice, change.assigned(scope, line)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                value = self.value(given, scope) if given is not None else self.lost(change.target)
                entries[key.value] = self.program.span(change.target), value
            else:
                rest = table.rest or self.lost(change.target)
        return table._replace(entries=entries, rest=rest)

    def _is_changed(self, name: str) -> bool:
        """Whether a method is called that changes the dictionary `name`."""
        if self.changed is None:
            methods = (call.func for method in _CHANGING for call, _ in self.scopes.called.get(method, ()))
            bases = (each.value for each in methods if isinstance(each, ast.Attribute))
            self.changed = frozenset(each.id for each in bases if isinstance(each, ast.Name))
        return name in self.changed

    def _bound(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        """What a binding gives its name; lost if that takes the name itself as the same binding has it, as in a loop."""
        if binding.node in self.bound:
            return self.lost(node)
        self.bound.add(binding.node)
        try:
            return self._given_by(binding, scope, node)
        finally:
            self.bound.discard(binding.node)

    def _given_by(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        if binding.parameter is not None:
            return self._parameter(binding, scope, node)
        if binding.value is None:
            return self.lost(node)
        if binding.item < 0:
            return self.value(binding.value, scope)
        whole = self.value(binding.value, scope)
        if isinstance(whole, Items) and binding.item < len(whole.items):
            return whole.items[binding.item]
        parsed = isinstance(whole, Made) and whole.name == NAMESPACE and binding.item == 0
        return whole if parsed else self.lost(node)

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
        calls = [each for each in self.scopes.called.get(function.name, ()) if isinstance(each[0].func, ast.Name)]
        runs = self._is_run(function.name)
        if runs and not calls:
            default = self.value(binding.value, around) if binding.value is not None else self.lost(node)
            return self._given((binding.node.arg,), default, node, by_place=True)
        if runs or not calls or len(calls) > MOST_BINDINGS:
            return self.lost(node)
        return self._agreed_value([self._argument(call, where, binding, around) for call, where in calls], node)

    def _of_instance(self, binding: Binding, function: Function, around: Scope, node: ast.expr) -> Value:
        """What a parameter of `__init__` is: what all calls of the class in the file give."""
        assert isinstance(around.node, ast.ClassDef)
        made = self.scopes.called.get(around.node.name, ()) if function.name == "__init__" else ()
        calls = [each for each in made if isinstance(each[0].func, ast.Name)]
        if not calls or len(calls) > MOST_BINDINGS or self._is_made_otherwise(around.node.name):
            return self.lost(node)
        return self._agreed_value([self._argument(call, where, binding, around, skipped=1) for call, where in calls], node)

    def _is_made_otherwise(self, name: str) -> bool:
        """Whether a class is named elsewhere than where it is called, so that something else may make one, or be made from it."""
        if self.mentioned is None:
            names = (each.id for each in ast.walk(self.program.tree) if isinstance(each, ast.Name))
            self.mentioned = Counter(names)
        return self.mentioned[name] > len(self.scopes.called.get(name, ()))

    def _agreed_value(self, found: list[Value], node: ast.expr) -> Value:
        return found[0] if len(found) == 1 else self._agreed(tuple(found), node)

    def _is_run(self, name: str) -> bool:
        """Whether the function `name` is handed to a library that makes a command line of it."""
        if self.run is None:
            runners = (call for call, _ in self.scopes.calls if self.scopes.qualified(call.func) in _RUNS)
            self.run = frozenset(each.id for call in runners for each in call.args if isinstance(each, ast.Name))
        return name in self.run

    def _argument(self, call: ast.Call, where: Scope, binding: Binding, around: Scope, skipped: int = 0) -> Value:
        """What `call` gives for one parameter of a function, whose first `skipped` ones it does not give."""
        function = binding.parameter
        assert isinstance(binding.node, ast.arg) and function is not None
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

    def _of_namespace(self, base: Made, name: str, node: ast.expr) -> Value:
        """What argparse gives under `name`, unless the program sets that itself."""
        if self._is_set(name) or base.arguments.rest is not None:
            return self.lost(node)
        return base.arguments.entries[name][1] if name in base.arguments.entries else self._option_called(name, node)

    @cached_property
    def may_set(self) -> bool:
        """Whether the program may change any key of a configuration."""
        return not {"update", "merge_with", "setattr", "__setattr__"}.isdisjoint(self.scopes.called)

    @cached_property
    def items_set(self) -> frozenset[object]:
        """The keys of items that the program sets: `cfg["batch"] = 4`."""
        targets = (change.target for changes in self.scopes.changes.values() for change in changes)
        keys = (each.slice for each in targets if isinstance(each, ast.Subscript))
        return frozenset(each.value if isinstance(each, ast.Constant) else ... for each in keys)

    def _of_configuration(self, base: Made, name: str, node: ast.expr) -> Value:
        """What a configuration that is loaded from a file has under `name`, unless the program may set that."""
        if self.may_set or name in self.scopes.attributes or name in self.items_set or ... in self.items_set:
            return self.lost(node)
        return self._entry(base.arguments, name, node)

    def _hydra(self, binding: Binding, function: Function, node: ast.expr) -> Value | None:
        """The configuration that `@hydra.main` gives a function, if no command line changes it; None if it gives none."""
        calls = [each for each in function.decorator_list if isinstance(each, ast.Call) and self.scopes.qualified(each.func) == _HYDRA]
        if not calls or function.args.args[:1] != [binding.node]:
            return None
        given = self.keywords(calls[0], self.scopes.module)
        path, name = (self._text(given, key) for key in ("config_path", "config_name"))
        if self.line is not None or self.modules is None or self.modules.reads is None or path is None or name is None:
            return self.lost(node)
        file = below(self.program.source.path.rpartition("/")[0], f"{path}/{name}")
        paths = (file if file.endswith((".yaml", ".yml")) else f"{file}.yaml" for file in (file,) if file is not None)
        return next((composed(each, self.modules.reads, self.program.span(node)) for each in paths), None) or self.lost(node)

    def _text(self, table: Table, key: str) -> str | None:
        value = table.entries.get(key, (None, None))[1]
        return value.value if isinstance(value, Known) and isinstance(value.value, str) else None

    def _loaded(self, name: str, node: ast.Call, scope: Scope) -> Value | None:
        """What `yaml.safe_load(open("run.yaml"))` gives, or `with open("run.yaml") as file`; None if it is not known which file that is."""
        given = node.args[0]
        found = scope.find(given.id) if isinstance(given, ast.Name) else None
        bound = found[1][0].node if found is not None and len(found[1]) == 1 else None
        opened = bound.context_expr if isinstance(bound, ast.withitem) else given
        if isinstance(opened, ast.Call) and isinstance(opened.func, ast.Name) and opened.func.id == "open" and opened.args:
            opened = opened.args[0]
        elif not name.endswith("OmegaConf.load"):
            return None
        path = self.value(opened, scope)
        if self.modules is None or self.modules.reads is None or not isinstance(path, Known) or not isinstance(path.value, str):
            return None
        table = loaded(path.value, self.program.source.path.rpartition("/")[0], self.modules.reads, self.program.span(node))
        return configuration(table) if table is not None and name.endswith("OmegaConf.load") else table

    def _is_factory(self, decorator: ast.expr) -> bool:
        """Whether a decorator makes a function a recipe that a command line runs by its name, as NeMo-Run does."""
        return self.scopes.qualified(decorator.func if isinstance(decorator, ast.Call) else decorator) in _FACTORIES

    def _decorated(self, function: ast.FunctionDef | ast.AsyncFunctionDef, parameter: str) -> Value | None:
        """The default that an option of click gives a parameter, None if none of its decorators does."""
        if function not in self.decorators:
            calls = (each for each in reversed(function.decorator_list) if isinstance(each, ast.Call))
            options = (each for each in calls if self.scopes.qualified(each.func).endswith(".option"))
            self.decorators[function] = {name: each for each in options for name in _destinations(each)}
        decorator = self.decorators[function].get(parameter)
        return self._of_option(decorator, decorator) if decorator is not None else None

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        own = self._of_self(node, scope)
        if own is not None:
            return own
        base = self.value(node.value, scope)
        if isinstance(base, Lost) and isinstance(node.value, ast.Name):
            definition = self.definition(node.value, scope)
            base = (
                Made(node.value.id, Table({}, base.start, base.stop), definition, base.start, base.stop) if definition is not None else base
            )
        if not isinstance(base, Made):
            return self._of_imported(node, scope) if isinstance(base, Lost) else self.lost(node)
        changed = self._changed(node, scope)
        if changed is not None:
            return changed
        if base.name in (NAMESPACE, CONFIGURATION):
            reads = self._of_namespace if base.name == NAMESPACE else self._of_configuration
            return reads(base, node.attr, node)
        if node.attr in base.arguments.entries:
            return base.arguments.entries[node.attr][1]
        if base.arguments.rest is not None:
            return self.lost(node)
        found = self.field(base.definition, node.attr) if base.definition is not None else self._default_elsewhere(base, node)
        return found if found is not None else self.lost(node)

    def _default_elsewhere(self, made: Made, node: ast.Attribute) -> Value | None:
        """What an attribute is of something that a class of another file makes, which its call does not give."""
        return self._field_elsewhere(made.func, node.attr, node) if made.func is not None else None

    def _elsewhere(self, node: ast.expr) -> tuple[str, Evaluator] | None:
        """The evaluator of the file that gives the imported name `node` (`config.BATCH`) its value, with the name that it has there."""
        found = self.modules.bound(self.scopes.qualified(node), self.program.source.path) if self.modules is not None else None
        if found is None:
            return None
        path = found.program.source.path
        if path not in self.others:
            other = Evaluator(found.program, found.scopes, self.line, self.modules)
            other.others = self.others
            self.others[path] = other
        return found.name, self.others[path]

    def _brought(self, other: Evaluator, ask: Callable[[], Value | None], node: ast.expr) -> Value | None:
        """What `ask` finds out with the evaluator of another file, as a value at `node`; both have one depth and one bound together."""
        depth = other.depth
        other.depth, other.left = max(depth, self.depth), min(self.left, other.left)
        try:
            found = ask()
            return _at(found, self.program.span(node)) if found is not None and not isinstance(found, Made) else None
        finally:
            other.depth, self.left = depth, other.left

    def _imported(self, node: ast.expr) -> Value:
        """What a name is that the program imports from another file of its repository: a number, a text, a list of them."""
        found = self._elsewhere(node)
        if found is None:
            return self.lost(node)
        name, other = found
        value = self._brought(other, lambda: (other.at_end(name) or (None, None))[1], node)
        return value if isinstance(value, (Known, Items)) else self.lost(node)

    def _of_imported(self, node: ast.Attribute, scope: Scope) -> Value:
        """What an attribute of a name is that is imported: of a module, or the default of a field of a class."""
        found = scope.find(node.value.id) if isinstance(node.value, ast.Name) else None
        bound = found[1][0].node if found is not None and len(found[1]) == 1 else None
        if self.modules is None or not isinstance(bound, (ast.Import, ast.ImportFrom)) or "setattr" in self.scopes.called:
            return self.lost(node)
        changed = self._changed(node, scope)
        field = self._field_elsewhere(node.value, node.attr, node) if changed is None else changed
        return field if field is not None else self._imported(node)

    def _field_elsewhere(self, definition: ast.expr, name: str, node: ast.expr) -> Value | None:
        """The default of a field of a class that is imported; None if it has none. A parser may give it another one in a launch."""
        found = self._elsewhere(definition) if self.line is None else None
        if found is None:
            return None
        last, other = found
        bindings = other.scopes.module.names[last]
        class_ = bindings[0].node if len(bindings) == 1 else None
        return self._brought(other, lambda: other.field(class_, name), node) if isinstance(class_, ast.ClassDef) else None

    def _options_elsewhere(self, call: ast.Call, of_parser: bool = False) -> Table | None:
        """What `_read_options` finds, once for each call."""
        if (call, of_parser) not in self.brought:
            self.brought[call, of_parser] = self._read_options(call, of_parser)
        return self.brought[call, of_parser]

    def _read_options(self, call: ast.Call, of_parser: bool) -> Table | None:
        """The options that a function of another file gives: what argparse returns there, or `of_parser` a parser; else None."""
        found = self._elsewhere(call.func)
        function = found[1].scopes.module.names[found[0]][0].node if found is not None else None
        if found is None or not isinstance(function, ast.FunctionDef):
            return None
        other, span = found[1], self.program.span(call)
        returned = [each.value for each in ast.walk(function) if isinstance(each, ast.Return) and each.value is not None][:MOST_BINDINGS]
        given = (self._returned_by(other, each, function) for each in returned)
        if not returned or not all(isinstance(each, Made) and (each.name == NAMESPACE or of_parser) for each in given):
            return None
        return Table({name: (span, _at(value, span)) for name, value in other.each_option()}, *span)

    def _returned_by(self, other: Evaluator, value: ast.expr, function: ast.FunctionDef) -> Value:
        depth = other.depth
        other.depth = max(depth, self.depth)
        try:
            return other.value(value, other.scopes.inner[function])
        finally:
            other.depth = depth

    def each_option(self) -> Iterator[tuple[str, Value]]:
        """Yield what each option of argparse gives in this program."""
        for name, calls in self._options().items():
            yield name, self._option_called(name, calls[0].func)

    def _of_self(self, node: ast.Attribute, scope: Scope) -> Value | None:
        """What `self.batch_size` is in a method, or `self.hparams.batch_size`, if only `__init__` of the class gives it; else None."""
        around = scope.parent if isinstance(scope.node, ast.FunctionDef) else None
        made = around.names.get("__init__", ()) if around is not None and isinstance(around.node, ast.ClassDef) else ()
        if around is None or len(made) != 1 or not isinstance(made[0].node, ast.FunctionDef):
            return None
        inner = self.scopes.inner[made[0].node]
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            sets = self.scopes.attributes.get(node.attr, {})
            here = [each for each in sets.get("self", ()) if each.scope.parent is around]
            given = here[0].assigned(inner, sys.maxsize) if len(here) == 1 and len(sets) == 1 else None
            return self.value(given, inner) if given is not None else None
        if not _is_hparams(node.value) or "save_hyperparameters" not in self.scopes.called:
            return None
        bindings = inner.names.get(node.attr, [])
        if len(bindings) == 1 and bindings[0].parameter is not None:
            return self._bound(bindings[0], inner, node)
        kept = [call.args for call, where in self.scopes.called["save_hyperparameters"] if where is inner and len(call.args) == 1]
        base = self.value(kept[0][0], inner) if len(kept) == 1 and isinstance(kept[0][0], ast.Name) else None
        return self._of_namespace(base, node.attr, node) if isinstance(base, Made) and base.name == NAMESPACE else None

    def _changed(self, node: ast.Attribute, scope: Scope) -> Value | None:
        """What an attribute was set to before, None if it never is."""
        if not isinstance(node.value, ast.Name):
            return None
        sets = self.scopes.attributes.get(node.attr, {}).get(node.value.id)
        if sets is None:
            return None
        given = sets[0].assigned(scope, node.lineno) if len(sets) == 1 else None
        return self.value(given, scope) if given is not None else self.lost(node)

    def definition(self, node: ast.expr, scope: Scope) -> ast.ClassDef | None:
        """The class of this file that `node` names, None if it names something else."""
        found = scope.find(node.id) if isinstance(node, ast.Name) else None
        bound = found[1][0].node if found is not None and len(found[1]) == 1 else None
        return bound if isinstance(bound, ast.ClassDef) else None

    def field(self, definition: ast.ClassDef, name: str) -> Value | None:
        """The default of a field of a class of this file, its bases in this file included; None if it has none."""
        for each in self.ancestry(definition):
            inner = self.scopes.inner[each]
            bindings = inner.names.get(name, [])
            if len(bindings) == 1 and bindings[0].value is not None and bindings[0].item < 0:
                return self._default(bindings[0].value, inner)
            if bindings:
                return self.lost(bindings[-1].value) if bindings[-1].value is not None else Lost(0, 0)
        for each in self.ancestry(definition):
            for base in each.bases:
                found = self._field_elsewhere(base, name, base) if self.definition(base, self.scopes.module) is None else None
                if found is not None:
                    return found
        return None

    def ancestry(self, definition: ast.ClassDef) -> list[ast.ClassDef]:
        """`definition` and the classes of this file that it is made from, nearest first."""
        if definition not in self.ancestors:
            found = self.ancestors[definition] = [definition]
            for each in found:
                bases = [self.definition(base, self.scopes.module) for base in each.bases]
                found.extend(base for base in bases if base is not None and base not in found and len(found) < DEEPEST_EXPRESSION)
        return self.ancestors[definition]

    def _default(self, node: ast.expr, scope: Scope) -> Value:
        """What a field is by default: `field(default=4)` is 4."""
        if not isinstance(node, ast.Call) or self.scopes.qualified(node.func) not in _FIELDS:
            return self.value(node, scope)
        found = self.keywords(node, scope).entries.get("default")
        if found is not None:
            return found[1]
        return self.value(node.args[0], scope) if node.args else self.lost(node)

    def _options(self) -> dict[str, list[ast.Call]]:
        """The calls that give each option of argparse, by the name under which its value is kept."""
        if self.options is None:
            self.options = {}
            called = self.scopes.called
            for call, _ in (*called.get("add_argument", ()), *called.get("set_defaults", ())):
                if isinstance(call.func, ast.Attribute):
                    set_later = [each.arg for each in call.keywords if each.arg] if call.func.attr == "set_defaults" else []
                    for name in set_later or _destinations(call):
                        self.options.setdefault(name, []).append(call)
        return self.options

    def own_options(self) -> Iterator[tuple[str, Value]]:
        """Yield the options of argparse, each with its default, None if it has none; lost if several calls or statements give it.

        A statement that computes the value from what it was does the same to what a command line gives.
        """
        for name, calls in self._options().items():
            given = next((each.value for each in calls[0].keywords if each.arg == "default"), None)
            plain = len(calls) == 1 and _is_plain(calls[0]) and not self._is_set(name, anew=True)
            value = self.value(given, self.scopes.module) if given is not None else Known(None, *self.program.span(calls[0]))
            yield name, value if plain else self.lost(calls[0])

    def spellings(self) -> dict[str, str]:
        """The flags of argparse, each with the name under which its value is kept: `b` and `batch_size`, both `batch_size`."""
        return {flag: name for name, calls in self._options().items() for call in calls for flag in _flags(call)}

    def _option_called(self, name: str, node: ast.expr) -> Value:
        """What an option of argparse gives: its default, or what the command line has."""
        options = self._options().get(name, [])
        if not options or len(options) > MOST_BINDINGS or self._is_set(name):
            return self.lost(node)
        return self._agreed_value([self._of_option(each, node) for each in options], node)

    def _is_set(self, option: str, *, anew: bool = False) -> bool:
        """Whether the program sets an option itself, under whichever name it has what argparse gives.

        With `anew` only what does not follow from the option's own value counts.
        """
        if (option, anew) not in self.set_options:
            self.set_options[option, anew] = False  # while it is looked for
            changes = (change for each in self.scopes.attributes.get(option, {}).values() for change in each)
            bases = (self.value(change.target.value, change.scope) for change in changes if not (anew and _mentions(change, option)))
            self.set_options[option, anew] = any(isinstance(base, Made) and base.name == NAMESPACE for base in bases)
        return self.set_options[option, anew]

    def _of_option(self, option: ast.Call, node: ast.expr) -> Value:
        """What one option of argparse or click gives: its default, or what the command line has."""
        table = self.keywords(option, self.scopes.module)
        if self.line is None:
            return self._unless_empty(self._entry(table, "default", node), node)
        action = next((each.value.value for each in option.keywords if each.arg == "action" and isinstance(each.value, ast.Constant)), "")
        switch = action in ("store_true", "store_false")
        lost, span = self.lost(node), self.program.span(node)
        if table.rest is not None or (not switch and "action" in table.entries) or {"nargs", "multiple"} & table.entries.keys():
            return lost
        absent = Known(action == "store_false" if switch else None, *span)
        default = table.entries["default"][1] if "default" in table.entries else absent
        found = self._given(_flags(option), default, node)
        if not isinstance(found, Known) or found.at is None:
            return found
        if switch:
            return found._replace(value=action == "store_true")
        kind = next((each.value for each in option.keywords if each.arg == "type"), None)
        if kind is None and option is node and isinstance(default, Known) and default.value is not None:
            return _as_type(found, type(default.value).__name__) or lost  # click goes by the default
        return _as_type(found, "str" if kind is None else getattr(kind, "id", "")) or lost

    def _given(self, names: tuple[str, ...], default: Value, node: ast.expr, *, by_place: bool = False) -> Value:
        """What the command line gives under one of `names`, else `default`, if it is known that nothing else gives it."""
        line = self.line
        if line is None:
            return self._unless_empty(default, node)
        setting = max((self.settings[name] for name in names if name in self.settings), default=(0, None))[1]
        if setting is None and self._is_abbreviated(names):
            return self.lost(node)
        if setting is None:
            return default if line.whole and not (by_place and line.by_place) else self.lost(node)
        if setting.text is None:
            return Lost(*self.program.span(node), setting.at, setting.word.placeholder)
        return Known(_read(setting), *self.program.span(node), setting.at)

    def _unless_empty(self, default: Value, node: ast.expr) -> Value:
        """`default`, or a lost value if it is None, since a program without a default waits for its command line."""
        return self.lost(node) if isinstance(default, Known) and default.value is None else default

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        name = self.scopes.qualified(node.func)
        last = node.func.attr if isinstance(node.func, ast.Attribute) else name.rpartition(".")[2]
        if name == "dict" and not node.args:
            return self.keywords(node, scope)
        if name in ("int", "float", "max", "min", "round", "str") and node.args and not node.keywords:
            return self._builtin(name, node, scope)
        written = self._result(node, scope)
        if written is not None:
            return self.value(written[0], written[1])
        options = self._options_elsewhere(node) if self.modules is not None and not last[:1].isupper() else None
        if options is not None:
            return Made(NAMESPACE, options, None, *self.program.span(node))
        if last in ("parse_args", "parse_known_args") and not (node.args and isinstance(node.args[0], (ast.List, ast.Tuple))):
            parser = self._origin(node.func.value, scope) if isinstance(node.func, ast.Attribute) and self.modules is not None else None
            given = self._options_elsewhere(parser, of_parser=True) if parser is not None else None
            return Made(NAMESPACE, given or Table({}, *self.program.span(node)), None, *self.program.span(node))
        if last in _PARSES and isinstance(node.func, ast.Attribute):
            return self._parsed(node.func.value, scope)
        if node.args and name in _OF_LIBRARIES:
            return self._of_library(name, node, scope)
        if name in _RUNS and node.args:
            made = self._made(node.args[0], scope, None)
            return made if made is not None else self.lost(node)
        world = self._world(name, node)
        if world is not None:
            return world
        if isinstance(node.func, ast.Attribute) and (last in _OF_TEXT or last in _ASKS_TEXT):
            return self._of_text(node, node.func, scope)
        if isinstance(node.func, ast.Attribute) and last == "get" and node.args:
            base, key = self.value(node.func.value, scope), self.value(node.args[0], scope)
            known = isinstance(base, Table) and isinstance(key, Known) and isinstance(key.value, str)
            return self._entry(base, key.value, node) if known else self.lost(node)  # type: ignore[arg-type,union-attr]
        made = self._made(node.func, scope, node)
        return made if made is not None else self.lost(node)

    def _of_library(self, name: str, node: ast.Call, scope: Scope) -> Value:
        """What functions give that load files, copy, or make a dictionary of options."""
        if name in _LOADS:
            return self._loaded(name, node, scope) or self.lost(node)
        return self._copied(node, scope) if name in _COPIES else self.value(node.args[0], scope)

    def _of_text(self, node: ast.Call, func: ast.Attribute, scope: Scope) -> Value:
        """What a method of a text gives: `name.lower()`, `name.startswith("a")`."""
        found = [self.value(each, scope) for each in (func.value, *node.args[:1])]
        texts = [each.value for each in found if isinstance(each, Known) and isinstance(each.value, str)]
        if len(texts) != len(found) or len(node.args) != (func.attr in _ASKS_TEXT) or node.keywords:
            return self.lost(node)
        if func.attr in _OF_TEXT and isinstance(found[0], Known):
            return found[0]._replace(value=_OF_TEXT[func.attr](texts[0]))
        return Known(_ASKS_TEXT[func.attr](*texts), *self.program.span(node))

    def _copied(self, node: ast.Call, scope: Scope) -> Value:
        """What a copy has: what the first argument is, with what `dataclasses.replace` gives anew."""
        value = self.value(node.args[0], scope)
        if not isinstance(value, Made) or not node.keywords:
            return value if not node.keywords else self.lost(node)
        given = self.keywords(node, scope)
        return value._replace(
            arguments=value.arguments._replace(entries=value.arguments.entries | given.entries, rest=given.rest or value.arguments.rest)
        )

    def _is_abbreviated(self, names: tuple[str, ...]) -> bool:
        """Whether a flag that the program does not have may be short for one of `names`, or hold its value too (`-b32`)."""
        if names not in self.abbreviated:
            self.abbreviated[names] = any(any(name.startswith(given) for name in names) or given[:1] in names for given in self.foreign)
        return self.abbreviated[names]

    @cached_property
    def foreign(self) -> frozenset[str]:
        """The flags of the command line that the program does not have itself."""
        return frozenset(self.settings) - {flag for call, _ in self.scopes.calls for flag in _flags(call)}

    def _result(self, node: ast.Call, scope: Scope) -> tuple[ast.expr, Scope] | None:
        """What a function of this file returns, with its scope; None if it is another, or returns several things."""
        found = scope.find(node.func.id) if isinstance(node.func, ast.Name) else None
        function = found[1][0].node if found is not None and len(found[1]) == 1 else None
        if not isinstance(function, ast.FunctionDef) or function.decorator_list:
            return None
        if function not in self.returned:
            returns = [each for each in ast.walk(function) if isinstance(each, ast.Return)]
            last = function.body[-1]
            self.returned[function] = last.value if isinstance(last, ast.Return) and len(returns) == 1 else None
        value = self.returned[function]
        return (value, self.scopes.inner[function]) if value is not None else None

    def _world(self, name: str, node: ast.Call) -> Value | None:
        """The number of processes if `node` asks for it, None if it asks for something else."""
        asked = name in _WORLD_SIZES or (
            name in ("os.environ.get", "os.getenv")
            and bool(node.args)
            and isinstance(node.args[0], ast.Constant)
            and node.args[0].value == "WORLD_SIZE"
        )
        if not asked:
            return None
        world = self.line.world if self.line is not None else None
        if world is None:
            return self.lost(node)
        return Known(world if name in _WORLD_SIZES else str(world), *self.program.span(node))

    def _builtin(self, name: str, node: ast.Call, scope: Scope) -> Value:
        found = [self.value(each, scope) for each in node.args[:20]]
        numbers = [each.value for each in found if isinstance(each, Known) and isinstance(each.value, (int, float, str))]
        if len(numbers) != len(node.args):
            return self.lost(node)
        try:
            result = {"int": int, "float": float, "max": max, "min": min, "round": round, "str": str}[name](*numbers)  # type: ignore[operator]
        except (TypeError, ValueError, ArithmeticError):
            return self.lost(node)
        return Known(result, *self.program.span(node))

    def _made(self, func: ast.expr, scope: Scope, call: ast.Call | None) -> Made | None:
        """What a call of the class that `func` names gives, None if it does not name a class."""
        definition = self.definition(func, scope)
        name = self.scopes.qualified(func)
        if definition is None and not name.rpartition(".")[2][:1].isupper():
            return None
        node = call if call is not None else func
        arguments = self.keywords(call, scope) if call is not None else Table({}, *self.program.span(node))
        return Made(name, arguments, definition, *self.program.span(node), func)

    def _parsed(self, parser: ast.expr, scope: Scope) -> Value:
        """What `HfArgumentParser((A, B)).parse_args_into_dataclasses()` gives: one value of each class, with its defaults."""
        made = self._origin(parser, scope)
        classes = made.args[0] if made is not None and made.args else None
        if made is None or classes is None:
            classes = next((each.value for each in made.keywords if each.arg == "dataclass_types"), None) if made is not None else None
        if classes is None:
            return self.lost(parser)
        several = classes.elts if isinstance(classes, (ast.Tuple, ast.List)) else [classes]
        found = [self._with_flags(self._made(each, scope, None), parser) or self.lost(each) for each in several]
        return Items(tuple(found), *self.program.span(parser))

    def _with_flags(self, made: Made | None, node: ast.expr) -> Made | None:
        """`made`, an instance that a parser makes of a class, with the fields that the command line gives."""
        if made is None or self.line is None or made.definition is None:
            return made
        span = self.program.span(node)
        entries = dict(made.arguments.entries)
        steps = {str(step) for setting in self.line.settings for step in setting.path}
        for each in self.ancestry(made.definition):
            for name in self.scopes.inner[each].names:
                given = self._given((name,), Lost(*span), node)
                if isinstance(given, Known) or name in steps:
                    entries[name] = span, given
        rest = None if self.line.whole else Lost(*span)
        return made._replace(arguments=made.arguments._replace(entries=entries, rest=rest))

    def parses_imported(self, call: ast.Call, scope: Scope) -> bool:
        """Whether `call` makes a parser of argument classes, one of which is a framework's or made from one."""
        if not self.scopes.qualified(call.func).endswith(("ArgumentParser", "TrlParser")):
            return False
        made = self._parsed(call, scope)
        items = made.items if isinstance(made, Items) else ()
        return any(isinstance(each, Made) and self._is_of_framework(each) for each in items)

    def _is_of_framework(self, made: Made) -> bool:
        if made.definition is None:
            return True
        bases = (base for each in self.ancestry(made.definition) for base in each.bases)
        return any("." in self.scopes.qualified(base) for base in bases if self.definition(base, self.scopes.module) is None)

    def _origin(self, node: ast.expr, scope: Scope) -> ast.Call | None:
        """The call that made what `node` names."""
        if isinstance(node, ast.Call):
            return node
        found = scope.find(node.id) if isinstance(node, ast.Name) else None
        value = found[1][0].value if found is not None and len(found[1]) == 1 else None
        return value if isinstance(value, ast.Call) else None


def _at(value: Value, span: tuple[int, int]) -> Value:
    """`value`, which another file gives, as one of what stands at `span` of this one."""
    if isinstance(value, Items):
        return Items(tuple(_at(each, span) for each in value.items), *span)
    return value._replace(start=span[0], stop=span[1]) if isinstance(value, (Known, Lost)) else Lost(*span)


_processes = lazy_pattern(r"(?:n|n_|num_|num_of_)?(?:devices|gpus|processes)|(?:n|n_|num_)gpu|nproc|world_size", re.IGNORECASE)


def _counts_processes(node: ast.expr) -> bool:
    """Whether the name of `node` says that it is a number of processes or GPUs."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return _processes().fullmatch(name) is not None


def _power(base: int | float, power: int | float) -> int | float:
    """`base` to the `power`; a ValueError if it is no size that people write."""
    if abs(power) > MOST_POWER or abs(base) > LARGEST_PRODUCT:
        raise ValueError
    found: int | float | complex = base**power
    if isinstance(found, complex):
        raise ValueError
    return found


def _is_hparams(node: ast.expr) -> bool:
    """Whether `node` is `self.hparams`, where Lightning's `save_hyperparameters` keeps the arguments of `__init__`."""
    return isinstance(node, ast.Attribute) and node.attr == "hparams" and isinstance(node.value, ast.Name) and node.value.id == "self"


def _read(setting: CommandSetting) -> Constant:
    """What a known setting of a command line is as a literal of Python."""
    if setting.switch:
        return True
    text = setting.text or ""
    number = whole_number(text)
    return number if number is not None else {"true": True, "false": False}.get(text.lower(), text)


def _as_type(found: Known, kind: str) -> Known | None:
    """`found` as `add_argument(type=int)` has it; None if that is not known, is text that looks like a number, or it stops there."""
    return found if type(found.value).__name__ == kind and kind in ("int", "str") else None


def _is_plain(call: ast.Call) -> bool:
    """Whether all names and settings of an option are written out."""
    return all(isinstance(each, ast.Constant) for each in call.args) and all(each.arg for each in call.keywords)


def _mentions(change: Change, attribute: str) -> bool:
    """Whether a statement computes an attribute from what it was: `args.batch = args.batch // ranks`."""
    if isinstance(change.statement, ast.AugAssign):
        return True
    nodes = ast.walk(change.statement.value) if change.statement.value is not None else ()
    return any(isinstance(node, ast.Attribute) and node.attr == attribute for node in nodes)


def _flags(call: ast.Call) -> tuple[str, ...]:
    """The options that `add_argument("-b", "--batch-size")` knows, as settings of a command line are named."""
    names = (each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str))
    return tuple(name.lstrip("-").replace("-", "_") for name in names if name.startswith("-"))


def _destinations(call: ast.Call) -> list[str]:
    """The names under which `add_argument("--batch-size")` or `click.option("--batch-size")` keeps its value."""
    for keyword in call.keywords:
        if keyword.arg == "dest" and isinstance(keyword.value, ast.Constant):
            return [str(keyword.value.value)]
    names = [each.value for each in call.args if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    plain = [name for name in names if not name.startswith("-")]
    long = [name for name in names if name.startswith("--")]
    return [name.lstrip("-").replace("-", "_") for name in (plain or long or names)[:1]]
