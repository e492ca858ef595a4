"""Configurations with parents: `defaults: parent.yaml` as NeMo-RL reads it, `_base_:` as MMEngine does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from pytest_gbs.composition._apply import Rejected, apply
from pytest_gbs.composition._folder import Reader, Stopped, read_one
from pytest_gbs.composition._merge import Clash
from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, TooMuch, copy, place_of
from pytest_gbs.composition._override_grammar import NotAnOverride, Sweep, parse_override
from pytest_gbs.composition._present import present, without_values
from pytest_gbs.composition._resolve import Interpolations, Resolver
from pytest_gbs.composition.composed import Composed, ComposeProblem, Override, ProblemKind
from pytest_gbs.composition.hydra import merger_of
from pytest_gbs.model.command import below
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import DEEPEST_PARENTS, MOST_PARENTS
from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.tree import Tree


class Style(NamedTuple):
    """How a framework names parents: the top-level key, and the key that makes a mapping replace its parent's.

    `deep` looks for that key everywhere, not in top-level mappings alone. With `exclusive` two parents may not share a top-level key.
    """

    key: str
    replaces: str
    deep: bool = False
    exclusive: bool = False
    loader: str = Loader.PYYAML


# nemo_rl/utils/config.py, load_config_with_inheritance and merge_with_override, NeMo-RL 017238e.
NEMO_RL: Final = Style("defaults", "_override_", loader=Loader.OMEGACONF)
# mmengine/config/config.py, Config._file2dict and _merge_a_into_b, MMEngine 0.10.
MMENGINE: Final = Style("_base_", "_delete_", deep=True, exclusive=True)


def _add(one: Any, two: Any) -> Any:
    return one + two


def _sub(one: Any, two: Any) -> Any:
    return one - two


def _mul(one: Any, two: Any) -> Any:
    return one * two


def _div(one: Any, two: Any) -> Any:
    return one / two


def _max(one: Any, two: Any) -> Any:
    return max(one, two)


# register_omegaconf_resolvers in the same file of NeMo-RL.
NEMO_RL_RESOLVERS: Final[Mapping[str, Resolver]] = {"add": _add, "sub": _sub, "mul": _mul, "div": _div, "max": _max}


def inherit(
    tree: Tree,
    read: Reader,
    path: str,
    overrides: Sequence[Override | str] = (),
    *,
    style: Style = NEMO_RL,
    environment: Mapping[str, str] | None = None,
    resolvers: Mapping[str, Resolver] | None = None,
    whole: bool = False,
) -> Composed:
    """Return the configuration at `path` of `tree` merged over its parents, and `overrides` in Hydra's grammar over that.

    Paths of parents are relative to the file that names them; none outside the tree is read. A parent that is not there, or
    leads back, is a problem and left out. With `whole`, a configuration with problems is not written out: it has no values.
    """
    family = _Family(tree, read, style)
    try:
        root = family.load(path, Location(path, 0, 0), ())
        for each in overrides:
            _override(root, each if isinstance(each, Override) else Override(each), family)
    except TooMuch as error:
        family.problems.append(ComposeProblem(ProblemKind.LIMIT, str(error), Location(path, 0, 0)))
        root = Branch(Location(path, 0, 0, ()))
    if whole and family.problems:
        return without_values(path, family.problems, family.sources)
    known = None if style.loader != Loader.OMEGACONF else resolvers or {}
    return present(root, path, family.problems, family.sources, environment=environment or {}, resolvers=known)


class _Family:
    """The files read so far, each at most once."""

    def __init__(self, tree: Tree, read: Reader, style: Style) -> None:
        self.tree = tree
        self.read = read
        self.style = style
        self.budget = Budget()
        self.problems: list[ComposeProblem] = []
        self.sources: list[str] = []
        self.loaded: dict[str, Branch] = {}

    def load(self, path: str, at: Location, descendants: tuple[str, ...]) -> Branch:
        """Return the file at `path` with its parents, empty where it can't be read; `at` names it, `descendants` lead to it."""
        known = self.loaded.get(path)
        if known is not None:
            return known
        if path in descendants:
            return self._without(ProblemKind.DEFAULTS, f"{path} leads back to itself", at)
        if len(descendants) >= DEEPEST_PARENTS:
            return self._without(ProblemKind.DEFAULTS, "too many generations", at)
        if len(self.loaded) >= MOST_PARENTS:
            return self._without(ProblemKind.LIMIT, f"more than {MOST_PARENTS} files", at)
        source = self.tree.read(path)
        if isinstance(source, Unreadable):
            return self._without(ProblemKind.NOT_FOUND, f"{path}: {source.reason}", at)
        self.sources.append(path)
        try:
            root = read_one(source, self.read, self.budget, self.style.loader)
        except Stopped as stopped:
            return self._without(stopped.kind, stopped.message, stopped.at)
        if not isinstance(root, Branch):
            return self._without(ProblemKind.UNREADABLE, "no mapping", root.at)
        found = self._with_parents(root, source, (*descendants, path))
        self.loaded[path] = found
        return found

    def _without(self, kind: str, message: str, at: Location) -> Branch:
        self.problems.append(ComposeProblem(kind, message, at))
        return Branch(at)

    def _with_parents(self, root: Branch, source: Source, descendants: tuple[str, ...]) -> Branch:
        named = root.content.pop(self.style.key, None)
        if named is None:
            return root
        base = Branch(root.at)
        folder = source.path.rpartition("/")[0]
        for leaf in self._parents(named):
            path = None if leaf.text.startswith("/") else below(folder, leaf.text)
            if path is None:
                self._without(ProblemKind.NOT_FOUND, f"{leaf.text} lies outside the repository", leaf.at)
                continue
            parent = self.load(path, leaf.at, descendants)
            if self.style.exclusive:
                self._check_exclusive(base, parent)
            fresh = copy(parent, self.budget)
            assert isinstance(fresh, Branch)
            self._merge(base, fresh)
        self._merge(base, root)
        base.at = root.at
        return base

    def _parents(self, named: Node) -> list[Leaf]:
        items = named.content if isinstance(named, Items) else [named]
        found = [item for item in items if isinstance(item, Leaf) and item.value is not None]
        if len(found) < len(items):
            self._without(ProblemKind.DEFAULTS, f"{self.style.key} must be a path or a list of paths", named.at)
        return found

    def _check_exclusive(self, base: Branch, parent: Branch) -> None:
        for key, node in parent.content.items():
            if key in base.content:
                self._without(ProblemKind.DUPLICATE, f"two parents state {key}", node.at)

    def _merge(self, base: Branch, child: Branch) -> None:
        """Make the nodes of `child` part of `base`, first taking out of `base` what `child` says it replaces."""
        replaced = self._clear(base, child, 0)
        try:
            merger_of(base, self.budget, takes=True).merge(base, child)
        except Clash as clash:
            self.problems.append(ComposeProblem(ProblemKind.MERGE, clash.message, clash.at))
        for key, node in replaced:
            if (there := base.content.get(key)) is not None:
                there.overrode = (node.at, *there.overrode)

    def _clear(self, base: Branch, child: Branch, depth: int) -> list[tuple[Any, Node]]:
        gone = []
        for key, node in child.content.items():
            if not isinstance(node, Branch):
                continue
            marker = node.content.get(self.style.replaces)
            there = base.content.get(key)
            if isinstance(marker, Leaf) and marker.value:
                del node.content[self.style.replaces]
                if there is not None:
                    gone.append((key, base.content.pop(key)))
            elif self.style.deep and isinstance(there, Branch):
                self._clear(there, node, depth + 1)
        return gone


def _override(root: Branch, override: Override, family: _Family) -> None:
    at = place_of(override)
    try:
        parsed = parse_override(override.text)
        if isinstance(parsed.value, Sweep):
            raise Rejected("several values")
        apply(root, parsed, at, merger_of(root, family.budget), Interpolations(root, {}, {}, family.budget))
    except (NotAnOverride, Rejected) as error:
        family.problems.append(ComposeProblem(ProblemKind.OVERRIDE, f"{override.text[:80]!r}: {error}", at))
