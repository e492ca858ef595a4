"""What an expression of a program is, as far as its text fixes that; everything else is lost, with the place where."""

from __future__ import annotations

import ast
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION, MOST_EVALUATED
from pytest_gbs.readers.command_settings import CommandLine
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import CONFIGURATION, NAMESPACE, Ancestor, Entry, Known, Lost, Made, Place, Table, Value
from pytest_gbs.readers.python.scopes import Branch, Change, Scope
from pytest_gbs.readers.python.updates import may_set_any, set_attributes, set_items

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Self


# What is kept of an evaluation: numbers, texts and paths, since nothing changes them later.
_KEPT: Final = frozenset((ast.Attribute, ast.Call, ast.Name))
_PLAIN: Final = frozenset((Known, Lost, Place))
_FEW_TABLES: Final = 4
_TANGLED: Final = MOST_EVALUATED * 4 // 5  # with no more left, what is lost on one of the ways to a name is lost on all of them


class Looking:
    """The bindings that are being looked at: how many have `begun`, and the `lowest` number of those that were needed before their end.

    What needs one that began before it may be something else where that one is known.
    """

    def __init__(self) -> None:
        self.begun = self.lowest = 0


class Evaluation:
    """The values of one program's expressions; it looks at no more of them than a bound allows.

    With a `line` they are those that the program has when it is started so, else what it does by default. With `modules` what it
    imports from other files of its repository is looked at there.
    """

    def __init__(self, program: Program, line: CommandLine | None = None, modules: Modules | None = None) -> None:
        self.program, self.scopes, self.line, self.modules = program, program.scopes, line, modules
        self.world = line.world if line is not None else None
        self.home = program.source.path.rpartition("/")[0]  # of the program that is started, where its relative paths may begin
        self.brought: dict[tuple[ast.Call, bool], Table | None] = {}
        self.others: dict[str, Self] = {}  # of the files that are imported, by their paths; one for all of them
        self.given = {}
        self.looking = Looking()  # one for all files
        self.left = MOST_EVALUATED
        self.depth = 0
        self.set_options: dict[tuple[str, bool], bool | None] = {}
        self.filled: set[object] | None = None  # the options that the program fills, several at once
        self.is_filling = False  # while these are looked for
        self.are_options: dict[tuple[ast.expr | str, Scope], bool] = {}
        self.otherwise: dict[tuple[Scope, str], set[object] | None] = {}  # what is set of names otherwise than by statements
        self.called: dict[tuple[Scope, int], bool] = {}  # whether functions may be called, by how far their callers are looked at
        self.settings = {each.name: (number, each) for number, each in enumerate(line.settings)} if line is not None else {}
        self.unset: list[tuple[int, int, str]] = []  # variables that are taken to be unset, and where they are asked for
        self.abbreviated: dict[tuple[str, ...], bool] = {}
        self.decorators: dict[ast.AST, dict[str, ast.Call]] = {}
        self.ancestors: dict[ast.AST, list[ast.ClassDef]] = {}
        self.behind: dict[ast.ClassDef, Ancestor] = {}
        self.composed: dict[ast.AST, Made | None] = {}  # what Hydra gives functions
        self.bound: dict[ast.AST, int] = {}  # the statements that are being looked at, each with its number among all of them
        self.built: dict[tuple[Scope, str], Table] = {}  # configurations that functions are making, by their names

    @property
    def given(self) -> dict[ast.AST, Value]:
        """What parameters are, if that is known better than from the calls in the file."""
        return self._given

    @given.setter
    def given(self, given: dict[ast.AST, Value]) -> None:
        self._given = given
        self.found: dict[tuple[ast.expr, Scope, int | None], Value] = {}  # what was looked at with these, with the world

    @contextmanager
    def knowing(self, given: dict[ast.AST, Value]) -> Iterator[None]:
        """Have parameters be what is `given` too while this lasts; what was looked at before that is kept for afterwards."""
        around, found = self.given, self.found
        self.given = around | given
        try:
            yield
        finally:
            self.given, self.found = around, found

    def value(self, node: ast.expr, scope: Scope) -> Value:
        """What `node` is in `scope`."""
        place = (node, scope, self.world) if type(node) in _KEPT and not self.built else None
        found = self.found.get(place) if place is not None else None
        if found is not None:
            return found
        self.left -= 1
        if self.left < 0 or self.depth >= DEEPEST_EXPRESSION:
            return self.guess(node)
        self.depth += 1
        kept, looking = self.found, self.looking
        outer, looking.lowest = looking.lowest, looking.begun
        try:
            reads = getattr(self, f"_{type(node).__name__.lower()}", None)
            value = reads(node, scope) if reads is not None else self.lost(node)
        finally:
            self.depth -= 1
        is_same = looking.lowest >= looking.begun or (self.left < _TANGLED and type(value) is Lost)
        if place is not None and is_same and type(value) in _PLAIN:
            kept[place] = value
        looking.lowest = min(outer, looking.lowest)
        return value

    def set_to(self, sets: list[Change], scope: Scope, line: int, node: ast.expr) -> Value:
        """What the only one of `sets` sets its target to, if it always does so in `scope` before `line`; else lost at `node`."""
        given = sets[0].assigned(scope, line) if len(sets) == 1 else None
        return self.value(given, scope) if given is not None else self.lost(node)

    def guess(self, node: ast.expr, number: int = -1) -> Lost:
        """What `node` is while the binding with that `number` is being looked at, or too much for a bound; elsewhere it may be known."""
        self.looking.lowest = min(self.looking.lowest, number)
        return self.lost(node)

    def lost(self, node: ast.expr) -> Lost:
        """What is not known of `node`."""
        return Lost(*self.program.span(node))

    def runs(self, branch: Branch | None, scope: Scope) -> bool | None:
        """Whether what is in `branch` runs, None if the text does not say."""
        runs: bool | None = True
        while branch is not None:
            if self.left < 0:
                self.looking.lowest = -1
                return None
            test = self.value(branch.test, scope) if branch.test is not None else None
            if not isinstance(test, Known):
                runs = None
            elif bool(test.value) != branch.taken:
                return False
            branch = branch.outer
        return runs

    def _agreed(self, found: Iterator[Value], number: int, node: ast.expr) -> Value:
        """The one constant that all `number` values of `found` are, or what argparse gives in each case; a single one, whatever it is.

        Of dictionaries the keys are known whose values are the same in all of them.
        None is asked for behind the first that settles it: a name that is often set from what it was would be looked at too often.
        """
        first = next(found)
        if number == 1:
            return first
        if isinstance(first, Table) and number <= _FEW_TABLES:
            return _shared([first, *found], self.lost(node))
        if not isinstance(first, Known) and not _is_of_argparse(first):
            return self.lost(node)
        return first if all(map(partial(_are_the_same, first), found)) else self.lost(node)

    def _text(self, table: Table, key: str) -> str | None:
        value = table.get(key)
        return value.value if isinstance(value, Known) and isinstance(value.value, str) else None

    def origin(self, node: ast.expr, scope: Scope) -> ast.Call | None:
        """The call that made what `node` names."""
        if isinstance(node, ast.Call):
            return node
        found = scope.binding(node)
        value = found[1].value if found is not None else None
        return value if isinstance(value, ast.Call) else None

    def definition(self, node: ast.expr, scope: Scope) -> ast.ClassDef | None:
        """The class of this file that `node` names, None if it names something else."""
        bound = scope.bound(node)
        return bound if isinstance(bound, ast.ClassDef) else None

    def ancestry(self, definition: ast.ClassDef) -> list[ast.ClassDef]:
        """`definition` and the classes of this file that it is made from, nearest first."""
        if definition not in self.ancestors:
            found = self.ancestors[definition] = [definition]
            for each in found:
                bases = [self.definition(base, self.scopes.module) for base in each.bases]
                found.extend(base for base in bases if base is not None and base not in found and len(found) < DEEPEST_EXPRESSION)
        return self.ancestors[definition]

    def _is_of_framework(self, made: Made) -> bool:
        if made.definition is None:
            return True
        bases = (base for each in self.ancestry(made.definition) for base in each.bases)
        return any("." in self.scopes.qualified(base) for base in bases if self.definition(base, self.scopes.module) is None)

    @cached_property
    def may_set(self) -> bool:
        """Whether the program may change any key of a configuration."""
        return may_set_any(self.scopes)

    @cached_property
    def attributes_set(self) -> set[str]:
        """The attributes that the program sets of anything but `self`."""
        return set_attributes(self.scopes)

    @cached_property
    def items_set(self) -> set[object]:
        """The keys of items that the program sets: `cfg["batch"] = 4`."""
        return set_items(self.scopes)

    def may_set_of(self, table: Table) -> bool:
        """Whether the program may change any key of a configuration that has `table`."""
        names = {*table.entries, ...}
        inner = (each.arguments for _, each in table.entries.values() if isinstance(each, Made))
        return self.may_set or not names.isdisjoint(self.attributes_set | self.items_set) or any(map(self.may_set_of, inner))

    def partials(self, func: ast.expr, scope: Scope) -> tuple[ast.expr, list[tuple[ast.Call, Scope]]]:
        """What a call of `func` calls in the end, and the calls of `functools.partial` on the way, each with its scope, the last first."""
        found: list[tuple[ast.Call, Scope]] = []
        while "partial" in self.scopes.called and len(found) < DEEPEST_EXPRESSION:
            made, bound = self.origin(func, scope), scope.find(func.id) if isinstance(func, ast.Name) else None
            if made is None or not made.args or self.scopes.qualified(made.func) != "functools.partial":
                break
            func, scope = made.args[0], bound[0] if bound is not None else scope
            found.append((made, scope))
        return func, found

    def keywords(self, call: ast.Call, scope: Scope) -> Table:
        """The arguments of a call that have names, with those that `functools.partial` has given before."""
        table = Table({}, *self.program.span(call))
        for made, where in reversed(self.partials(call.func, scope)[1]):
            table = self._with_keywords(table, made, where)
        return self._with_keywords(table, call, scope)

    def _with_keywords(self, table: Table, call: ast.Call, scope: Scope) -> Table:
        for keyword in call.keywords:
            if keyword.arg is None:
                table = self._spread(table, self.value(keyword.value, scope))
            else:
                table.entries[keyword.arg] = self.name_of(keyword, call), self.value(keyword.value, scope)
        return table

    def name_of(self, keyword: ast.keyword | None, call: ast.Call) -> tuple[int, int]:
        """Where `call` has the name of an argument, or the name of what it calls if it does not give that argument."""
        start, stop = self.program.span(keyword or call.func)
        return start, start + len(keyword.arg or "") if keyword is not None else stop

    def _spread(self, table: Table, more: Value) -> Table:
        """`table` with the entries of `**more`; what they are if that is not known."""
        if isinstance(more, Made) and more.name == CONFIGURATION and not self.may_set:
            more = more.arguments
        if isinstance(more, Table):
            table.entries.update(more.entries)
            return table._replace(rest=table.rest or more.rest)
        return table._replace(rest=Lost(more.start, more.stop))

    def _entry(self, table: Table, key: str, node: ast.expr) -> Value:
        found = table.entries.get(key)
        return found[1] if found is not None and table.rest is None else self.lost(node)


def _is_of_argparse(value: Value) -> bool:
    return isinstance(value, Made) and value.name == NAMESPACE and not value.arguments.entries


def _shared(values: list[Value], lost: Lost) -> Value:
    """The dictionary with what dictionaries have in common: the same number or text of one key; the other values are `lost`."""
    tables = [each for each in values if isinstance(each, Table) and each.rest is None]
    if len(tables) < len(values):
        return lost
    entries: dict[str, Entry] = {key: (place, lost) for each in reversed(tables) for key, (place, _) in each.entries.items()}
    for key, (place, value) in tables[0].entries.items():
        if isinstance(value, Known) and all((other := each.get(key)) is not None and _are_the_same(value, other) for each in tables):
            entries[key] = place, value
    return tables[0]._replace(entries=entries)


def _are_the_same(first: Value, other: Value) -> bool:
    if isinstance(first, Known) and isinstance(other, Known):
        return bool(first.value == other.value)
    return _is_of_argparse(first) and _is_of_argparse(other)
