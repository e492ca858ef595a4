"""A document as a tree of nodes, its scalars as the framework's loader reads them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from pytest_gbs.composition._errors import CompositionError
from pytest_gbs.composition._interpolation_grammar import check_text
from pytest_gbs.composition._nodes import Branch, Budget, Items, Leaf, Node, check_depth
from pytest_gbs.composition._tokens import GrammarError
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.model.document import Alias, Document, Mapping, Scalar, Sequence
from pytest_gbs.model.document import Node as Written
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import LONGEST_NUMBER
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.readers.scalar import JSON, Value, resolve

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes
_YAML: Final = "tag:yaml.org,2002:"
_SCALARS: Final = frozenset(f"{_YAML}{kind}" for kind in ("null", "bool", "int", "float", "str"))
# The values of plain scalars, keys above all, that are cached.
_MOST_VALUES: Final = 4_096


def from_document(document: Document, budget: Budget, loader: str = Loader.OMEGACONF) -> Node:
    """The tree of `document` as `loader` has it; an empty one is an empty mapping.

    Raises: CompositionError: the loader stops at it.
            LimitExceeded: aliases make it too deep or too large.
    """
    if document.root is None:
        return Branch(Location(document.source.path, 0, 0, ()))
    return _Reader(document, budget, loader).node(document.root, (), 0)


class _Reader:
    def __init__(self, document: Document, budget: Budget, loader: str) -> None:
        self.file = document.source.path
        self.budget = budget
        self.loader = JSON if document.syntax == "json" else loader
        self.interpolates = loader == Loader.OMEGACONF
        # MMEngine and detectron2 read with PyYAML's loader that makes Python objects (`!!python/tuple`).
        self.constructs = loader == Loader.PYYAML

    def node(self, written: Written, path: KeyPath, depth: int) -> Node:
        """The tree of `written`, which is at `path`."""
        at = _new(Location, (self.file, written.start, written.stop, path))
        self.budget.spend()
        if type(written) is Scalar:
            return self.leaf(written, at)
        check_depth(depth)
        if type(written) is Alias:
            if written.target is None:
                raise self.unreadable(f"alias *{written.name} is not defined before, or contains itself", written)
            node = self.node(written.target, path, depth + 1)
            node.at = at
            return node
        assert type(written) is Mapping or type(written) is Sequence
        if written.tag not in (None, "!", f"{_YAML}map", f"{_YAML}seq") and not self.is_object(written.tag):
            raise self.unreadable(f"the loader has no constructor for {written.tag}", written)
        if type(written) is Mapping:
            return self.branch(written, at, path, depth)
        assert type(written) is Sequence
        items = Items(at)
        for number, item in enumerate(written.items):
            items.add(self.node(item, (*path, number), depth + 1))
        return items

    def is_object(self, tag: str | None) -> bool:
        """Whether the loader makes a Python object of what has this tag; it stays what it is written as."""
        return self.constructs and tag is not None and tag.startswith(f"{_YAML}python/")

    def unreadable(self, message: str, written: Written) -> CompositionError:
        return CompositionError(ProblemKind.UNREADABLE, message, Location(self.file, written.start, written.stop))

    def leaf(self, scalar: Scalar, at: Location) -> Leaf:
        tag = scalar.tag
        if tag is not None and tag != "!" and tag not in _SCALARS and not self.is_object(tag):
            raise self.unreadable(f"the loader has no constructor for {tag}", scalar)
        leaf = Leaf(self.value(scalar), at, scalar.text)
        if self.interpolates and "${" in scalar.text:
            self.budget.parse(scalar.text)
            try:
                check_text(leaf.value)
            except GrammarError as error:
                raise self.unreadable(str(error), scalar) from error
        return leaf

    def value(self, scalar: Scalar) -> Value:
        """What `scalar` means; those of plain ones, which a file repeats, are cached."""
        if scalar.plain and scalar.tag is None and len(scalar.text) <= LONGEST_NUMBER:
            return _plain(scalar.text, self.loader)
        return resolve(scalar, self.loader)

    def branch(self, mapping: Mapping, at: Location, path: KeyPath, depth: int) -> Branch:
        if self.interpolates:
            self.check_keys(mapping)
        branch = Branch(at)
        for key, value in self.flatten(mapping, depth):
            name = self.key(key)
            branch.put(name, self.node(value, (*path, str(name)), depth + 1))
        return branch

    def check_keys(self, mapping: Mapping) -> None:
        """Raise CompositionError if a text key is repeated: OmegaConf's loader stops at that, PyYAML's does not."""
        if len({key.text for key, _ in mapping.entries if type(key) is Scalar}) == len(mapping.entries):
            return  # no two are alike, whatever they mean
        seen: set[str] = set()
        for key, _ in mapping.entries:
            if type(key) is Scalar and not _is_merge(key) and type(self.value(key)) is str:
                if key.text in seen:
                    raise self.unreadable(f"key {key.text} is repeated", key)
                seen.add(key.text)

    def key(self, written: Written) -> Any:
        node = written.target if type(written) is Alias else written
        name = self.value(node) if type(node) is Scalar else None
        if name is None:
            raise self.unreadable("a key is neither text nor a number", written)
        return name

    def flatten(self, mapping: Mapping, depth: int) -> list[tuple[Written, Written]]:
        """The entries of `mapping` with those of its merge keys first, as `flatten_mapping` of PyYAML orders them."""
        check_depth(depth - 1)
        merged: list[tuple[Written, Written]] = []
        own = []
        for entry in mapping.entries:
            key = entry[0]
            if (type(key) is Scalar and key.text != "<<" and key.tag is None) or not _is_merge(key):
                own.append(entry)
                continue
            for parent in reversed(self.parents(entry[1])):
                more = self.flatten(parent, depth + 1)
                self.budget.spend(len(more))
                merged += more
        return merged + own

    def parents(self, value: Written) -> list[Mapping]:
        """The mappings that a merge key names."""
        node = value.target if type(value) is Alias else value
        found = []
        for each in node.items if type(node) is Sequence else (node,):
            parent = each.target if type(each) is Alias else each
            if type(parent) is not Mapping:
                raise self.unreadable("a merge key needs a mapping or a list of mappings", value)
            found.append(parent)
        return found


@lru_cache(maxsize=_MOST_VALUES)
def _plain(text: str, loader: str) -> Value:
    """What plain `text` means to `loader`."""
    return resolve(Scalar(0, len(text), text, plain=True), loader)


def _is_merge(key: Written) -> bool:
    return type(key) is Scalar and ((key.text == "<<" and key.plain and key.tag is None) or key.tag == f"{_YAML}merge")
