"""A composed tree as plain data and as a document that a framework's table reads, with the place of each value."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from pytest_gbs.composition._errors import LimitExceeded
from pytest_gbs.composition._interpolations import Interpolations
from pytest_gbs.composition._nodes import MISSING, Branch, Budget, Items, Leaf, Node
from pytest_gbs.composition.composed import Composed, ComposeProblem, ProblemKind, Unresolved, UnresolvedReason
from pytest_gbs.model.document import Document, Mapping, Scalar, Sequence
from pytest_gbs.model.document import Node as Written
from pytest_gbs.model.limits import DEEPEST_COMPOSED, MOST_COMPOSED_TEXT, MOST_EXPANDED
from pytest_gbs.model.location import KeyPath, Location, Source
from pytest_gbs.readers.scalar import Value

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes
_DEEPEST: Final = DEEPEST_COMPOSED + 50


def to_document(
    root: Branch, path: str, problems: Iterable[ComposeProblem], sources: Iterable[str], interpolations: Interpolations | None
) -> Composed:
    """The values of `root`, a configuration whose primary file is at `path`; None for a program that does not interpolate."""
    writer = _Writer(interpolations)
    try:
        node, data = writer.branch(root, (), 0)
    except LimitExceeded as error:
        problems = (*problems, ComposeProblem(ProblemKind.LIMIT, str(error), root.at))
        node, data = Mapping(0, 0, ()), {}
    document = Document(Source(path, "".join(writer.text)), 1, "yaml", node, writer.keyed, (), ())
    return Composed(data, document, writer.places, tuple(problems), tuple(dict.fromkeys(sources)))


def without_values(path: str, problems: Iterable[ComposeProblem], sources: Iterable[str]) -> Composed:
    """A configuration of which only the problems are wanted."""
    return Composed({}, Document(Source(path, ""), 1, "yaml", None, {}, (), ()), {}, tuple(problems), tuple(dict.fromkeys(sources)))


class _Writer:
    """Writes the text of the document, a line for each scalar, and keeps the place of each."""

    def __init__(self, interpolations: Interpolations | None) -> None:
        self.interpolations = interpolations
        self.budget = Budget()
        self.places: dict[KeyPath, Location] = {}
        self.keyed: dict[KeyPath, tuple[Written, Written]] = {}
        self.text: list[str] = []
        self.length = 0
        self.within: list[int] = []  # identities of the containers around what is written
        self.expanding = False

    def write(self, text: str) -> tuple[int, int]:
        """Add `text` to the document and return its span."""
        start = self.length
        self.length += len(text)
        if self.length > MOST_COMPOSED_TEXT:
            raise LimitExceeded(f"more than {MOST_COMPOSED_TEXT:,} characters of values")
        self.text.append(text)
        return start, self.length

    def branch(self, branch: Branch, path: KeyPath, depth: int, keyed: bool = True) -> tuple[Mapping, dict[Any, Any]]:
        """`branch` as a node of the document and as plain data."""
        start = self.length
        entries: list[tuple[Written, Written]] = []
        data = {}
        self.within.append(id(branch))
        for key, value in branch.content.items():
            text = key if type(key) is str else str(key)
            place = (*path, text)
            if type(value) is Leaf and self.stands_for_itself(value):
                entry: tuple[Written, Written] = self.line(text, type(key) is not str, value, place)
                data[key] = value.value
            else:
                name = Scalar(*self.write(text), text, type(key) is not str)
                self.write(": ")
                if keyed:
                    self.keyed[place] = (name, name)  # keeps its rank before the keys within
                node, data[key] = self.node(value, place, depth, keyed)
                self.write("\n")
                entry = name, node
            entries.append(entry)
            if keyed:
                self.keyed[place] = entry
        self.within.pop()
        return Mapping(start, self.length, tuple(entries)), data

    def stands_for_itself(self, leaf: Leaf) -> bool:
        """Whether `leaf` is neither an interpolation nor `???`, as most are."""
        value = leaf.value
        return type(value) is not str or self.interpolations is None or ("${" not in value and value != MISSING)

    def line(self, key: str, plain: bool, leaf: Leaf, path: KeyPath) -> tuple[Scalar, Scalar]:
        """`key` (`plain` if it is not text) and the value of `leaf` as nodes of the document."""
        self.spend()
        self.places[path] = leaf.at
        text, bare = spelled(leaf.value)
        start, stop = self.write(f"{key}: {text}\n")
        return _new(Scalar, (start, start + len(key), key, plain, None)), _new(Scalar, (stop - 1 - len(text), stop - 1, text, bare, None))

    def spend(self) -> None:
        """Count one value; those that interpolations include are counted separately."""
        (self.interpolations.budget if self.expanding and self.interpolations else self.budget).spend()

    def node(self, node: Node, path: KeyPath, depth: int, keyed: bool) -> tuple[Written, Any]:
        """`node`, or what it refers to, as a node of the document and as plain data."""
        self.spend()
        if isinstance(node, Leaf):
            return self.leaf(node, path, depth, keyed)
        if depth >= _DEEPEST:
            raise LimitExceeded(f"nested deeper than {_DEEPEST} levels")
        if isinstance(node, Branch):
            return self.branch(node, path, depth + 1, keyed)
        return self.items(node, path, depth)

    def leaf(self, leaf: Leaf, path: KeyPath, depth: int, keyed: bool) -> tuple[Written, Any]:
        """The value of `leaf` as a node of the document and as plain data."""
        if self.interpolations is None:
            return self.scalar(leaf, leaf.value, path)
        found = self.interpolations.resolve(leaf)
        if isinstance(found, Unresolved):
            return self.scalar(leaf, found, path)
        if isinstance(found, Leaf):
            missing = Unresolved(UnresolvedReason.MISSING, "??? must be given", found.at)
            return self.scalar(leaf, missing if found.missing else found.value, path)
        if id(found) in self.within:
            return self.scalar(leaf, Unresolved(UnresolvedReason.LOOP, f"{leaf.text[:80]} contains itself", leaf.at), path)
        if self.expanding:
            return self.node(found, path, depth + 1, keyed)
        return self.expanded(leaf, found, path, depth, keyed)

    def expanded(self, leaf: Leaf, target: Node, path: KeyPath, depth: int, keyed: bool) -> tuple[Written, Any]:
        """`target`, to which `leaf` refers; if it is too large, only this value is unresolved."""
        assert self.interpolations is not None
        budget = self.interpolations.budget
        left, length, texts, places, entries, within = (
            budget.left, self.length, len(self.text), len(self.places), len(self.keyed), len(self.within)
        )  # fmt: skip
        budget.left = allowed = min(left, MOST_EXPANDED)
        self.expanding = True
        try:
            return self.node(target, path, depth + 1, keyed)
        except LimitExceeded as error:
            self.length = length
            del self.text[texts:], self.within[within:]
            while len(self.places) > places:
                self.places.popitem()
            while len(self.keyed) > entries:
                self.keyed.popitem()
            return self.scalar(leaf, Unresolved(UnresolvedReason.TOO_LARGE, str(error), leaf.at), path)
        finally:
            self.expanding = False
            budget.left = left - (allowed - max(budget.left, 0))

    def items(self, items: Items, path: KeyPath, depth: int) -> tuple[Sequence, list[Any]]:
        """`items` as a node of the document and as plain data."""
        start = self.length
        self.within.append(id(items))
        found = []
        for number, item in enumerate(items.content):
            self.write("- ")
            found.append(self.node(item, (*path, number), depth + 1, keyed=False))
            self.write("\n")
        self.within.pop()
        return Sequence(start, self.length, tuple(node for node, _ in found)), [data for _, data in found]

    def scalar(self, leaf: Leaf, value: Value | Unresolved, path: KeyPath) -> tuple[Scalar, Value | Unresolved]:
        """`value` of `leaf` as a node of the document, as written if it is not known, and as plain data."""
        self.places[path] = leaf.at
        text, plain = (leaf.text, True) if isinstance(value, Unresolved) else spelled(value)
        return Scalar(*self.write(text), text, plain), value


def spelled(value: Value) -> tuple[str, bool]:
    """`value` as each YAML loader reads it, and whether it is plain."""
    if isinstance(value, str):
        return value, False
    if value is None:
        return "null", True
    if isinstance(value, bool):
        return str(value).lower(), True
    if isinstance(value, int):
        return str(value), True
    text = repr(value)
    if "n" in text:  # inf, -inf and nan
        return text.replace("inf", ".inf").replace("nan", ".nan"), True
    return (text if "." in text else text.replace("e", ".0e")), True
