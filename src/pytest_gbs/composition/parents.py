"""Configurations with parents: `defaults:` as NeMo-RL reads it, `_base_:` as MMEngine does, `_BASE_:`, `__include__:`, `inherit:`."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Final

from pytest_gbs.composition._errors import CompositionError, LimitExceeded
from pytest_gbs.composition._interpolations import Interpolations, Resolvers
from pytest_gbs.composition._merge import Merger
from pytest_gbs.composition._nodes import Branch, Budget, Leaf, copy
from pytest_gbs.composition._to_document import to_document, without_values
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.model.document import Scalar, Sequence
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import DEEPEST_PARENTS, MOST_COMPOSED, MOST_PARENTS
from pytest_gbs.model.location import Location, Source, Unreadable, below
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.scalar import resolve


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
# src/core/yaml_utils.py, load_config and merge_dict, RT-DETR 068dfde6.
RTDETR: Final = ParentStyle("__include__")
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
    try:
        found = _Family(cache, style).load(path, Location(path), ())
    except CompositionError as error:
        return without_values(path, (error.problem,), ())
    interpolates = style.loader == Loader.OMEGACONF
    interpolations = Interpolations(found.root, Budget(), resolvers, environment) if interpolates else None
    return to_document(found.root, path, (), found.costs, interpolations)


class _Member(NamedTuple):
    """A file merged over its parents, which is copied and never changed.

    `costs` are the values that it and each file that it inherits from took, and `height` counts the files of its longest line.
    """

    root: Branch
    costs: dict[str, int]
    height: int


class _Members:
    """What files come to with their parents, for all that inherit from them, and about how many values these have."""

    def __init__(self) -> None:
        self.known: dict[str, _Member | ComposeProblem] = {}
        self.values = 0


class _TooFarError(CompositionError):
    """A line of parents leads back, or is too long: that depends on where it begins."""


class _Family:
    """A file and its parents, each read at most once. What it comes to does not depend on the files that were read before."""

    def __init__(self, cache: DocumentCache, style: ParentStyle) -> None:
        self.cache = cache
        self.style = style
        self.members = cache.once(style, _Members)
        if self.members.values > MOST_COMPOSED:
            self.members.known.clear()
            self.members.values = 0

    def load(self, path: str, at: Location, line: tuple[str, ...]) -> _Member:
        """The file at `path` with its parents; `at` names it, the files of `line` lead to it.

        Raises: CompositionError: one of them can't be read or merged, or leads back to another.
        """
        known = self.members.known.get(path)
        if isinstance(known, ComposeProblem):
            raise CompositionError(known.kind, known.message, known.at)
        if path in line:
            raise _TooFarError(ProblemKind.DEFAULTS, f"{path} refers back to itself", at)
        if len(line) + (known.height if known is not None else 1) > DEEPEST_PARENTS:
            raise _TooFarError(ProblemKind.DEFAULTS, "too many levels of parents", at)
        if known is not None:
            return known
        source = self.cache.read(path)
        if isinstance(source, Unreadable):
            raise CompositionError(ProblemKind.NOT_FOUND, f"{path}: {source.reason}", at)
        found = self._known(source, (*line, path))
        self.members.known[path] = found
        self.members.values += 1
        if isinstance(found, ComposeProblem):
            raise CompositionError(found.kind, found.message, found.at)
        self.members.values += found.costs[path]
        return found

    def _known(self, source: Source, line: tuple[str, ...]) -> _Member | ComposeProblem:
        try:
            return self._with_parents(source, line)
        except _TooFarError as error:
            if len(line) > 1:
                raise
            return error.problem  # whatever leads to it
        except CompositionError as error:
            return error.problem
        except LimitExceeded as error:
            return ComposeProblem(ProblemKind.LIMIT, str(error), Location(source.path))

    def _with_parents(self, source: Source, line: tuple[str, ...]) -> _Member:
        parents: list[_Member] = []
        costs = {source.path: 0}
        for path, at in self._parents(source):
            parents.append(self.load(path, at, line))
            costs.update(parents[-1].costs)
            if len(costs) > MOST_PARENTS:
                raise LimitExceeded(f"more than {MOST_PARENTS} files")
        budget = Budget(self.cache.most_composed)
        budget.spend(sum(costs.values()))
        before = budget.left
        root = self.cache.nodes(source, budget, self.style.loader)
        if not isinstance(root, Branch):
            raise CompositionError(ProblemKind.UNREADABLE, "not a mapping", root.at)
        if root.content.pop(self.style.key, None) is not None:
            root = self._over(root, parents, budget)
        costs[source.path] = before - budget.left
        return _Member(root, costs, 1 + max((parent.height for parent in parents), default=0))

    def _parents(self, source: Source) -> Iterator[tuple[str, Location]]:
        """Yield the path of each parent that `source` names, and where it does so."""
        document = self.cache.document(source)
        named = document.get(self.style.key) if document is not None else None
        for item in named.items if isinstance(named, Sequence) else () if named is None else (named,):
            at = Location(source.path, item.start, item.stop)
            if not isinstance(item, Scalar) or resolve(item, self.style.loader) is None:
                raise CompositionError(ProblemKind.DEFAULTS, f"{self.style.key} must be a path or a list of paths", at)
            path = None if item.text.startswith("/") else below(source.path.rpartition("/")[0], item.text)
            if path is None:
                raise CompositionError(ProblemKind.NOT_FOUND, f"{item.text} is outside the repository", at)
            yield path, at

    def _over(self, root: Branch, parents: list[_Member], budget: Budget) -> Branch:
        """`root` over its parents."""
        base = Branch(root.at)
        for parent in parents:
            shared = base.content.keys() & parent.root.content.keys() if self.style.exclusive else ()
            for key in shared:
                raise CompositionError(ProblemKind.DUPLICATE, f"two parents state {key}", parent.root.content[key].at)
            fresh = copy(parent.root, budget)
            assert isinstance(fresh, Branch)
            self._merge(base, fresh, budget)
        self._merge(base, root, budget)
        return base

    def _merge(self, base: Branch, child: Branch, budget: Budget) -> None:
        """Make the nodes of `child` part of `base`, after removing from `base` what `child` says it replaces."""
        self._remove_replaced(base, child)
        Merger(base, budget, takes=True).merge(base, child)

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
