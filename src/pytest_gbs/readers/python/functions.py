"""Functions that make a configuration and return it: `cfg.train.global_batch_size = 512`, one statement after the other."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.model.document import OF_FILE
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, DEEPEST_EXPRESSION, MOST_DOCUMENTS
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import AttributePath, attribute_path, dotted
from pytest_gbs.readers.python.changed_elsewhere import changed_elsewhere, ends_once, set_by
from pytest_gbs.readers.python.modules import Defined, Modules
from pytest_gbs.readers.python.results import Entry, Known, Lost, Made, Table, placed, put, table_of
from pytest_gbs.readers.python.scopes import Binding, Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_READ_AGAIN: Final = 200  # of what may be looked at is what it costs to read a function for one of its calls


def configurations(scopes: Scopes, evaluator: Evaluator, modules: Modules) -> Iterator[tuple[ast.AST, Table]]:
    """Yield each function that returns what it sets attributes of, or what the call of a class makes, with what it set.

    What it starts from may set more, so that a key that is absent is unknown; unless that is a class of the library that the classes of
    its arguments come from, whose defaults a table may know.
    """
    made = _Functions(scopes, evaluator, modules)
    found = [node for node in scopes.inner if isinstance(node, ast.FunctionDef)]
    for node in found:
        if node.name == OF_FILE and OF_FILE not in scopes.called:  # a launch gives its parameters, `--config FILE:runlocal`, if at all
            evaluator.given |= evaluator.defaults(node)
    for node in found[:MOST_DOCUMENTS]:
        table = made.table(node) if not _is_changed_in_use(node, scopes) else None
        if table is not None and table.entries:
            yield node, table
    for name, scope in islice(_used(scopes), MOST_DOCUMENTS):
        use = made.used(name, scope)
        if use is not None:
            yield use


def _used(scopes: Scopes) -> Iterator[tuple[str, Scope]]:
    """Yield each name of which attributes are set where it is made by a call, and which is not returned, with its scope."""
    for name, changes in scopes.changes.items():
        for scope in dict.fromkeys(change.scope for change in changes):
            if name not in scope.returned and any(isinstance(each.value, ast.Call) for each in scope.names.get(name, ())):
                yield name, scope


def _is_changed_in_use(function: ast.FunctionDef, scopes: Scopes) -> bool:
    """Whether the program sets attributes of what `function` returned where it uses it, and returns it no further.

    What has a decorator may be used by others, too (`@run.cli.factory`).
    """
    calls = scopes.called.get(function.name, ()) if not function.decorator_list else ()
    used = ((name, scope) for call, scope in calls for name in scope.named.get(call, ()) if name not in scope.returned)
    return any(change.scope is scope for name, scope in used for change in scopes.changes.get(name, ()))


def returned_elsewhere(call: ast.Call, scope: Scope, evaluator: Evaluator) -> Table | None:
    """The dictionary that a function of another file returns at its end for `call`, all of it at the call; None if it returns none."""
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    defined = evaluator.modules.function(name, evaluator.program) if evaluator.modules is not None else None
    last = defined.function.body[-1] if defined is not None else None
    returned = last.value if isinstance(last, ast.Return) else None
    if defined is None or not isinstance(returned, (ast.Dict, ast.Name)) or not ends_once(defined.function):
        return None
    other = Evaluator(defined.program)
    other.left = evaluator.left
    other.given = other.defaults(defined.function) | evaluator.handed(defined.function, call, scope)
    found = other.value(returned, defined.program.scopes.inner[defined.function])
    evaluator.left = other.left
    return placed(found, evaluator.program.span(call)) if isinstance(found, Table) else None


class _Event(NamedTuple):
    """What happens to an attribute of a name: it is set to what is `given`, or None, it is lost."""

    at: tuple[int, int]
    node: ast.expr | ast.stmt
    path: AttributePath
    given: Known | ast.expr | None


class _Functions:
    """The functions of one program while it is read; each is looked at once."""

    def __init__(self, scopes: Scopes, evaluator: Evaluator, modules: Modules) -> None:
        self.scopes, self.evaluator, self.modules = scopes, evaluator, modules
        self.tables: dict[ast.FunctionDef, Table | None] = {}
        self.names: dict[tuple[Scope, str], Table | None] = {}
        self.depth = 0

    def table(self, function: ast.FunctionDef) -> Table | None:
        """What `function` returns, None if that is not a configuration, or one of several."""
        if function not in self.tables and self.depth < DEEPEST_EXPRESSION:
            self.tables[function] = None  # while it is looked at
            self.depth += 1
            scope = self.scopes.inner[function]
            if len(scope.returned) == 1:
                (returned,) = scope.returned
                found = self._named(returned, scope) if isinstance(returned, str) else self._made(returned, scope)
                self.tables[function] = found
            self.depth -= 1
        return self.tables.get(function)

    def _returned(self, function: ast.FunctionDef, call: ast.Call, scope: Scope) -> Table | None:
        """What a function of this file returns for the arguments of `call`, None as for `table`."""
        general = self.table(function)
        own = self.evaluator.own_arguments(function, call, scope) if general is not None else None
        if own is None:
            return general
        self.evaluator.left -= _READ_AGAIN
        if self.evaluator.left < 0:
            return None
        names, tables = self.names, self.tables
        self.names, self.tables = {}, {each: None for each, found in tables.items() if found is None}
        with self.evaluator.knowing(own):
            found = self.table(function)
        self.names, self.tables = names, tables
        return found

    def _made(self, node: ast.AST, scope: Scope, library: str = "") -> Table | None:
        """What a call makes: the arguments of a class, or what a function of this file returns; it is in something of `library`."""
        if not isinstance(node, ast.Call):
            return None
        if _takes_overrides(node, scope):
            return self._made(node.func.value, scope, library)  # type: ignore[attr-defined]
        defined = scope.bound(node.func)
        start, stop = self.evaluator.program.span(node)
        if isinstance(defined, ast.FunctionDef):
            found = self._returned(defined, node, scope)
            return self._copied(found)._replace(start=start, stop=stop) if found is not None else None
        elsewhere = self._elsewhere(node)
        if elsewhere is not None:
            return self._made_elsewhere(elsewhere, node, scope)
        made = self.evaluator.value(node, scope)
        if not isinstance(made, Made):
            return self._set_by_arguments(node, scope)
        library = library or self._library(made, scope)
        table = _opened(made, library, 0)
        for keyword in node.keywords:
            inner = self._given(keyword.value, scope, library)
            if keyword.arg in table.entries and inner is not None:  # a parser makes no fields of what it is given
                table.entries[keyword.arg] = table.entries[keyword.arg][0], inner
        return table

    def _set_by_arguments(self, call: ast.Call, scope: Scope) -> Table | None:
        """What the arguments of a library's function set of what it returns; None if no table knows the function."""
        keys, lost = self.modules.context.set_by_arguments(dotted(call.func).rpartition(".")[2]), self.evaluator.lost(call)
        table = Table({}, lost.start, lost.stop, lost)
        for keyword in call.keywords:
            if keyword.arg is not None and keyword.arg in keys:
                value = self.evaluator.value(keyword.value, scope)
                put(table, tuple(map(str, keys[keyword.arg])), self.evaluator.program.span(keyword.value), value)
        return table if keys else None

    def _library(self, made: Made, scope: Scope) -> str:
        """The library that the class of `made` comes from or, if it is of this file and sets nothing within its arguments, is made from."""
        if made.definition is None or made.func is None:
            return made.name.partition(".")[0]
        own = self.evaluator.ancestry(made.definition)
        inside = (each.scope.parent for each in self.scopes.changes.get("self", ()) if len(set_by(each)[0]) > 1)
        if any(each is not None and each.node in own for each in inside):
            return made.name
        return (*self.evaluator.ancestor(made.func, scope, elsewhere=False).names, made.name)[0].partition(".")[0]

    def _elsewhere(self, call: ast.Call) -> Defined | None:
        """The function of another file of the repository that `call` calls by a name that is imported, or as one of an imported module."""
        name = self.scopes.qualified(call.func)
        if dotted(call.func).partition(".")[0] not in self.scopes.imported or name.rpartition(".")[2][:1].isupper():
            return None  # a class is what its arguments say
        if isinstance(call.func, ast.Name):
            return self.modules.function(call.func.id, self.evaluator.program)
        found = self.modules.bound(name, self.evaluator.program.source.path)
        return self.modules.function(found.name, found.program) if found is not None else None

    def _made_elsewhere(self, defined: Defined, call: ast.Call, scope: Scope) -> Table | None:
        """What a function of another file returns for the arguments of `call`, all of it at the place of the call."""
        other = _Functions(defined.program.scopes, Evaluator(defined.program), self.modules)
        other.depth, other.evaluator.left = self.depth + 1, self.evaluator.left
        given = self.evaluator.handed(defined.function, call, scope)
        other.evaluator.given = other.evaluator.defaults(defined.function) | given
        found = other.table(defined.function)
        self.evaluator.left = other.evaluator.left
        kept = {id(each) for each in given.values()}
        return placed(found, self.evaluator.program.span(call), kept) if found is not None else None

    def _given(self, node: ast.expr, scope: Scope, library: str = "") -> Table | None:
        """What an argument is if a call makes it, or if attributes of it are set; None if it is anything else."""
        if isinstance(node, ast.Call):
            return self._made(node, scope, library)
        return self._named(node.id, scope) if isinstance(node, ast.Name) and node.id in self.scopes.changes else None

    def _named(self, name: str, scope: Scope) -> Table | None:
        """The attributes of `name` at the end of its function; what is handed on to a function that may change it is lost."""
        if (scope, name) not in self.names and self.depth < DEEPEST_EXPRESSION:
            self.names[scope, name] = None  # while it is looked at
            self.depth += 1
            self.names[scope, name] = self._at_end(name, scope)
            self.depth -= 1
        found = self.names.get((scope, name))
        return self._copied(found) if found is not None else None

    def _copied(self, table: Table) -> Table:
        """`table` with tables of its own, so that what changes in it changes nowhere else; without keys if there are too many."""
        self.evaluator.left -= len(table.entries)
        if self.evaluator.left < 0:
            return table._replace(entries={}, rest=Lost(table.start, table.stop))
        entries: dict[str, Entry] = {}
        for name, (place, value) in table.entries.items():
            inner = table_of(value)
            entries[name] = place, self._copied(inner) if isinstance(inner, Table) else value
        return table._replace(entries=entries)

    def used(self, name: str, scope: Scope) -> tuple[ast.AST, Table] | None:
        """The statement that makes what is called `name`, and its attributes where it is used after they were set; None if it is not."""
        binding = self._binding(name, scope)
        if binding is None or binding.value is None or (scope, name) in self.names:
            return None
        self.names[scope, name] = None  # while it is looked at
        events = self._events(name, scope, binding)
        last = max((place for place, event in enumerate(events) if event.path and event.given is not None), default=len(events))
        stop = next((place for place in range(last + 1, len(events)) if not events[place].path), None)
        table = self._after(events[:stop], name, scope, binding) if stop is not None else None
        del self.names[scope, name]
        return (binding.node, table) if table is not None else None

    def _at_end(self, name: str, scope: Scope) -> Table | None:
        binding = self._binding(name, scope)
        return self._after(self._events(name, scope, binding), name, scope, binding) if binding is not None else None

    def _events(self, name: str, scope: Scope, binding: Binding) -> list[_Event]:
        """What happens to the attributes of `name` after `binding` made it, in the order of the text."""
        events: list[_Event] = []
        for call, path, constant in changed_elsewhere(name, scope, self.evaluator.program, self.modules):
            runs = self.evaluator.runs(self.scopes.done[call], scope) if call in self.scopes.done else None
            if runs is not False:
                span = self.evaluator.program.span(call)
                known = Known(constant.value, *span) if constant is not None and runs else None  # type: ignore[arg-type]
                events.append(_Event((call.lineno, call.col_offset), call, path, known))
        for change in self.scopes.changes.get(name, ()):
            runs = self.evaluator.runs(change.branch, scope)
            if change.scope is scope and runs is not False:
                path, whole = set_by(change)
                straight = whole and isinstance(change.statement, ast.Assign) and bool(runs)
                place = change.statement.lineno, change.statement.col_offset
                events.append(_Event(place, change.statement, path, change.statement.value if straight else None))
        made = (getattr(binding.node, "end_lineno", 0), getattr(binding.node, "end_col_offset", 0))
        return sorted((event for event in events if event.at >= made), key=lambda event: event.at)

    def _after(self, events: list[_Event], name: str, scope: Scope, binding: Binding) -> Table | None:
        """The attributes of `name` after `events`; None if no one expression makes it."""
        if binding.value is None:
            return None
        lost = self.evaluator.lost(binding.value)
        table = self._made(binding.value, scope) or Table({}, lost.start, lost.stop, lost)
        last = {event.path: event.node for event in events if event.given is None}  # what is lost twice is lost
        self.evaluator.built[scope, name] = table
        for _, node, path, given in events:
            if given is None and last[path] is node:
                _lose(table, path, Lost(*self.evaluator.program.span(node)))
            elif isinstance(given, Known):
                put(table, path, (given.start, given.stop), given)
            elif given is not None and isinstance(node, ast.Assign):
                target = next(each for each in node.targets if attribute_path(each)[1:] == path)
                alias = next((each for each in node.targets if isinstance(each, ast.Name)), given)
                value = self._given(alias, scope) or self.evaluator.value(given, scope)
                opened = _opened(value, self._library(value, scope), 0) if isinstance(value, Made) else value
                put(table, path, self.evaluator.program.span(target), opened)
        del self.evaluator.built[scope, name]
        return table

    def _binding(self, name: str, scope: Scope) -> Binding | None:
        """What gives `name` its value at the end of its function, None if that is not one expression."""
        chosen = self.evaluator.chosen(scope.names.get(name, []), sys.maxsize, scope) or []
        plain = len(chosen) == 1 and chosen[0].item < 0 and chosen[0].parameter is None and not isinstance(chosen[0].node, ast.AugAssign)
        return chosen[0] if plain else None


def _takes_overrides(call: ast.Call, scope: Scope) -> bool:
    """Whether `call` is `Config(...).merge(overrides)`, with overrides that the function gets: what it makes if there are none."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "merge" or not isinstance(function.value, ast.Call) or call.keywords:
        return False
    bindings = [scope.names.get(each.id, ()) for each in call.args if isinstance(each, ast.Name)]
    return len(call.args) == 1 and all(len(each) == 1 and each[0].parameter is not None for each in bindings) and bool(bindings)


def _opened(made: Made, library: str, depth: int) -> Table:
    """What `made` holds; a class that is not of `library`, whose defaults a table may know, may have more keys than are written."""
    entries: dict[str, Entry] = {}
    for name, (place, value) in made.arguments.entries.items():
        nested = isinstance(value, Made) and depth < DEEPEST_DOCUMENT
        entries[name] = place, _opened(value, library, depth + 1) if nested and isinstance(value, Made) else value
    of_library = made.definition is None and made.name.partition(".")[0] == library != ""
    return made.arguments._replace(entries=entries, rest=made.arguments.rest or (None if of_library else Lost(made.start, made.stop)))


def _lose(table: Table, path: AttributePath, lost: Lost) -> None:
    """Make all that is known below `path` unknown."""
    for key in path[:-1]:
        inner = table_of(table.get(key))
        if not isinstance(inner, Table):
            return
        table = inner
    for key in path[-1:] or list(table.entries):
        if key in table.entries:
            place, value = table.entries[key]
            inner = table_of(value)
            if isinstance(inner, Table):
                _lose(inner, (), lost)
            else:
                table.entries[key] = place, lost
