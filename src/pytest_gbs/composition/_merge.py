"""One tree merged into another as OmegaConf merges plain configurations."""

# After `BaseContainer._map_merge` and `_list_merge`, omegaconf/basecontainer.py, OmegaConf 2.3, for values without types.

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, TooMuch, copy, path_of
from pytest_gbs.model.limits import DEEPEST_COMPOSED
from pytest_gbs.model.location import Location

Dereference: TypeAlias = Callable[[Leaf], Node | None]


class Clash(Exception):
    """Two things that can't be merged, and where the second stands."""

    def __init__(self, message: str, at: Location) -> None:
        super().__init__(message)
        self.message = message
        self.at = at


class NotInStruct(Clash):
    """A key that is not there, in a configuration that takes no new ones."""


class Merger:
    """Merging with one budget; `dereference` returns what an interpolation in the target stands for now, where that can be told.

    With `takes`, the nodes of what is merged become part of the target; otherwise copies of them do.
    """

    __slots__ = ("budget", "dereference", "takes")

    def __init__(self, budget: Budget, dereference: Dereference, takes: bool = False) -> None:
        self.budget = budget
        self.dereference = dereference
        self.takes = takes

    def merge(self, into: Branch, source: Branch, struct: bool = False) -> None:
        """Add `source` to `into`: mappings key by key, all else replaced; `???` replaces nothing.

        Raises: Clash: a mapping meets a sequence.
                NotInStruct: there is a new key, and `struct` forbids it.
        """
        for key, theirs in source.content.items():
            ours = into.content.get(key)
            if ours is None:
                if struct:
                    raise NotInStruct(f"there is no key {key}", theirs.at)
                into.put(key, self._own(theirs))
                continue
            if isinstance(ours, Leaf) and ours.interpolates:
                ours = self._expanded(into, key, ours)
            if isinstance(theirs, Leaf):
                if not theirs.missing:
                    into.put(key, self._own(theirs))
            elif isinstance(ours, Leaf):
                into.put(key, self._own(theirs))
            else:
                self.merge_container(ours, theirs, struct)

    def merge_container(self, ours: Branch | Items, theirs: Branch | Items, struct: bool = False) -> None:
        """Merge `theirs` into `ours`; a sequence is replaced.

        Raises: Clash: one is a mapping, the other a sequence.
        """
        if isinstance(ours, Branch) and isinstance(theirs, Branch):
            self.merge(ours, theirs, struct)
        elif isinstance(ours, Items) and isinstance(theirs, Items):
            ours.content = []
            ours.overrode = (ours.at, *ours.overrode)
            ours.at = theirs.at
            for item in theirs.content:
                ours.add(self._own(item))
        else:
            raise Clash("a mapping can't be merged with a list", theirs.at)

    def _own(self, node: Node) -> Node:
        return node if self.takes else copy(node, self.budget)

    def _expanded(self, into: Branch, key: object, leaf: Leaf) -> Node:
        """Return what stands at `key` once an interpolation of a mapping or a list has become a copy of it."""
        target = self.dereference(leaf)
        if target is None or isinstance(target, Leaf):
            return leaf
        if len(path_of(into)) > DEEPEST_COMPOSED:
            raise TooMuch(f"nested deeper than {DEEPEST_COMPOSED} levels")
        into.put(key, copy(target, self.budget))
        return into.content[key]
