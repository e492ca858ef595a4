"""Variables: what sets them, and arrays."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from pytest_gbs.model.command import Part
from pytest_gbs.model.digits import is_digits, whole_number
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.conditions import Conditions
from pytest_gbs.shell.env_file import named_env_file, read_env_file
from pytest_gbs.shell.state import ShellState, Variable, text_of, unknown
from pytest_gbs.shell.text import Parts
from pytest_gbs.shell.truth import YES, Truth
from pytest_gbs.shell.word_reading import touching

if TYPE_CHECKING:
    from tree_sitter import Node


Items: TypeAlias = tuple[tuple[str, Parts], ...]
_MOST_ITEMS: Final = 2_000


class Assigning(Conditions):
    """A file of which assignments and declarations are read."""

    def assign(self, node: Node) -> Truth:
        """Read `name=value`, `name+=value` and `name[key]=value`."""
        name, variable = self.assignment(node)
        if name:
            self.state.assign(name, variable)
        return YES

    def assignment(self, node: Node, *rest: Node) -> tuple[str, Variable]:
        """The name and the new value; no name if the syntax is broken. `rest` are nodes that belong to the value."""
        target, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        subscript = target is not None and target.type == "subscript"
        name_node = target.child_by_field_name("name") if subscript and target is not None else target
        if target is None or name_node is None:
            return "", Variable()
        adding = any(child.type == "+=" for child in node.children)
        name = self.raw(name_node)
        old = self.state.variables.get(name) if adding or subscript else None
        if value is not None and value.type == "array":
            return name, self.array(value, self.items(name, old) if adding else ())
        parts = self.value(value, *rest) if value is not None else ()
        if subscript:
            index = target.child_by_field_name("index")
            key = text_of(self.value(index)) if index is not None else None
            return name, self.with_item(name, old, key, parts, adding=adding)
        if not adding:
            return name, Variable(parts)
        if old is None:
            return name, Variable((unknown(name, self.at(target), default=True), *parts))
        if old.items is not None:
            return name, self.with_item(name, old, "0", parts, adding=True)
        return name, Variable(self.bounded((*old.parts, *parts)), exported=old.exported)

    def items(self, name: str, old: Variable | None) -> Items | None:
        """The items that array `name` has; None if they are unknown."""
        if old is None:
            return None if name not in self.state.variables and (self.state.forgotten or self.state.unseen) else ()
        if old.items is not None:
            return old.items
        return (("0", old.parts),) if old.parts else ()

    def array(self, node: Node, before: Items | None) -> Variable:
        """An array of what is in `( ... )`, behind the items it had before."""
        items = dict(before or ())
        following = max((_place(key) for key in items), default=-1) + 1
        for child, *rest in touching([child for child in node.children if child.is_named and child.type != "comment"], self.text):
            key = _key().match(self.raw(child))
            if key and child.type in ("concatenation", "word"):
                start, stop = self.text.span(child)
                subscript = text_of(self.region(child, start + 1, start + key.end() - 2))
                if subscript is None:
                    return Variable((unknown("array", self.at(node), many=True),))
                items[subscript.strip('"')] = self.region(child, start + key.end(), stop)
                self.budget.step(1 + len(rest))
                following = _place(subscript) + 1 if _place(subscript) >= 0 else following
                continue
            for parts in self.fields(child, *rest):
                items[str(following)] = parts
                following += 1
        if len(items) > _MOST_ITEMS or before is None:
            return Variable((unknown("array", self.at(node), many=True),))
        self.budget.write(len(items))
        return Variable(items=tuple(items.items()))

    def with_item(self, name: str, old: Variable | None, key: str | None, parts: Parts, *, adding: bool) -> Variable:
        """An array with one item set."""
        before = self.items(name, old)
        if key is not None and not is_digits(key) and before and all(is_digits(k) for k, _ in before):
            number = self.calculate_text(key)
            key = str(number) if number is not None and number >= 0 else None
        if key is None or before is None or (old is not None and old.items is None and old.text is None):
            at = parts[0].use if parts else self.at_start
            return Variable((unknown(name, at, many=True),))
        items = dict(before)
        items[key] = self.bounded((*items.get(key, ()), *parts)) if adding else parts
        self.budget.write(len(items))
        return Variable(items=tuple(items.items()))

    def declare(self, node: Node) -> Truth:
        """Read `export`, `declare`, `typeset`, `local` and `readonly`."""
        kind = node.children[0].type
        options = "".join(self.raw(child) for child in node.children if child.type == "word" and self.raw(child)[0] == "-")
        exports = (kind == "export" or "x" in options) and "n" not in options
        local = kind == "local" or (kind in ("declare", "typeset") and "g" not in options)
        if kind == "export" and "f" in options:
            self.exported_functions.update(self.raw(child) for child in node.children[1:] if child.is_named)
            return YES
        for child, *rest in touching([child for child in node.children[1:] if child.is_named], self.text):
            if child.type == "variable_assignment":
                self.declare_one(*self.assignment(child, *rest), exports=exports, local=local)
            elif child.type == "variable_name":
                self.declare_one(self.raw(child), None, exports=exports, local=local)
            elif child.type not in ("word", "comment") and not self.export_file(child):
                self.state.forgotten = True
        return YES

    def export_file(self, node: Node) -> bool:
        """Read `export $(cat .env)`; False if it exports anything else, or what the file has can't be had."""
        name = named_env_file(self.raw(node))
        source = self.file(self.word((Part(name, self.at(node), self.at(node)),), None)) if name else None
        if source is not None:
            self.set_from_file(self.state, source)
        return source is not None

    def set_from_file(self, state: ShellState, source: Source) -> None:
        """Set the variables that a file of them has, exported."""
        self.sources[source.path] = source.text
        self.budget.step(1 + len(source.text) // 200)
        for name, part in read_env_file(source):
            state.variables[name] = Variable((part,), exported=True)

    def declare_one(self, name: str, variable: Variable | None, *, exports: bool, local: bool) -> None:
        """Declare one variable, with a value unless `variable` is None."""
        if not name:
            return
        if local and self.calls:
            self.calls[-1].before.setdefault(name, self.state.variables.get(name))
            variable = variable or Variable()
        if variable is not None:
            self.state.assign(name, variable)
        if exports and name in self.state.variables:
            self.state.variables[name] = self.state.variables[name]._replace(exported=True)

    def unset(self, node: Node) -> Truth:
        """Read `unset`."""
        for child in node.children[1:]:
            for parts in self.fields(child) if child.is_named else ():
                name = text_of(parts)
                if name and name.isidentifier():
                    self.state.variables[name] = Variable(unset=True)
                elif name and "[" in name:
                    self.state.forget(name.split("[")[0], self.at(child))
        return YES


@lru_cache
def _place(key: str) -> int:
    """The number of an item by its subscript, -1 if that is a name, or larger than that of any array."""
    number = whole_number(key)
    return -1 if number is None else number


_key = lazy_pattern(r"\[[^\]\n]+\]=")
