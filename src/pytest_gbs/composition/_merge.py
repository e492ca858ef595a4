"""One tree merged into another as OmegaConf merges plain configurations."""

# After `BaseContainer._map_merge` and `_list_merge`, omegaconf/basecontainer.py, OmegaConf 2.3, for values without types.

from __future__ import annotations

from pytest_gbs.composition._errors import CompositionError
from pytest_gbs.composition._interpolations import Interpolations
from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, check_depth, copy, path_of
from pytest_gbs.composition.composed import ProblemKind, Unresolved


class Merger:
    """Merges into the tree under `root`, whose interpolations of mappings become copies of these first.

    With `takes`, the nodes of what is merged become part of the target; otherwise copies of them do.
    """

    def __init__(self, root: Branch, budget: Budget, takes: bool = False) -> None:
        self.root = root
        self.budget = budget
        self.takes = takes

    def merge(self, into: Branch, source: Branch, struct: bool = False) -> None:
        """Add `source` to `into`: mappings key by key, all else replaced; `???` replaces nothing.

        Raises: CompositionError: a mapping meets a sequence; or there is a new key, and `struct` forbids it.
        """
        for key, theirs in source.content.items():
            ours = into.content.get(key)
            if ours is None:
                if struct:
                    raise CompositionError(ProblemKind.MERGE, f"there is no key {key}", theirs.at)
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

        Raises: CompositionError: as `merge` does.
        """
        if isinstance(ours, Branch) and isinstance(theirs, Branch):
            self.merge(ours, theirs, struct)
        elif isinstance(ours, Items) and isinstance(theirs, Items):
            ours.content = []
            ours.at = theirs.at
            for item in theirs.content:
                ours.add(self._own(item))
        else:
            raise CompositionError(ProblemKind.MERGE, "a mapping can't be merged with a list", theirs.at)

    def _own(self, node: Node) -> Node:
        return node if self.takes else copy(node, self.budget)

    def _expanded(self, into: Branch, key: object, leaf: Leaf) -> Node:
        """What `key` has once an interpolation of a mapping or a list has become a copy of it."""
        target = Interpolations(self.root, self.budget).resolve(leaf)
        if isinstance(target, Leaf | Unresolved):
            return leaf
        check_depth(len(path_of(into)))
        into.put(key, copy(target, self.budget))
        return into.content[key]
