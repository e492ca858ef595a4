"""Files given together on one command line as one configuration: keys shared, replaced, or merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pytest_gbs.composition._folder import Reader, Stopped, read_one
from pytest_gbs.composition._merge import Clash
from pytest_gbs.composition._nodes import Branch, Budget, TooMuch, copy
from pytest_gbs.composition._present import present
from pytest_gbs.composition._resolve import Resolver
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind
from pytest_gbs.composition.hydra import merger_of
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location, Unreadable
from pytest_gbs.model.tree import Tree


class Shared:
    """What happens with a top-level key that two files hold."""

    CONFLICT: Final = "conflict"  # the program stops (megatron/neox_arguments/arguments.py, NeoXArgs.from_ymls, GPT-NeoX)
    REPLACE: Final = "replace"  # the later file's value
    MERGE: Final = "merge"  # mappings are merged key by key, the later file wins (OmegaConf.merge)


def combine(
    tree: Tree,
    read: Reader,
    paths: Sequence[str],
    *,
    shared: str = Shared.CONFLICT,
    loader: str = Loader.PYYAML,
    resolvers: Mapping[str, Resolver] | None = None,
) -> Composed:
    """Return the files at `paths` of `tree` as one configuration.

    With the loader of OmegaConf, interpolations are followed, and `resolvers` are those that the program registers. Of keys in
    conflict the later value stands, each beside a problem of kind `duplicate`.
    """
    budget = Budget()
    problems: list[ComposeProblem] = []
    sources: list[str] = []
    root = Branch(Location(paths[0] if paths else "", 0, 0, ()))
    for path in paths:
        try:
            source = tree.read(path)
            if isinstance(source, Unreadable):
                raise Stopped(ProblemKind.NOT_FOUND, source.reason, Location(path, 0, 0))
            sources.append(path)
            found = read_one(source, read, budget, loader)
            if not isinstance(found, Branch):
                raise Stopped(ProblemKind.UNREADABLE, "no mapping", found.at)
            _add(root, found, shared, budget, problems)
        except Stopped as stopped:
            problems.append(ComposeProblem(stopped.kind, stopped.message, stopped.at))
        except Clash as clash:
            problems.append(ComposeProblem(ProblemKind.MERGE, clash.message, clash.at))
        except TooMuch as error:
            problems.append(ComposeProblem(ProblemKind.LIMIT, str(error), Location(path, 0, 0)))
            break
    known = None if loader != Loader.OMEGACONF else resolvers or {}
    return present(root, root.at.source, problems, sources, environment={}, resolvers=known)


def _add(root: Branch, found: Branch, shared: str, budget: Budget, problems: list[ComposeProblem]) -> None:
    if shared == Shared.MERGE:
        merger_of(root, budget).merge(root, found)
        return
    for key, node in found.content.items():
        # GPT-NeoX takes hyphens for underscores, and looks for a key as written among those that it has: `a-b` replaces silently.
        name = key.replace("-", "_") if shared == Shared.CONFLICT and type(key) is str else key
        before = root.content.get(key)
        if before is not None and shared == Shared.CONFLICT:
            problems.append(ComposeProblem(ProblemKind.DUPLICATE, f"{name} stands in {before.at.source} too", node.at))
        root.put(name, copy(node, budget))
