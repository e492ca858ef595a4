"""Configurations with parents: `defaults: parent.yaml` as NeMo-RL reads it, `_base_:` as MMEngine does, `_BASE_:`, `inherit:`."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Final

from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._interpolations import Interpolations, Resolvers
from pytest_gbs.composition._merge import Merger
from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, copy
from pytest_gbs.composition._to_document import to_document, without_values
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import DEEPEST_PARENTS, MOST_PARENTS
from pytest_gbs.model.location import Location, Source, Unreadable, below
from pytest_gbs.model.record import NamedTuple


class ParentStyle(NamedTuple):
    """How a framework names parents: the top-level key, and the key that makes a mapping replace its parent's.

    `deep` looks for that key everywhere, not in top-level mappings alone. With `exclusive` two parents may not share a top-level key.
    Without `replaces` a mapping never replaces its parent's.
    """

    key: str
    replaces: str = ""
    deep: bool = False
    exclusive: bool = False
    loader: str = Loader.PYYAML


# nemo_rl/utils/config.py, load_config_with_inheritance and merge_with_override, NeMo-RL 017238e.
NEMO_RL: Final = ParentStyle("defaults", "_override_", loader=Loader.OMEGACONF)
# mmengine/config/config.py, Config._file2dict and _merge_a_into_b, MMEngine 0.10.
MMENGINE: Final = ParentStyle("_base_", "_delete_", deep=True, exclusive=True)
# fvcore/common/config.py, CfgNode.load_yaml_with_base, fvcore 0.1.5, with which detectron2 reads its files.
DETECTRON2: Final = ParentStyle("_BASE_")
# quinine/common/cerberus.py, resolve_inheritance, Quinine a820365.
QUININE: Final = ParentStyle("inherit")


def _largest(one: float, two: float) -> float:
    return max(one, two)


# register_omegaconf_resolvers in the same file of NeMo-RL.
NEMO_RL_RESOLVERS: Final[Resolvers] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "max": _largest,
}


def inherit(
    cache: DocumentCache,
    path: str,
    style: ParentStyle = NEMO_RL,
    *,
    resolvers: Resolvers | None = None,
    environment: Mapping[str, str] | None = None,
) -> Composed:
    """The configuration at `path` merged over its parents; with problems it has no values.

    Paths of parents are relative to the file that names them; none outside the tree is read. A parent that is not there, or
    leads back, is a problem. `resolvers` and `environment` are those of `Interpolations`.
    """
    family = _Family(cache, style)
    try:
        root = family.load(path, Location(path, 0, 0), ())
    except LimitExceeded as error:
        family.problem(ProblemKind.LIMIT, str(error), Location(path, 0, 0))
    if family.problems:
        return without_values(path, family.problems, family.sources)
    interpolates = style.loader == Loader.OMEGACONF
    interpolations = Interpolations(root, Budget(), resolvers, environment) if interpolates else None
    return to_document(root, path, (), family.sources, interpolations)


class _Family:
    """A file and its parents, each read at most once."""

    def __init__(self, cache: DocumentCache, style: ParentStyle) -> None:
        self.cache = cache
        self.style = style
        self.budget = Budget()
        self.problems: list[ComposeProblem] = []
        self.sources: list[str] = []
        self.loaded: dict[str, Branch] = {}

    def problem(self, kind: str, message: str, at: Location) -> None:
        """Note a problem."""
        self.problems.append(ComposeProblem(kind, message, at))

    def load(self, path: str, at: Location, descendants: tuple[str, ...]) -> Branch:
        """The file at `path` with its parents, empty if it can't be read; `at` names it, `descendants` lead to it."""
        known = self.loaded.get(path)
        if known is not None:
            return known
        try:
            self._check(path, at, descendants)
            source = self.cache.read(path)
            if isinstance(source, Unreadable):
                raise CompositionError(ProblemKind.NOT_FOUND, f"{path}: {source.reason}", at)
            self.sources.append(path)
            root = self.cache.nodes(source, self.budget, self.style.loader)
            if not isinstance(root, Branch):
                raise CompositionError(ProblemKind.UNREADABLE, "not a mapping", root.at)
        except CompositionError as error:
            self.problems.append(error.problem)
            return Branch(at)
        found = self._with_parents(root, source, (*descendants, path))
        self.loaded[path] = found
        return found

    def _check(self, path: str, at: Location, descendants: tuple[str, ...]) -> None:
        if path in descendants:
            raise CompositionError(ProblemKind.DEFAULTS, f"{path} refers back to itself", at)
        if len(descendants) >= DEEPEST_PARENTS:
            raise CompositionError(ProblemKind.DEFAULTS, "too many levels of parents", at)
        if len(self.loaded) >= MOST_PARENTS:
            raise CompositionError(ProblemKind.LIMIT, f"more than {MOST_PARENTS} files", at)

    def _with_parents(self, root: Branch, source: Source, descendants: tuple[str, ...]) -> Branch:
        named = root.content.pop(self.style.key, None)
        if named is None:
            return root
        base = Branch(root.at)
        folder = source.path.rpartition("/")[0]
        for leaf in self._parents(named):
            path = None if leaf.text.startswith("/") else below(folder, leaf.text)
            if path is None:
                self.problem(ProblemKind.NOT_FOUND, f"{leaf.text} is outside the repository", leaf.at)
                continue
            parent = self.load(path, leaf.at, descendants)
            if self.style.exclusive:
                self._check_exclusive(base, parent)
            fresh = copy(parent, self.budget)
            assert isinstance(fresh, Branch)
            self._merge(base, fresh)
        self._merge(base, root)
        return base

    def _parents(self, named: Node) -> list[Leaf]:
        items = named.content if isinstance(named, Items) else [named]
        found = [item for item in items if isinstance(item, Leaf) and item.value is not None]
        if len(found) < len(items):
            self.problem(ProblemKind.DEFAULTS, f"{self.style.key} must be a path or a list of paths", named.at)
        return found

    def _check_exclusive(self, base: Branch, parent: Branch) -> None:
        for key, node in parent.content.items():
            if key in base.content:
                self.problem(ProblemKind.DUPLICATE, f"two parents state {key}", node.at)

    def _merge(self, base: Branch, child: Branch) -> None:
        """Make the nodes of `child` part of `base`, after removing from `base` what `child` says it replaces."""
        self._remove_replaced(base, child)
        try:
            Merger(base, self.budget, takes=True).merge(base, child)
        except CompositionError as error:
            self.problems.append(error.problem)

    def _remove_replaced(self, base: Branch, child: Branch) -> None:
        if not self.style.replaces:
            return
        for key, node in child.content.items():
            if not isinstance(node, Branch):
                continue
            marker = node.content.get(self.style.replaces)
            there = base.content.get(key)
            if isinstance(marker, Leaf) and marker.value:
                del node.content[self.style.replaces]
                base.content.pop(key, None)
            elif self.style.deep and isinstance(there, Branch):
                self._remove_replaced(there, node)
