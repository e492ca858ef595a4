"""Literals, containers, arithmetic and comparisons."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from pytest_gbs.arithmetic.python_operators import OPERATORS
from pytest_gbs.model.limits import LARGEST_PRODUCT, LONGEST_NUMBER, LONGEST_TEXT, MOST_BINDINGS, MOST_POWER
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.python.paths import Paths
from pytest_gbs.readers.python.results import CONFIGURATION, NAMESPACE, Items, Known, Made, Place, Table, Value
from pytest_gbs.readers.python.scopes import Scope

# What Python has that gives the names of the fields of a class, or of the arguments of its call.
_OF_CLASS: Final = frozenset(("signature", "getfullargspec", "__dataclass_fields__", "__annotations__", "fields"))
_COMPARISONS: Final[dict[type[ast.cmpop], Callable[[Any, Any], bool]]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda part, whole: part in whole,
    ast.NotIn: lambda part, whole: part not in whole,
}
_AS_IT_IS: Final = -1
"""What Python's parser says of a value in an f-string to which neither `!r`, `!s` nor `!a` is added."""


class Expressions(Paths):
    """The values of the literals and operators of one program."""

    def _constant(self, node: ast.Constant, _: Scope) -> Value:
        known = node.value is None or isinstance(node.value, (float, str))
        known = known or (isinstance(node.value, int) and node.value < 10**LONGEST_NUMBER)  # no sign is part of it
        return Known(node.value, *self.program.span(node)) if known else self.lost(node)  # type: ignore[arg-type]

    def _tuple(self, node: ast.Tuple | ast.List, scope: Scope) -> Value:
        return Items(tuple(self.value(each, scope) for each in node.elts), *self.program.span(node))

    _list = _tuple

    def _dict(self, node: ast.Dict, scope: Scope) -> Value:
        table = Table({}, *self.program.span(node))
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                table = self._spread(table, self.value(value, scope))
            else:
                named = self.value(key, scope)
                if isinstance(named, Known) and isinstance(named.value, str):
                    table.entries[named.value] = self.program.span(key), self.value(value, scope)
                else:
                    table = table._replace(rest=self.lost(key))
        return table

    def _dictcomp(self, node: ast.DictComp, scope: Scope) -> Value:
        """A dictionary without the entries that a condition leaves out: `{k: v for k, v in given.items() if k in known}`.

        A condition is that a value is not None, or that a name is one of those which a class has: each argument of a class that the
        program hands the rest to. Nothing is known of what any other one leaves.
        """
        copied = _copied(node)
        given = self.value(copied[0], scope) if copied is not None else None
        if copied is None or not isinstance(given, Table):
            return self.lost(node)
        entries = dict(given.entries)
        for test in _all_of(node.generators[0].ifs):
            of_key, of_value = _compared(test, copied[1]), _compared(test, copied[2])
            if of_value is not None and isinstance(of_value[0], ast.IsNot):
                entries = {name: each for name, each in entries.items() if not isinstance(each[1], Known) or each[1].value is not None}
            elif of_key is None or not isinstance(of_key[0], ast.In) or not self._names_of_class(of_key[1], scope):
                return self.lost(node)
        return given._replace(entries=entries)

    def _names_of_class(self, node: ast.expr, scope: Scope) -> bool:
        """Whether `node` is, or is made in a few steps from, the names that Python says a class or its call has."""
        pending, steps = [node], 0
        while pending and steps < MOST_BINDINGS:
            steps += 1
            for each in ast.walk(pending.pop()):
                if isinstance(each, (ast.Attribute, ast.Name)) and (each.attr if isinstance(each, ast.Attribute) else each.id) in _OF_CLASS:
                    return True
                found = scope.binding(each) if isinstance(each, ast.Name) else None
                pending += [found[1].value] if found is not None and found[1].value is not None and found[1].parameter is None else []
        return False

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Value:
        inner = self.value(node.operand, scope)
        if isinstance(inner, Table) and isinstance(node.op, ast.Not) and inner.entries:
            return Known(False, *self.program.span(node))
        if isinstance(inner, Known) and isinstance(node.op, ast.Not):
            return inner._replace(value=not inner.value)
        if isinstance(inner, Known) and isinstance(node.op, ast.USub) and isinstance(inner.value, (int, float)):
            return Known(-inner.value, *self.program.span(node))
        return self.lost(node)

    def _binop(self, node: ast.BinOp, scope: Scope) -> Value:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(left, Place) and isinstance(node.op, ast.Div):
            return self.joined([left, right], node)
        if isinstance(node.op, ast.Add) and all(isinstance(each, Known) and isinstance(each.value, str) for each in (left, right)):
            return self._put_together([left, right], node)
        if self.line is None and isinstance(node.op, (ast.Div, ast.FloorDiv)) and _counts_processes(node.right, scope):
            return self.lost(node)  # `64 // devices` is not a number of each process: it changes with the hardware
        computes = _power if isinstance(node.op, ast.Pow) else OPERATORS.get(type(node.op))
        if computes is None or not isinstance(left, Known) or not isinstance(right, Known):
            return self.lost(node)
        if not isinstance(left.value, (int, float)) or not isinstance(right.value, (int, float)):
            return self.lost(node)
        try:
            result = computes(left.value, right.value)
        except (ArithmeticError, ValueError):
            return self.lost(node)
        return Known(result, *self.program.span(node)) if abs(result) <= LARGEST_PRODUCT else self.lost(node)

    def _joinedstr(self, node: ast.JoinedStr, scope: Scope) -> Value:
        """What an f-string is; lost if something in it is not known, or is put in in a form of its own: `f"{size:>4}"`."""
        put_in = [each for each in node.values if isinstance(each, ast.FormattedValue)]
        if any(each.conversion != _AS_IT_IS or each.format_spec is not None for each in put_in):
            return self.lost(node)
        return self._put_together(
            [self.value(each.value if isinstance(each, ast.FormattedValue) else each, scope) for each in node.values], node
        )

    def _put_together(self, parts: list[Value], node: ast.expr) -> Value:
        """The text that `parts` are one after the other, texts and whole numbers; lost if one is anything else, or it gets too long."""
        texts = [str(each.value) for each in parts if isinstance(each, Known) and type(each.value) in (str, int)]
        is_known = len(texts) == len(parts) and sum(map(len, texts)) <= LONGEST_TEXT
        return Known("".join(texts), *self.program.span(node)) if is_known else self.lost(node)

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Value:
        for each in node.values:
            found = self.value(each, scope)
            if isinstance(found, Table) and found.entries:
                return found if isinstance(node.op, ast.Or) else self.lost(node)
            if not isinstance(found, Known):
                return self.lost(node)
            if bool(found.value) == isinstance(node.op, ast.Or):
                return found
        return found

    def _compare(self, node: ast.Compare, scope: Scope) -> Value:
        compares = _COMPARISONS.get(type(node.ops[0])) if len(node.ops) == 1 else None
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        if isinstance(right, Table) and isinstance(left, Known) and right.rest is None and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            return Known((left.value in right.entries) == isinstance(node.ops[0], ast.In), *self.program.span(node))
        if isinstance(left, Known) and isinstance(right, Items) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
            members = [each.value for each in right.items if isinstance(each, Known)]
            all_known = len(members) == len(right.items)
            found = (left.value in members) == isinstance(node.ops[0], ast.In)
            return Known(found, *self.program.span(node)) if all_known else self.lost(node)
        if isinstance(left, Table) and isinstance(right, Known) and right.value is None and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
            return Known(isinstance(node.ops[0], ast.IsNot), *self.program.span(node))
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
        return self._agreed((self.value(each, scope) for each in (node.body, node.orelse)), 2, node)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        if isinstance(node.slice, ast.Slice):
            return self._cut(node, node.slice, scope)
        base, key = self.value(node.value, scope), self.value(node.slice, scope)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "parents":
            return self.above(self.value(node.value.value, scope), key, node)
        if self.scopes.qualified(node.value) == "os.environ":
            return self.of_environment(key, None, node, scope)
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

    def _cut(self, node: ast.Subscript, cut: ast.Slice, scope: Scope) -> Value:
        """A part of a text: `args.config[-5:]`."""
        whole = self.value(node.value, scope)
        ends = [self.value(each, scope) if each is not None else Known(None, 0, 0) for each in (cut.lower, cut.upper)]
        known = [each.value for each in ends if isinstance(each, Known) and (each.value is None or type(each.value) is int)]
        if not isinstance(whole, Known) or not isinstance(whole.value, str) or len(known) < 2 or cut.step is not None:
            return self.lost(node)
        return whole._replace(value=whole.value[known[0] : known[1]])


def _copied(node: ast.DictComp) -> tuple[ast.expr, str, str] | None:
    """What a comprehension copies the entries of, and its names of a key and a value; None if it does anything else."""
    items, target = node.generators[0].iter, node.generators[0].target
    method = items.func if isinstance(items, ast.Call) and not items.args else None
    names = [each.id for each in target.elts if isinstance(each, ast.Name)] if isinstance(target, ast.Tuple) else []
    same = names == [each.id for each in (node.key, node.value) if isinstance(each, ast.Name)]
    plain = len(node.generators) == 1 and len(names) == 2 and same
    return (method.value, names[0], names[1]) if plain and isinstance(method, ast.Attribute) and method.attr == "items" else None


def _all_of(tests: Iterable[ast.expr]) -> Iterator[ast.expr]:
    """Yield `tests`, those that `and` joins one by one."""
    for test in tests:
        yield from test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else (test,)


def _compared(test: ast.expr, name: str) -> tuple[ast.cmpop, ast.expr] | None:
    """How `test` compares `name`, and with what; None if it is another test."""
    plain = isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == name and len(test.ops) == 1
    return (test.ops[0], test.comparators[0]) if isinstance(test, ast.Compare) and plain else None


def _power(base: int | float, power: int | float) -> int | float:
    """`base` to the `power`; a ValueError if it is not a size that people write."""
    if abs(power) > MOST_POWER or abs(base) > LARGEST_PRODUCT:
        raise ValueError
    found: int | float | complex = base**power
    if isinstance(found, complex):
        raise ValueError
    return found


_processes = lazy_pattern(r"(?:n|n_|num_|num_of_)?(?:devices|gpus|processes)|(?:n|n_|num_)gpu|nproc|world_size", re.IGNORECASE)


def _counts_processes(node: ast.expr, scope: Scope) -> bool:
    """Whether the name of `node` says that it is a number of processes or GPUs, unless the program has written down several."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    if _processes().fullmatch(name) is None:
        return False
    bindings = (scope.find(name) or (scope, []))[1] if isinstance(node, ast.Name) else []
    written = bindings[0].value if len(bindings) == 1 and bindings[0].parameter is None else None
    return not isinstance(written, ast.Constant) or written.value in (0, 1, None)
