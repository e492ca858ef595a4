"""A recipe with what it includes from other files of the tree, its interpolations followed, each value at its real place."""

from __future__ import annotations

from collections import abc
from functools import lru_cache
from typing import Final

from pytest_gbs.composition._interpolations import Resolvers
from pytest_gbs.composition.arguments import with_settings
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind
from pytest_gbs.composition.document_cache import DocumentCache
from pytest_gbs.composition.hydra import compose
from pytest_gbs.composition.parents import DETECTRON2, MMENGINE, NEMO_RL, NEMO_RL_RESOLVERS, QUININE, RTDETR, inherit
from pytest_gbs.model.document import INCLUDES, Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.framework import Arguments, Framework, Loader
from pytest_gbs.model.location import KeyPath, Location, Unreadable, below
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Conflict, Quantity, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.scalar import resolve

_MOST_FOLLOWED: Final = 8


class Whole(NamedTuple):
    """A recipe with what it includes from other files: a document that is made up, and where its values really stand.

    With a `limit` it is the recipe by itself: what it includes is more than is read. With `unseen` it is the recipe by itself too: a
    file that it includes is not in the tree.
    """

    document: Document
    places: abc.Mapping[KeyPath, Location] | None
    sources: tuple[str, ...]
    limit: ComposeProblem | None = None
    unseen: bool = False


def whole(document: Document, tree: DocumentCache, framework: Framework | None = None) -> Whole | None:
    """`document` with its parents, the files of its defaults list, and its interpolations; None if it has none of them.

    Interpolations are followed where `framework` reads its files with OmegaConf and one is where the table looks. None as well
    where a file must be chosen by the command that launches.
    """
    if _lacks_parents(document, tree) or (framework is not None and _lacks_last_part(document, tree)):
        return Whole(document, None, (), unseen=True)
    composed = _composed(document, tree, framework)
    if composed is None and framework is not None and has_interpolations(document, framework):
        followed = follow(document, framework)
        if followed is not None:
            return Whole(followed, None, ())
        resolvers = resolvers_of(framework)
        composed = with_settings(document, document.source.path, (), Arguments.NONE, Loader.OMEGACONF, resolvers=resolvers)
    if composed is None:
        return None
    if composed.problems:
        limit = next((problem for problem in composed.problems if problem.kind == ProblemKind.LIMIT), None)
        unseen = any(problem.kind == ProblemKind.NOT_FOUND for problem in composed.problems)
        return Whole(document, None, (), limit, unseen) if limit is not None or unseen else None
    made_up = composed.document._replace(source=document.source, number=document.number, comments=document.comments)
    return Whole(made_up, composed.places, composed.sources)


def locate(at: Location, document: Document, places: abc.Mapping[KeyPath, Location] | None) -> Location:
    """The place in a real file of `at`, a place in `document`, which is made up if there are `places`."""
    if places is None or at.path is None or at.source != document.source.path:
        return at
    return places.get(at.path, at)


def really(size: Size, document: Document, places: abc.Mapping[KeyPath, Location] | None) -> Size:
    """`size`, read from `document`, and all it was computed from at real places."""
    if isinstance(size, Conflict) or places is None:
        return size
    at = locate(size.at, document, places) if size.at is not None else None
    if isinstance(size, Unknown):
        return size._replace(at=at)
    because = tuple(each for part in size.because if isinstance(each := really(part, document, places), Quantity))
    return size._replace(at=at, because=because)


def has_interpolations(document: Document, framework: Framework) -> bool:
    """Whether a value that the table looks at is an interpolation."""
    if framework.loader != Loader.OMEGACONF or "${" not in document.source.text:
        return False
    for key in _looked_at(framework):
        node = document.get(*key)
        if isinstance(node, Scalar) and "${" in node.text:
            return True
    # A mapping may be included whole: `model: ${base_model}`.
    return any(isinstance(node := document.get(*key), Scalar) and "${" in node.text for key in _above(framework))


def follow(document: Document, framework: Framework) -> Document | None:
    """`document` with the values in the place of interpolations of a whole value (`${model.batch}`), at their own places.

    None if one of those that the table looks at is of another kind, or is behind an alias, which takes composing.
    """
    keyed = dict(document.keyed)
    for key in _looked_at(framework):
        entry, followed = keyed.get(key), 0
        while entry is not None and isinstance(entry[1], Scalar) and "${" in entry[1].text:
            match = _reference().fullmatch(entry[1].text)
            target = document.keyed.get(tuple(match.group(1).split("."))) if match else None
            followed += 1
            if target is None or not isinstance(target[1], Scalar) or followed > _MOST_FOLLOWED:
                return None
            entry = (entry[0], target[1])
        if followed and entry is not None:
            keyed[key] = entry
    at_end = document._replace(keyed=keyed)
    return None if has_interpolations(at_end, framework) else at_end


@lru_cache
def _above(framework: Framework) -> frozenset[KeyPath]:
    """The keys of the mappings that hold what a table looks at."""
    return frozenset(key[:depth] for key in _looked_at(framework) for depth in range(1, len(key)))


@lru_cache
def _looked_at(framework: Framework) -> frozenset[KeyPath]:
    """The keys whose values a table looks at."""
    conditions = [
        *(condition for row in framework.rows for condition in row.when),
        *(condition for constraint in framework.constraints for condition in constraint.when),
        *(condition for requirement in framework.requirements for condition in requirement.when),
        *(condition for exclusion in framework.exclusions for condition in exclusion.when),
        *(condition for switch in framework.switches for condition in (switch.condition, *switch.when)),
        *framework.reserves,
        *framework.partial_epochs,
        *(each for each in (framework.packing, framework.shares) if each is not None),
    ]
    rows = (row.key for row in framework.rows)
    return frozenset((*rows, *(condition.key for condition in conditions), *(text.key for text in framework.texts)))


def _composed(document: Document, tree: DocumentCache, framework: Framework | None) -> Composed | None:
    path = document.source.path
    for style in (MMENGINE, DETECTRON2, RTDETR):
        if (style.key,) in document.keyed:
            return inherit(tree, path, style)
    parents, defaults = document.get(QUININE.key), document.get("defaults")
    if parents is not None and _names_files(parents):
        return inherit(tree, path, QUININE)
    if defaults is None:
        return None
    if _names_files(defaults):
        return inherit(tree, path, NEMO_RL, resolvers=NEMO_RL_RESOLVERS)
    # A Hydra file that is nothing to any table by itself is a part of a tree, or one that only its launches make whole.
    if framework is None or not isinstance(defaults, Sequence):
        return None
    folder, _, name = path.rpartition("/")
    return compose(tree, folder, name.rpartition(".")[0], whole=True)


def _lacks_parents(document: Document, tree: DocumentCache) -> bool:
    """Whether one of the parents is not there that `document` names."""
    named = next((node for key in sorted(INCLUDES) if (node := document.get(*key)) is not None), None)
    if named is None or not _names_files(named):
        return False
    folder = document.source.path.rpartition("/")[0]
    texts = [node.text for node in (named.items if isinstance(named, Sequence) else (named,)) if isinstance(node, Scalar)]
    return any((path := below(folder, text)) is None or isinstance(tree.read(path), Unreadable) for text in texts)


def _lacks_last_part(document: Document, tree: DocumentCache) -> bool:
    """Whether the last file is not there that a Hydra defaults list names: composing starts with that one, and would end there.

    Lists that choose for others, and names that are computed or lie elsewhere, are left to composing.
    """
    listed = document.get("defaults")
    if not isinstance(listed, Sequence) or INCLUDES.intersection(document.keyed) != {("defaults",)}:
        return False
    if document.get("hydra") is not None or "override " in document.source.text:
        return False
    last = next((item for item in reversed(listed.items) if not (isinstance(item, Scalar) and item.text == "_self_")), None)
    entry = last.entries[0] if isinstance(last, Mapping) and len(last.entries) == 1 else (last,)
    texts = [part.text for part in entry if isinstance(part, Scalar) and type(resolve(part, Loader.OMEGACONF)) is str]
    name = "/".join(texts).removeprefix("/")  # from the folder of the recipe, with a slash and without
    if len(texts) != len(entry) or name.endswith((".yaml", ".yml")) or _part().fullmatch(name) is None:
        return False
    path = below(document.source.path.rpartition("/")[0], f"{name}.yaml")
    return path is not None and tree.lacks(path)


_part = lazy_pattern(r"(?!hydra/)\w[\w.-]*(?:/\w[\w.-]*)*")


def resolvers_of(framework: Framework | None) -> Resolvers:
    """What the program registers with OmegaConf (`${mul:2,${.micro}}`), as far as it is known."""
    return NEMO_RL_RESOLVERS if framework is not None and framework.name == "nemo-rl" else {}


def _names_files(node: Node) -> bool:
    """Whether `node`, of a key that includes others, is a path or a list of paths, rather than of Hydra's groups."""
    items = node.items if isinstance(node, Sequence) else (node,)
    return all(isinstance(item, Scalar) and item.text.endswith((".yaml", ".yml")) for item in items)


_reference = lazy_pattern(r"\$\{([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*)\}")
