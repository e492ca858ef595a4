"""Variables: how a script sets, declares, counts and takes them away."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Location
from pytest_gbs.shell import conditions
from pytest_gbs.shell.conditions import UNKNOWN, YES, Truth
from pytest_gbs.shell.expansion import read_fields, read_region, read_value, touching
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.state import Variable, text_of, unknown
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_ITEMS = 2_000


def assign(machine: Machine, node: Node) -> Truth:
    """Read `name=value`, `name+=value` and `name[key]=value`."""
    name, variable = read_assignment(machine, node)
    if name:
        machine.state.assign(name, variable)
    return YES


def read_assignment(machine: Machine, node: Node, *rest: Node) -> tuple[str, Variable]:
    """Return the name and the new value; no name where the syntax is broken. `rest` are nodes that belong to the value."""
    target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if target is None:
        return "", Variable()
    adding = any(child.type == "+=" for child in node.children)
    subscript = target.type == "subscript"
    name_node = target.child_by_field_name("name") if subscript else target
    if name_node is None:
        return "", Variable()
    name = machine.raw_node(name_node)
    old = machine.state.variables.get(name) if adding or subscript else None
    if value is not None and value.type == "array":
        items = _items(machine, value, _old_items(machine, name, old) if adding else ())
        return name, items
    parts = read_value(machine, value, *rest) if value is not None else ()
    if subscript:
        return name, _with_item(machine, name, old, _subscript(machine, target), parts, adding=adding)
    if not adding:
        return name, Variable(parts)
    if old is None:
        at = machine.at(target)
        return name, Variable((unknown(name, at, default=True), *parts))
    if old.items is not None:
        return name, _with_item(machine, name, old, "0", parts, adding=True)
    return name, Variable(machine.bounded((*old.parts, *parts)), exported=old.exported)


def _subscript(machine: Machine, target: Node) -> str | None:
    """Return the subscript of `name[...]`, None where it is unknown."""
    index = target.child_by_field_name("index")
    return text_of(read_value(machine, index)) if index is not None else None


def _old_items(machine: Machine, name: str, old: Variable | None) -> tuple[tuple[str, Parts], ...] | None:
    """Return the items that `name` has; None where they are unknown."""
    if old is None:
        return () if name in machine.state.variables or not machine.state.forgotten else None
    if old.items is not None:
        return old.items
    return (("0", old.parts),) if old.parts else ()


def _items(machine: Machine, node: Node, before: tuple[tuple[str, Parts], ...] | None) -> Variable:
    """Return an array of what `( ... )` holds, behind the items it had before."""
    items = dict(before or ())
    following = max((_place(key) for key in items), default=-1) + 1
    for child, *rest in touching([child for child in node.children if child.is_named and child.type != "comment"]):
        key = _key().match(machine.raw_node(child))
        if key and child.type in ("concatenation", "word"):
            start, stop = machine.text.span(child)
            subscript = text_of(read_region(machine, child, start + 1, start + key.end() - 2))
            if subscript is None:
                return Variable((unknown("array", machine.at(node), many=True),))
            items[subscript.strip('"')] = read_region(machine, child, start + key.end(), stop)
            machine.budget.step(1 + len(rest))
            following = _place(subscript) + 1 if _place(subscript) >= 0 else following
            continue
        for parts in read_fields(machine, child, *rest):
            items[str(following)] = parts
            following += 1
    if len(items) > _MOST_ITEMS or before is None:
        return Variable((unknown("array", machine.at(node), many=True),))
    machine.budget.write(len(items))
    return Variable(items=tuple(items.items()))


@cache
def _key() -> re.Pattern[str]:
    return re.compile(r"\[[^\]\n]+\]=")


def _place(key: str) -> int:
    """Return the number of an item by its subscript, -1 where that is a name, or more than any array goes to."""
    number = whole_number(key)
    return -1 if number is None else number


def _with_item(machine: Machine, name: str, old: Variable | None, key: str | None, parts: Parts, *, adding: bool) -> Variable:
    """Return an array with one item set."""
    before = _old_items(machine, name, old)
    if key is not None and not is_digits(key) and before is not None and all(is_digits(k) for k, _ in before) and before:
        number = machine.reckon_text(key)
        key = str(number) if number is not None and number >= 0 else None
    if key is None or before is None or (old is not None and old.items is None and old.text is None):
        at = parts[0].use if parts else machine.at_start
        return Variable((unknown(name, at, many=True),))
    items = dict(before)
    items[key] = machine.bounded((*items.get(key, ()), *parts)) if adding else parts
    machine.budget.write(len(items))
    return Variable(items=tuple(items.items()))


def declare(machine: Machine, node: Node) -> Truth:
    """Read `export`, `declare`, `typeset`, `local` and `readonly`."""
    kind = node.children[0].type
    options = "".join(machine.raw_node(child) for child in node.children if child.type == "word" and machine.raw_node(child)[0] == "-")
    exports = (kind == "export" or "x" in options) and "n" not in options
    local = kind == "local" or (kind in ("declare", "typeset") and bool(machine.calls) and "g" not in options)
    if kind == "export" and "f" in options:
        machine.exported.update(machine.raw_node(child) for child in node.children[1:] if child.is_named)
        return YES
    for child, *rest in touching([child for child in node.children[1:] if child.is_named]):
        if child.type == "variable_assignment":
            name, variable = read_assignment(machine, child, *rest)
        elif child.type == "variable_name":
            name, variable = machine.raw_node(child), None
        else:
            if child.is_named and child.type not in ("word", "comment"):
                machine.state.forgotten = True  # `export $(cat .env)`
            continue
        if name:
            _declare(machine, name, variable, exports=exports, local=local)
    return YES


def _declare(machine: Machine, name: str, variable: Variable | None, *, exports: bool, local: bool) -> None:
    state = machine.state
    if local and machine.calls:
        machine.calls[-1].before.setdefault(name, state.variables.get(name))
        if variable is None:
            variable = Variable()
    if variable is not None:
        state.assign(name, variable)
    if exports and name in state.variables:
        state.variables[name] = state.variables[name]._replace(exported=True)


def unset(machine: Machine, node: Node) -> Truth:
    """Read `unset`."""
    for child in node.children[1:]:
        if not child.is_named:
            continue
        for parts in read_fields(machine, child):
            name = text_of(parts)
            if name and name.isidentifier():
                machine.state.variables[name] = Variable(unset=True)
            elif name and "[" in name:
                machine.state.forget(name.split("[")[0], machine.at(child))
    return YES


def reckon(machine: Machine, node: Node, start: int, stop: int) -> Truth:
    """Read an expression of `(( ... ))` and return whether it is other than 0."""
    parts = read_region(machine, node, start, stop, quoted=True)
    if not any(part.text is None or not part.text.isspace() for part in parts):
        return YES
    value, default, _ = machine.reckon(parts)
    if value is None:
        forget_in(machine, machine.text.string[start:stop], machine.text.location(start, stop), every=True)
        return UNKNOWN
    return Truth(value != 0, default)


def test(machine: Machine, node: Node) -> Truth:
    """Read `[ ... ]`, `[[ ... ]]` or a bare `(( ... ))`."""
    opening = node.children[0].type if node.children else ""
    if opening == "((":
        start, stop = machine.text.span(node)
        return reckon(machine, node, start + 2, stop - 2)
    return conditions.read_test(machine, node)


@cache
def _assigning() -> re.Pattern[str]:
    return re.compile(r"(?<!\w)([A-Za-z_]\w*+)(?:\[[^\]\[\n]{0,80}\])?\s*+(?:[-+*/%&|^]|<<|>>)?=(?!=)", re.ASCII)


@cache
def _counting() -> re.Pattern[str]:
    return re.compile(r"(?:\+\+|--)\s*+([A-Za-z_]\w*+)|(?<!\w)([A-Za-z_]\w*+)\s*+(?:\+\+|--)", re.ASCII)


def forget_in(machine: Machine, raw: str, at: Location, *, every: bool = False) -> None:
    """Make unknown what a text that we could not read may have set."""
    names = _may_assign(raw[:100_000], every)
    machine.budget.step(len(raw) // 5_000 + len(names) // 10)
    for name in sorted(names):
        machine.state.forget(name, at)


@lru_cache(16)  # what is broken is asked for again behind each of its parts
def _may_assign(raw: str, every: bool) -> frozenset[str]:
    names = {match.group(1) for match in _assigning().finditer(raw)}
    if every:
        names |= {match.group(1) or match.group(2) for match in _counting().finditer(raw)}
    return frozenset(names)
