"""The tree that composition works on: nodes that know their parent, their place, and what they took the place of."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from pytest_gbs.composition.composed import Override
from pytest_gbs.model.limits import DEEPEST_COMPOSED, MOST_COMPOSED, MOST_INTERPOLATED
from pytest_gbs.model.location import KeyPath, Location

MISSING: Final = "???"


class TooMuch(Exception):
    """Composition goes beyond its bounds; the message says which."""


class Budget:
    """How many nodes may still be made, and how many characters parsed for interpolations: one budget for one composition."""

    __slots__ = ("characters", "left")

    def __init__(self, most: int = MOST_COMPOSED) -> None:
        self.left = most
        self.characters = MOST_INTERPOLATED

    def spend(self, count: int = 1) -> None:
        """Take `count` off.

        Raises: TooMuch: nothing is left.
        """
        self.left -= count
        if self.left < 0:
            raise TooMuch(f"more than {MOST_COMPOSED:,} values")

    def parse(self, text: str) -> None:
        """Take the characters of `text` off.

        Raises: TooMuch: nothing is left.
        """
        self.characters -= len(text)
        if self.characters < 0:
            raise TooMuch(f"more than {MOST_INTERPOLATED:,} characters of values with interpolations")


class Leaf:
    """A scalar; `text` is what was written."""

    __slots__ = ("at", "overrode", "parent", "text", "value")

    def __init__(self, value: Any, at: Location, text: str | None = None) -> None:
        self.value = value
        self.text = str(value) if text is None else text
        self.at = at
        self.overrode: tuple[Location, ...] = ()
        self.parent: Container | None = None

    @property
    def missing(self) -> bool:
        """Tell whether this is `???`."""
        return bool(self.value == MISSING)

    @property
    def interpolates(self) -> bool:
        """Tell whether OmegaConf takes this for an interpolation."""
        return type(self.value) is str and "${" in self.value


class Branch:
    """A mapping, its keys as loaded."""

    __slots__ = ("at", "content", "overrode", "parent")

    def __init__(self, at: Location) -> None:
        self.content: dict[Any, Node] = {}
        self.at = at
        self.overrode: tuple[Location, ...] = ()
        self.parent: Container | None = None

    def put(self, key: Any, node: Node) -> None:
        """Set `key` to `node`, which remembers what it takes the place of."""
        before = self.content.get(key)
        if before is not None and before is not node:
            node.overrode = (before.at, *before.overrode)
        node.parent = self
        self.content[key] = node


class Items:
    """A sequence."""

    __slots__ = ("at", "content", "overrode", "parent")

    def __init__(self, at: Location) -> None:
        self.content: list[Node] = []
        self.at = at
        self.overrode: tuple[Location, ...] = ()
        self.parent: Container | None = None

    def add(self, node: Node) -> None:
        """Append `node`."""
        node.parent = self
        self.content.append(node)


Node: TypeAlias = Leaf | Branch | Items
Container: TypeAlias = Branch | Items


def copy(node: Node, budget: Budget, depth: int = 0) -> Node:
    """Return a copy of `node` and all below it, without parent.

    Raises: TooMuch: it is too deep or too large.
    """
    budget.spend()
    if depth > DEEPEST_COMPOSED:
        raise TooMuch(f"nested deeper than {DEEPEST_COMPOSED} levels")
    if type(node) is Leaf:
        leaf = Leaf(node.value, node.at, node.text)
        leaf.overrode = node.overrode
        return leaf
    if type(node) is Items:
        items = Items(node.at)
        items.overrode = node.overrode
        for item in node.content:
            items.add(copy(item, budget, depth + 1))
        return items
    assert type(node) is Branch
    branch = Branch(node.at)
    branch.overrode = node.overrode
    for key, value in node.content.items():
        fresh = copy(value, budget, depth + 1)
        fresh.parent = branch
        branch.content[key] = fresh
    return branch


def from_data(data: object, at: Location, budget: Budget, depth: int = 0) -> Node:
    """Return the tree of plain `data`, all of which stands at `at`; nodes within it are copied.

    Raises: TooMuch: it is too deep or too large.
    """
    budget.spend()
    if depth > DEEPEST_COMPOSED:
        raise TooMuch(f"nested deeper than {DEEPEST_COMPOSED} levels")
    if isinstance(data, Leaf | Branch | Items):
        return copy(data, budget)
    if isinstance(data, dict):
        branch = Branch(at)
        for key, value in data.items():
            branch.put(key, from_data(value, at, budget, depth + 1))
        return branch
    if isinstance(data, list | tuple):
        items = Items(at)
        for item in data:
            items.add(from_data(item, at, budget, depth + 1))
        return items
    return Leaf(data, at)


def path_of(node: Container) -> KeyPath:
    """Return the key path of `node` from its root."""
    path: list[Any] = []
    while node.parent is not None:
        above = node.parent
        if isinstance(above, Branch):
            path.append(next(key for key, value in above.content.items() if value is node))
        else:
            path.append(next(number for number, value in enumerate(above.content) if value is node))
        node = above
    return tuple(reversed(path))


def child(node: Container, key: str) -> Node | None:
    """Return what `node` holds under the `key` of a dotted path: an index, where it is a sequence."""
    if isinstance(node, Branch):
        return node.content.get(key)
    try:
        number = int(key)
    except ValueError:
        return None
    return node.content[number] if 0 <= number < len(node.content) else None


def place_of(override: Override) -> Location:
    """Return where `override` stands; of one without place, its own text."""
    return override.at if override.at.source or override.at.stop else Location("", 0, len(override.text))
