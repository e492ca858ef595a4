"""What interpolations stand for: each resolved once, loops and blow-ups found, what only the environment or code knows left open."""

# After OmegaConf 2.3: `_resolve_node_interpolation` and `_select_impl` in base.py, grammar_visitor.py, resolvers/oc.

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pytest_gbs.composition._builtin import BUILTIN
from pytest_gbs.composition._grammar import NotAnInterpolation, parse_text
from pytest_gbs.composition._interpolation import Element, Failed, Interpolation, Many, Pairs, Plain, Reference, Text
from pytest_gbs.composition._nodes import Branch, Budget, Container, Items, Leaf, Node, TooMuch, child, from_data
from pytest_gbs.composition.composed import Unresolved, Why
from pytest_gbs.model.limits import DEEPEST_CHAIN, LONGEST_INTERPOLATION
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple

Resolver = Callable[..., Any]

_MOST_THROUGH: Final = 12


class Found(NamedTuple):
    """What a scalar stands for: a node, itself where it is no interpolation; and the places it was found through."""

    node: Node | Unresolved
    through: tuple[Location, ...] = ()


class Interpolations:
    """The interpolations of the tree under `root`, each resolved at most once.

    `environment` holds what is known of the environment variables; with `complete` it holds them all. `resolvers` are
    functions of numbers that the program is known to register; None where it does not interpolate at all.
    """

    def __init__(
        self,
        root: Container,
        environment: Mapping[str, str],
        resolvers: Mapping[str, Resolver] | None,
        budget: Budget,
        complete: bool = False,
    ) -> None:
        self.root = root
        self.environment = environment
        self.resolvers = resolvers or {}
        self.literal = resolvers is None
        self.budget = budget
        self.complete = complete
        self.known: dict[int, Found] = {}
        self.open: set[int] = set()
        self.level = 0
        self.kept: list[Node] = []  # what `known` remembers by identity must live
        self.through: list[Location] = []

    def resolve(self, leaf: Leaf) -> Found:
        """Return what `leaf` stands for."""
        if self.literal or not leaf.interpolates:
            return Found(leaf)
        known = self.known.get(id(leaf))
        if known is None:
            outer, self.through = self.through, []
            try:
                node: Node | Unresolved = self._evaluate(leaf)
            except Failed as error:
                node = Unresolved(error.reason, error.message, error.at or leaf.at)
            except TooMuch as error:
                node = Unresolved(Why.TOO_LARGE, str(error), leaf.at)
            known = Found(node, tuple(dict.fromkeys(self.through))[:_MOST_THROUGH])
            self.through = outer
            self.known[id(leaf)] = known
            self.kept.append(leaf)
        return known

    def node(self, leaf: Leaf) -> Node:
        """Return what `leaf` stands for.

        Raises: Failed: that can't be told.
        """
        found = self.resolve(leaf)
        self.through += found.through
        if isinstance(found.node, Unresolved):
            raise Failed(found.node.reason, found.node.message, found.node.at)
        return found.node

    def _evaluate(self, leaf: Leaf) -> Node:
        if id(leaf) in self.open:
            raise Failed(Why.LOOP, f"{leaf.value[:80]} leads back to itself", leaf.at)
        self.budget.spend()
        self.open.add(id(leaf))
        try:
            parsed = parse_text(leaf.value)
            assert leaf.parent is not None
            return self._node(self.text(parsed, leaf.parent, leaf.at), leaf.parent, leaf.at)
        except NotAnInterpolation as error:
            raise Failed(Why.SYNTAX, f"OmegaConf can't parse {leaf.value[:80]!r}: {error}", leaf.at) from error
        finally:
            self.open.discard(id(leaf))

    def _node(self, value: Any, parent: Container, at: Location) -> Node:
        """Return `value` as a node that hangs in `parent`, as OmegaConf wraps what a resolver returns."""
        if isinstance(value, Leaf | Branch | Items):
            return value
        node = from_data(value, at, self.budget)
        node.parent = parent
        self.kept.append(node)
        return node

    def text(self, text: Text, parent: Container, at: Location) -> Any:
        """Return the value of `text`: a node, where it is one reference and nothing else, or a plain value."""
        if len(text.parts) == 1 and not text.quoted and not isinstance(text.parts[0], str):
            return self._interpolation(text.parts[0], parent, at)
        parts = []
        length = 0
        for part in text.parts:
            parts.append(part if isinstance(part, str) else self.string(self._interpolation(part, parent, at)))
            length += len(parts[-1])
            if length > LONGEST_INTERPOLATION:
                raise TooMuch(f"a text of more than {LONGEST_INTERPOLATION:,} characters")
        return "".join(parts)

    def string(self, value: Any) -> str:
        """Return `value` as Python prints it within a text."""
        return str(self._raw(value, 0))

    def _raw(self, node: Any, depth: int) -> Any:
        self.budget.spend()
        if depth > DEEPEST_CHAIN:
            raise TooMuch(f"nested deeper than {DEEPEST_CHAIN} levels")
        if isinstance(node, Leaf):
            return node.value
        content = node.content if isinstance(node, Branch | Items) else node
        if isinstance(content, list):
            return [self._raw(item, depth + 1) for item in content]
        if isinstance(content, dict):
            return {key: self._raw(value, depth + 1) for key, value in content.items()}
        return content

    def _interpolation(self, interpolation: Interpolation, parent: Container, at: Location) -> Any:
        self._enter()
        try:
            return self._followed(interpolation, parent, at)
        finally:
            self.level -= 1

    def _enter(self) -> None:
        if self.level >= DEEPEST_CHAIN:
            raise TooMuch(f"interpolations of interpolations, more than {DEEPEST_CHAIN} deep")
        self.level += 1

    def _followed(self, interpolation: Interpolation, parent: Container, at: Location) -> Any:
        if isinstance(interpolation, Reference):
            return self.select(self._join(interpolation.parts, parent, at), parent)
        name = ".".join(self._join((part,), parent, at) for part in interpolation.name)
        arguments = [self.element(argument, parent, at) for argument in interpolation.arguments]
        return self._call(name, arguments, parent, at)

    def _join(self, parts: tuple[str | Interpolation, ...], parent: Container, at: Location) -> str:
        """Return the dotted key that `parts` make up."""
        found = []
        for part in parts:
            value = part if isinstance(part, str) else self._interpolation(part, parent, at)
            value = value.value if isinstance(value, Leaf) else value
            if type(value) is not str:
                raise Failed(Why.TYPE, "a key must be text", at)
            found.append(value)
        return "".join(found)

    def element(self, element: Element, parent: Container, at: Location) -> Any:
        """Return the plain value of a resolver's argument."""
        if isinstance(element, Plain):
            return element.value
        if isinstance(element, Text):
            value = self.text(element, parent, at)
            return value.value if isinstance(value, Leaf) else value
        self._enter()
        try:
            if isinstance(element, Many):
                return [self.element(item, parent, at) for item in element.items]
            assert isinstance(element, Pairs)
            return {key: self.element(value, parent, at) for key, value in element.entries}
        finally:
            self.level -= 1

    def select(self, key: str, parent: Container, *, absent: bool = False) -> Any:
        """Return the node that `${key}` stands for in a value that hangs in `parent`; with `absent`, None where there is none.

        Raises: Failed: there is none, it is missing, or leads back here.
        """
        base: Container | None = parent
        if key.startswith("."):
            key = key[1:]
            while key.startswith("."):
                base = base.parent if base is not None else None
                key = key[1:]
        else:
            base = self.root
        if base is None:
            raise Failed(Why.NO_SUCH_KEY, "a relative key leads above the root")
        steps = split_key(key)
        for number, step in enumerate(steps[:-1]):
            inner = self._step(base, step, key)
            if isinstance(inner, Leaf) and inner.interpolates:
                inner = self.node(inner)
            if absent and (inner is None or isinstance(inner, Leaf)):
                return None
            if inner is None or isinstance(inner, Leaf):
                where = ".".join(steps[: number + 1])
                raise Failed(
                    Why.NO_SUCH_KEY, f"there is no {where}" if inner is None else f"{where} holds no keys", inner.at if inner else None
                )
            base = inner
        return self._target(base, steps[-1], key, parent, absent)

    def _target(self, base: Container, step: str, key: str, parent: Container, absent: bool) -> Any:
        target = self._step(base, step, key)
        if target is None:
            if absent:
                return None
            raise Failed(Why.NO_SUCH_KEY, f"there is no {key}")
        self.through.append(target.at)
        if isinstance(target, Leaf) and target.interpolates:
            target = self.node(target)
        if isinstance(target, Leaf) and target.missing:
            raise Failed(Why.TO_MISSING, f"{key} is ???", target.at)
        above: Container | None = None if absent else parent  # a resolver may look at what holds it
        while above is not None:
            if above is target:
                raise Failed(Why.LOOP, f"{key} holds this very value", target.at)
            above = above.parent
        return target

    def _step(self, base: Container, step: str, key: str) -> Node | None:
        if isinstance(base, Items) and not _is_index(step):
            raise Failed(Why.TYPE, f"{step} in {key} is no index of a list", base.at)
        found = child(base, step)
        if isinstance(found, Leaf) and found.missing:
            raise Failed(Why.TO_MISSING, f"{key} is ???", found.at)
        return found

    def _call(self, name: str, arguments: list[Any], parent: Container, at: Location) -> Any:
        resolver = self.resolvers.get(name)
        if resolver is not None:
            return _arithmetic(name, resolver, arguments, at)
        builtin = BUILTIN.get(name)
        if builtin is None:
            raise Failed(Why.RESOLVER, f"the program's own resolver {name} decides", at)
        least, most, function = builtin
        if not least <= len(arguments) <= most:
            raise Failed(Why.TYPE, f"{name} does not take so many arguments", at)
        return function(self, arguments, parent, at)


def _arithmetic(name: str, resolver: Resolver, arguments: list[Any], at: Location) -> Any:
    """Return what `resolver` makes of numbers; of anything else it is not asked."""
    if not arguments or any(type(value) not in (int, float) or abs(value) > 1e18 for value in arguments):
        raise Failed(Why.RESOLVER, f"the program's own resolver {name} decides", at)
    try:
        return resolver(*arguments)
    except (TypeError, ValueError, ArithmeticError) as error:
        raise Failed(Why.TYPE, f"{name} does not take these arguments", at) from error


def _is_index(step: str) -> bool:
    try:
        int(step)
    except ValueError:
        return False
    return True


def split_key(key: str) -> list[str]:
    """Return the steps of `a.b[c]`: `a`, `b`, `c`."""
    head = re.match(r"[^.\[]*", key)
    assert head
    steps = [] if key.startswith("[") else [head.group()]
    for dotted, bracket in re.findall(r"\.([^.\[]*)|\[(.*?)\]", key[head.end() :]):
        steps.append(dotted or bracket)
    return steps or [key]
