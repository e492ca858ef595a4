"""Names: what the program binds them to, or imports from other files of its repository."""

from __future__ import annotations

import ast
import builtins
import sys
from bisect import bisect_right
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.model.location import grouped
from pytest_gbs.readers.python.changed_items import CHANGING, Changes
from pytest_gbs.readers.python.parameters import Parameters
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import CONFIGURATION, NAMESPACE, Entry, Items, Known, Lost, Made, Place, Table, Value, at_span
from pytest_gbs.readers.python.scopes import OPEN, Binding, Scope

if TYPE_CHECKING:
    from typing import Self


class Names(Parameters):
    """The values of the names of one program."""

    def _name(self, node: ast.Name, scope: Scope) -> Value:
        found = scope.find(node.id)
        if found is None and node.id == "__file__":
            return Place(self.program.source.path, *self.program.span(node), inside=True)
        if found is None:
            return self._imported(node) if self.scopes.stars else self.lost(node)
        where, bindings = found
        if len(bindings) > MOST_BINDINGS:
            return self.lost(node)
        if len(bindings) == 1 and isinstance(bindings[0].node, ast.ImportFrom):
            brought = self._imported(node)
            return self.with_items(brought, node.id, node, where, node.lineno) if isinstance(brought, Table) else brought
        chosen = self.chosen(bindings, node.lineno, where) if where is scope else self._settled(bindings, where)
        if chosen is None and any(isinstance(each.node, ast.AugAssign) for each in bindings):
            return self.lost(node)
        settled = chosen or bindings
        result = self._agreed((self._bound(each, where, node) for each in settled), len(settled), node)
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

    def _settled(self, bindings: list[Binding], scope: Scope) -> list[Binding] | None:
        """What is `chosen` of a name of the module for a function: at the end, if no function runs between the bindings; else None."""
        first, last = (getattr(each.node, "lineno", 0) for each in (bindings[0], bindings[-1]))
        if scope is not self.scopes.module or len(bindings) < 2 or not first:
            return None
        behind = bisect_right(self._running, first)
        running = self._running[behind : behind + 1]
        return self.chosen(bindings, sys.maxsize, scope) if not running or running[0] >= last else None

    @cached_property
    def _running(self) -> list[int]:
        """The lines of the module that call what is neither imported nor built in: a function of the program may run there."""
        module = self.scopes.module
        calls = (call for call, scope in self.scopes.calls if scope is module)
        names = ((next((each.id for each in ast.walk(call.func) if isinstance(each, ast.Name)), ""), call.lineno) for call in calls)
        return sorted(line for name, line in names if name and name not in self.scopes.imported and not hasattr(builtins, name))

    def _of_the_cell(self, bindings: list[Binding], line: int) -> list[Binding]:
        """Those of `bindings` in the cell of a notebook that has `line`, where the order of the text is that of the run.

        None of them if a function changes the name of another cell, or at the end of all cells.
        """
        if line == sys.maxsize or any(each.branch is OPEN for each in bindings):
            return []
        cells = [start for start, _ in self.program.cells]
        here = bisect_right(cells, line)
        return [each for each in bindings if bisect_right(cells, getattr(each.node, "lineno", 0)) == here]

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
        changes, calls, lost = self.scopes.changes.get(name, ()), self._changing.get(name, ()), self.lost(node)
        self.left -= len(changes)
        entries = dict(table.entries) if changes or calls else table.entries
        rest = table.rest
        for change in changes:
            if not isinstance(change.target, ast.Subscript):
                continue
            keys, given = _texts(change.target.slice, change.scope), change.assigned(scope, line)
            value = self.value(given, scope) if given is not None and len(keys) == 1 else self.lost(change.target)
            entries.update(dict.fromkeys(keys, (self.program.span(change.target), value)))
            rest = rest if keys else table.rest or self.lost(change.target)
        plain = [self._updates(entries, call, where, lost) for call, where in calls]
        if not all(plain):
            entries, rest = {key: (place, lost) for key, (place, _) in entries.items()}, rest or lost
        table = table._replace(entries=entries, rest=rest)
        if self._changes is not None and self._changes.otherwise(name, scope, line):
            return Table({}, table.start, table.stop, lost)
        return table

    def is_changed(self, name: str, scope: Scope, line: int) -> bool:
        """Whether the dictionary that `scope` calls `name` may change before `line`; also where that is not known."""
        return self._changes is None or self._changes.at_all(name, scope, line, set())

    @cached_property
    def _changes(self) -> Changes | None:
        """What may change the dictionaries of the program, where the functions that it imports are looked for."""
        return Changes(self.program, self.modules, self._is_constant) if self.modules is not None else None

    def _is_constant(self, node: ast.expr, scope: Scope) -> bool:
        return isinstance(self.value(node, scope), Known)

    @cached_property
    def _changing(self) -> dict[str, list[tuple[ast.Call, Scope]]]:
        """The calls of methods that change a dictionary, by its name."""
        calls = (each for method in CHANGING for each in self.scopes.called.get(method, ()) if isinstance(each[0].func, ast.Attribute))
        owners = ((each[0].func.value, each) for each in calls)  # type: ignore[attr-defined]
        return grouped((owner.id, each) for owner, each in owners if isinstance(owner, ast.Name))

    def _updates(self, entries: dict[str, Entry], call: ast.Call, scope: Scope, lost: Lost) -> bool:
        """Whether `call`, a method of a dictionary, is `update(more)` with keys that are known, which are made `lost` in `entries`."""
        more = self.value(call.args[0], scope) if call.args else self.keywords(call, scope)
        plain = isinstance(call.func, ast.Attribute) and call.func.attr == "update" and len(call.args) + bool(call.keywords) == 1
        if not plain or not isinstance(more, Table) or more.rest is not None:
            return False
        entries.update((key, (place, lost)) for key, (place, _) in more.entries.items())
        return True

    def _bound(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        """What a binding gives its name; lost if that takes the name itself as the same binding has it, as in a loop."""
        if binding.node in self.bound:
            return self.guess(node, self.bound[binding.node])
        self.bound[binding.node] = self.looking.begun
        self.looking.begun += 1
        try:
            return self._given_by(binding, scope, node)
        finally:
            self.looking.begun -= 1
            del self.bound[binding.node]

    def _given_by(self, binding: Binding, scope: Scope, node: ast.expr) -> Value:
        if binding.parameter is not None:
            return self._parameter(binding, scope, node)
        if binding.value is None or (scope is self.scopes.module and self._may_be_executed_over):
            return self.lost(node)
        if binding.item < 0:
            return self.value(binding.value, scope)
        whole = self.value(binding.value, scope)
        if isinstance(whole, Items) and binding.item < len(whole.items):
            return whole.items[binding.item]
        parsed = isinstance(whole, Made) and whole.name == NAMESPACE and binding.item == 0
        return whole if parsed else self.lost(node)

    @cached_property
    def _may_be_executed_over(self) -> bool:
        """Whether the program runs other text over the names of its module: `exec(f.read(), globals())`."""
        spaces = (each for call, _ in self.scopes.called.get("exec", ()) for each in call.args[1:])
        return any(isinstance(each, ast.Call) and self.scopes.qualified(each.func) == "globals" for each in spaces)

    def _imported(self, node: ast.expr) -> Value:
        """What a name is that the program imports from another file of its repository: a number, a text, a list of them.

        A dictionary is taken to be constant if its name says so: `TRAINING`. Any file may change another one.
        """
        found = self._elsewhere(node)
        if found is None:
            return self.lost(node)
        name, other = found
        value = self._brought(other, lambda: (other.at_end(name) or (None, None))[1], node)
        if isinstance(value, Table):
            self.left -= len(value.entries)
            return value if name.isupper() else self.lost(node)
        return value if isinstance(value, (Known, Items, Place)) else self.lost(node)

    def _elsewhere(self, node: ast.expr) -> tuple[str, Self] | None:
        """The evaluator of the file that gives the imported name `node` (`config.BATCH`) its value, with the name that it has there."""
        found = self.modules.bound(self.scopes.qualified(node), self.program.source.path) if self.modules is not None else None
        return (found.name, self.evaluator_of(found.program)) if found is not None else None

    def evaluator_of(self, program: Program) -> Self:
        """What evaluates another file of the repository, for this program."""
        path = program.source.path
        if path not in self.others:
            other = type(self)(program, self.line, self.modules)
            other.others, other.home, other.looking = self.others, self.home, self.looking
            self.others[path] = other
        return self.others[path]

    def _brought(self, other: Self, ask: Callable[[], Value | None], node: ast.expr) -> Value | None:
        """What `ask` finds out with the evaluator of another file, as a value at `node`; both have one depth and one bound together."""
        depth = other.depth
        other.depth, other.left = max(depth, self.depth), min(self.left, other.left)
        try:
            found = ask()
            plain = not isinstance(found, Made) or (found.name == CONFIGURATION and not other.may_set_of(found.arguments))
            return at_span(found, self.program.span(node)) if found is not None and plain else None
        finally:
            other.depth, self.left = depth, other.left


def _texts(node: ast.expr, scope: Scope) -> set[str]:
    """The texts that `node` may be, as an expression or a name that is given nothing else says; none if it may be any.

    `"max_length" if "max_length" in known else "max_seq_length"`, since versions of a class have different arguments.
    """
    named = (scope.find(node.id) or (scope, []))[1] if isinstance(node, ast.Name) else []
    if len(named) > MOST_BINDINGS:
        return set()
    given = [each.value if each.item < 0 and each.parameter is None else None for each in named] or [node]
    parts = [part for each in given for part in ((each.body, each.orelse) if isinstance(each, ast.IfExp) else (each,))]
    texts = {each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)}
    return texts if all(isinstance(each, ast.Constant) and each.value in texts for each in parts) else set()
