"""The tree that composition works on: nodes that know their parent and where they are written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from pytest_gbs.composition._errors import LimitExceeded
from pytest_gbs.model.limits import DEEPEST_COMPOSED, MOST_COMPOSED, MOST_INTERPOLATED
from pytest_gbs.model.location import KeyPath, Location

MISSING: Final = "???"


class Budget:
    """How many nodes one composition may still make, and how many characters of interpolations it may still parse."""

    def __init__(self, most: int = MOST_COMPOSED) -> None:
        self.left = self.most = most
        self.characters = MOST_INTERPOLATED

    def spend(self, count: int = 1) -> None:
        """Subtract `count` nodes.

        Raises: LimitExceeded: none are left.
        """
        self.left -= count
        if self.left < 0:
            raise LimitExceeded(f"more than {self.most:,} values")

    def parse(self, text: str) -> None:
        """Subtract the characters of `text`.

        Raises: LimitExceeded: none are left.
        """
        self.characters -= len(text)
        if self.characters < 0:
            raise LimitExceeded(f"more than {MOST_INTERPOLATED:,} characters of values with interpolations")


class Leaf:
    """A scalar; `text` is what was written."""

    __slots__ = ("at", "parent", "text", "value")

    def __init__(self, value: Any, at: Location, text: str | None = None) -> None:
        self.value = value
        self.text = str(value) if text is None else text
        self.at = at
        self.parent: Container | None = None

    @property
    def missing(self) -> bool:
        """True for `???`."""
        return bool(self.value == MISSING)

    @property
    def interpolates(self) -> bool:
        """True if OmegaConf reads this as an interpolation."""
        return type(self.value) is str and "${" in self.value


class Branch:
    """A mapping, its keys as loaded."""

    __slots__ = ("at", "content", "parent")

    def __init__(self, at: Location) -> None:
        self.content: dict[Any, Node] = {}
        self.at = at
        self.parent: Container | None = None

    def put(self, key: Any, node: Node) -> None:
        """Set `key` to `node`."""
        node.parent = self
        self.content[key] = node


class Items:
    """A sequence."""

    __slots__ = ("at", "content", "parent")

    def __init__(self, at: Location) -> None:
        self.content: list[Node] = []
        self.at = at
        self.parent: Container | None = None

    def add(self, node: Node) -> None:
        """Append `node`."""
        node.parent = self
        self.content.append(node)


Node: TypeAlias = Leaf | Branch | Items
Container: TypeAlias = Branch | Items


def check_depth(depth: int) -> None:
    """Raise LimitExceeded if `depth` levels of a configuration are more than gbs composes."""
    if depth > DEEPEST_COMPOSED:
        raise LimitExceeded(f"nested deeper than {DEEPEST_COMPOSED} levels")


def copy(node: Node, budget: Budget, depth: int = 0) -> Node:
    """A copy of `node` and all below it, without parent.

    Raises: LimitExceeded: it is too deep or too large.
    """
    budget.spend()
    check_depth(depth)
    if isinstance(node, Leaf):
        return Leaf(node.value, node.at, node.text)
    return _made(node.content, node.at, lambda value: copy(value, budget, depth + 1))


def from_data(data: object, at: Location, budget: Budget, depth: int = 0) -> Node:
    """The tree of plain `data`, all of which is written at `at`; nodes within it are copied.

    Raises: LimitExceeded: it is too deep or too large.
    """
    budget.spend()
    check_depth(depth)
    if isinstance(data, Leaf | Branch | Items):
        return copy(data, budget)
    if isinstance(data, dict | list | tuple):
        return _made(data, at, lambda value: from_data(value, at, budget, depth + 1))
    return Leaf(data, at)


def _made(content: dict[Any, Any] | list[Any] | tuple[Any, ...], at: Location, node_of: Callable[[Any], Node]) -> Container:
    """The mapping or the sequence at `at` that has the nodes of `content`."""
    if isinstance(content, dict):
        branch = Branch(at)
        for key, value in content.items():
            branch.put(key, node_of(value))
        return branch
    items = Items(at)
    for value in content:
        items.add(node_of(value))
    return items


def path_of(node: Container) -> KeyPath:
    """The key path of `node` from its root."""
    path: list[Any] = []
    while (above := node.parent) is not None:
        entries = above.content.items() if isinstance(above, Branch) else enumerate(above.content)
        path.append(next(key for key, value in entries if value is node))
        node = above
    return tuple(reversed(path))


def child(node: Container, key: str) -> Node | None:
    """What `node` has under the `key` of a dotted path, which is an index if it is a sequence."""
    if isinstance(node, Branch):
        return node.content.get(key)
    try:
        number = int(key)
    except ValueError:
        return None
    return node.content[number] if 0 <= number < len(node.content) else None
