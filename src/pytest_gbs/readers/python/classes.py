"""Classes that are made from those of a library, here or in another file of the repository, with the defaults that they give anew."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.limits import DEEPEST_PARENTS
from pytest_gbs.readers.python.objects import Objects
from pytest_gbs.readers.python.results import NAMESPACE, Ancestor, Entry, Known, Lost, Made, Value, at_span, batch_name
from pytest_gbs.readers.python.scopes import Scope

if TYPE_CHECKING:
    from typing import Self

_MAKES: Final = frozenset(("__init__", "__post_init__"))


class Classes(Objects):
    """The classes of one program."""

    def ancestor(self, func: ast.expr, scope: Scope, depth: int = 0, *, elsewhere: bool = True) -> Ancestor:
        """What the class that `func` names is made from, other files are looked at if it may be `elsewhere`."""
        definition, name = self.definition(func, scope), self.scopes.qualified(func)
        if definition is not None:
            return self._ancestor_of(definition, depth, elsewhere)
        found = self.class_elsewhere(func) if elsewhere and depth < DEEPEST_PARENTS else None
        above = found[0]._ancestor_of(found[1], depth + 1, elsewhere) if found is not None else None
        names = (name,) if "." in name and not name.startswith(".") else ()
        if above is None or not above.names:
            return Ancestor(names, {})
        span = self.program.span(func)
        fields = {key: (span, at_span(value, span)) for key, (_, value) in above.fields.items()}
        if self.modules is not None and self.modules.context.has_table(name):  # the library itself: its table says what the class sets
            return Ancestor(names + above.names, {key: entry for key, entry in fields.items() if isinstance(entry[1], Known)})
        return above._replace(names=names + above.names, fields=fields)

    def class_of(self, made: Made) -> tuple[Self, ast.ClassDef] | None:
        """The class of the tree that made `made`, with what evaluates its file; None for one of a library."""
        if made.definition is not None:
            return self, made.definition
        return self.class_elsewhere(made.func) if made.func is not None else None

    def carried(self, value: Value) -> Value:
        """`value`, which another file gets, with all that it has in this one: the options of argparse, the fields of a class."""
        if not isinstance(value, Made):
            return value
        place, entries, rest = (value.start, value.stop), value.arguments.entries, value.arguments.rest
        if value.name == NAMESPACE:
            of_another = ((name, Lost(*place) if self._is_set(name) else each) for name, (_, each) in entries.items())  # file's parser
            entries = {name: (place, each) for name, each in (of_another if entries else self.each_option())}
            rest = rest if entries else Lost(*place)  # a parser that is not known
        elif (class_ := self.class_of(value)) is not None and value.arguments.rest is None:
            own, definition = class_
            names = (name for each in own.ancestry(definition) for name in own.scopes.inner[each].names)
            fields = ((name, self.given_by_place(value, name) or own.field(definition, name)) for name in names)
            entries = {name: (place, at_span(each, place)) for name, each in fields if each is not None} | entries
            by_name, sets = "setattr" in self.scopes.called, self.scopes.attributes
            entries |= {name: (place, Lost(*place)) for name in entries if by_name or sets.get(name, {}).keys() - {"self"}}
        return value._replace(arguments=value.arguments._replace(entries=entries, rest=rest), definition=None)

    def handed(self, function: ast.FunctionDef, call: ast.Call, scope: Scope) -> dict[ast.AST, Value]:
        """What `call` gives the parameters of a function of another file, as that file may read it."""
        return {node: self.carried(value) for node, value in self.arguments(function, call, scope).items()}

    def _ancestor_of(self, definition: ast.ClassDef, depth: int, elsewhere: bool) -> Ancestor:
        if definition not in self.behind:
            self.behind[definition] = Ancestor((), {})  # while it is looked at
            self.behind[definition] = self._together(definition, depth, elsewhere)
        return self.behind[definition]

    def _together(self, definition: ast.ClassDef, depth: int, elsewhere: bool) -> Ancestor:
        """What `definition` and the classes that it is made from have together."""
        names: tuple[str, ...] = ()
        fields, sets = self._fields(definition), self._set_sizes(definition) if elsewhere else frozenset[str]()
        for each in self.ancestry(definition):
            for base in each.bases:
                if self.definition(base, self.scopes.module) is None:
                    above = self.ancestor(base, self.scopes.module, depth, elsewhere=elsewhere)
                    names, fields, sets = names + above.names, above.fields | fields, sets | above.sets
        return Ancestor(names or ((definition.name,) if fields else ()), fields, sets)

    def _fields(self, definition: ast.ClassDef) -> dict[str, Entry]:
        """The defaults that a class of this file and its bases in this file give fields, of those among them that name a batch size."""
        found: dict[str, Entry] = {}
        for each in self.ancestry(definition):
            names = self.scopes.inner[each].names
            for name, bindings in names.items() if batch_name().search(" ".join(names)) else ():
                target = bindings[0].node.target if isinstance(bindings[0].node, ast.AnnAssign) else None
                value = self.field(each, name) if target is not None and name not in found else None
                if target is not None and value is not None:
                    found[name] = self.program.span(target), value
        return found

    def _set_sizes(self, definition: ast.ClassDef) -> frozenset[str]:
        """The batch sizes that a class of this file takes, hands on or sets itself when one is made."""
        methods = [
            method
            for each in self.ancestry(definition)
            for method in each.body
            if isinstance(method, (ast.FunctionDef, ast.AsyncFunctionDef))
            and method.name in _MAKES
            and batch_name().search(self.program.written(method))
        ]
        found: set[str] = set()
        for node in (node for method in methods for node in ast.walk(method)):
            if isinstance(node, (ast.arg, ast.keyword)):
                found.add(node.arg or "")
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
                found.add(node.attr)
        return frozenset(name for name in found if batch_name().search(name))
