"""A composed tree as values: each scalar resolved, with its places, and a document that frameworks' tables can read."""

from __future__ import annotations

from collections.abc import Mapping as Map
from typing import Any, Final

from pytest_gbs.composition._nodes import MISSING, Branch, Budget, Items, Leaf, Node, TooMuch
from pytest_gbs.composition._resolve import Found, Interpolations, Resolver
from pytest_gbs.composition.composed import Composed, ComposedValue, ComposeProblem, ProblemKind, Unresolved, Why
from pytest_gbs.model.document import Document, Mapping, Scalar, Sequence
from pytest_gbs.model.document import Node as Written
from pytest_gbs.model.limits import DEEPEST_COMPOSED, MOST_COMPOSED_TEXT, MOST_EXPANDED
from pytest_gbs.model.location import KeyPath, Location, Source
from pytest_gbs.readers.scalar import Value

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes
_DEEPEST: Final = DEEPEST_COMPOSED + 50


def present(
    root: Branch,
    path: str,
    problems: list[ComposeProblem],
    sources: list[str],
    *,
    environment: Map[str, str],
    resolvers: Map[str, Resolver] | None,
) -> Composed:
    """Return the values of `root`, a configuration whose primary file is at `path`."""
    budget = Budget()
    interpolations = Interpolations(root, environment, resolvers, budget)
    writer = _Writer(interpolations, Interpolations(root, environment, resolvers, budget, complete=True))
    try:
        node, data = writer.branch(root, (), 0)
    except TooMuch as error:
        problems = [*problems, ComposeProblem(ProblemKind.LIMIT, str(error), root.at)]
        node, data = Mapping(0, 0, ()), {}
    text = "".join(writer.text)
    document = Document(Source(path, text), 1, "yaml", node, writer.keyed, (), ())
    return Composed(writer.values, data, document, tuple(problems), tuple(dict.fromkeys(sources)))


def without_values(path: str, problems: list[ComposeProblem], sources: list[str]) -> Composed:
    """Return what is left of a configuration that nobody wants in part: its problems."""
    return Composed({}, {}, Document(Source(path, ""), 1, "yaml", None, {}, (), ()), tuple(problems), tuple(dict.fromkeys(sources)))


class _Writer:
    """The values found so far, and the text of the made-up document: a line for each scalar."""

    def __init__(self, interpolations: Interpolations, complete: Interpolations) -> None:
        self.interpolations = interpolations
        self.complete = complete
        self.values: dict[KeyPath, ComposedValue] = {}
        self.keyed: dict[KeyPath, tuple[Written, Written]] = {}
        self.text: list[str] = []
        self.length = 0
        self.within: list[int] = []
        self.budget = Budget()
        self.expanding = False

    def write(self, text: str) -> tuple[int, int]:
        """Add `text` to the document and return its span."""
        start = self.length
        self.length += len(text)
        if self.length > MOST_COMPOSED_TEXT:
            raise TooMuch(f"more than {MOST_COMPOSED_TEXT:,} characters of values")
        self.text.append(text)
        return start, self.length

    def branch(self, branch: Branch, path: KeyPath, depth: int, keyed: bool = True) -> tuple[Mapping, dict[Any, Any]]:
        """Return `branch` as a node of the document and as plain data."""
        start = self.length
        entries: list[tuple[Written, Written]] = []
        data = {}
        overrode = _overrode(branch)
        self.within.append(id(branch))
        for key, value in branch.content.items():
            text = key if type(key) is str else str(key)
            place = (*path, text)
            if type(value) is Leaf and self.stands(value):
                entry = self.line(text, type(key) is not str, value, place, value.overrode or overrode)
                entries.append(entry)
                data[key] = value.value
                if keyed:
                    self.keyed[place] = entry
                continue
            name = Scalar(*self.write(text), text, type(key) is not str)
            self.write(": ")
            if keyed:
                self.keyed[place] = (name, name)  # keeps its rank before the keys within
            node, data[key] = self.node(value, place, depth, keyed)
            self.write("\n")
            entries.append((name, node))
            if keyed:
                self.keyed[place] = (name, node)
        self.within.pop()
        return Mapping(start, self.length, tuple(entries)), data

    def stands(self, leaf: Leaf) -> bool:
        """Return whether `leaf` is no interpolation and not `???`, as most are."""
        value = leaf.value
        return type(value) is not str or self.interpolations.literal or ("${" not in value and value != MISSING)

    def line(self, key: str, plain: bool, leaf: Leaf, path: KeyPath, overrode: tuple[Location, ...]) -> tuple[Scalar, Scalar]:
        """Return `key`, which `plain` says is no text, and the value of `leaf` as nodes of the document; note it in the values."""
        (self.interpolations.budget if self.expanding else self.budget).spend()
        value = leaf.value
        self.values[path] = _new(ComposedValue, (value, leaf.at, leaf.text, overrode, ()))
        text, bare = _spelled(value, leaf)
        start, stop = self.write(f"{key}: {text}\n")
        return _new(Scalar, (start, start + len(key), key, plain, None)), _new(Scalar, (stop - 1 - len(text), stop - 1, text, bare, None))

    def node(self, node: Node, path: KeyPath, depth: int, keyed: bool) -> tuple[Written, Any]:
        """Return `node`, what it refers to taken in, as a node of the document and as plain data."""
        (self.interpolations.budget if self.expanding else self.budget).spend()
        if isinstance(node, Leaf):
            found = self.interpolations.resolve(node)
            if isinstance(found.node, Unresolved | Leaf):
                return self.scalar(node, found, path)
            if id(found.node) in self.within:
                return self.scalar(node, Found(Unresolved(Why.LOOP, f"{node.text[:80]} holds itself", node.at)), path)
            if self.expanding:
                return self.node(found.node, path, depth + 1, keyed)
            return self.expanded(node, found.node, path, depth, keyed)
        if depth >= _DEEPEST:
            raise TooMuch(f"nested deeper than {_DEEPEST} levels")
        if isinstance(node, Branch):
            return self.branch(node, path, depth + 1, keyed)
        return self.items(node, path, depth)

    def expanded(self, leaf: Leaf, target: Node, path: KeyPath, depth: int, keyed: bool) -> tuple[Written, Any]:
        """Return `target`, which `leaf` refers to; if that goes too far, only this value is unresolved."""
        budget = self.interpolations.budget
        before = budget.left, self.length, len(self.text), len(self.values), len(self.keyed), len(self.within)
        budget.left = allowed = min(budget.left, MOST_EXPANDED)
        self.expanding = True
        try:
            return self.node(target, path, depth + 1, keyed)
        except TooMuch as error:
            _, self.length, texts, values, entries, within = before
            del self.text[texts:], self.within[within:]
            while len(self.values) > values:
                self.values.popitem()
            while len(self.keyed) > entries:
                self.keyed.popitem()
            return self.scalar(leaf, Found(Unresolved(Why.TOO_LARGE, str(error), leaf.at)), path)
        finally:
            self.expanding = False
            budget.left = before[0] - (allowed - max(budget.left, 0))

    def items(self, items: Items, path: KeyPath, depth: int) -> tuple[Sequence, list[Any]]:
        """Return `items` as a node of the document and as plain data."""
        start = self.length
        self.within.append(id(items))
        found = []
        for number, item in enumerate(items.content):
            self.write("- ")
            found.append(self.node(item, (*path, number), depth + 1, keyed=False))
            self.write("\n")
        self.within.pop()
        return Sequence(start, self.length, tuple(node for node, _ in found)), [data for _, data in found]

    def scalar(self, leaf: Leaf, found: Found, path: KeyPath) -> tuple[Scalar, Value | Unresolved]:
        """Return the scalar that `leaf` stands for, and note it in the values."""
        value: Value | Unresolved
        if isinstance(found.node, Unresolved):
            value = self.otherwise(leaf, found.node)
        else:
            assert isinstance(found.node, Leaf)
            value = found.node.value
            if found.node.missing and not self.interpolations.literal:
                value = Unresolved(Why.MISSING, "??? must be given", found.node.at)
        self.values[path] = ComposedValue(value, leaf.at, leaf.text, _overrode(leaf), found.through)
        text, plain = _spelled(value, leaf)
        return Scalar(*self.write(text), text, plain), value

    def otherwise(self, leaf: Leaf, unresolved: Unresolved) -> Unresolved:
        """Return `unresolved` with what holds where none of the unknown environment variables is set."""
        if unresolved.reason != Why.ENVIRONMENT:
            return unresolved
        found = self.complete.resolve(leaf).node
        return unresolved._replace(otherwise=(found.value,)) if isinstance(found, Leaf) and not found.missing else unresolved


def _overrode(node: Node) -> tuple[Location, ...]:
    """Return the places of what `node`, or the nearest container around it that overrode anything, took the place of."""
    nearest: Node | None = node
    while nearest is not None and not nearest.overrode:
        nearest = nearest.parent
    return () if nearest is None else nearest.overrode


def _spelled(value: Value | Unresolved, leaf: Leaf) -> tuple[str, bool]:
    """Return `value` as any YAML loader reads it back, and whether it is plain; as written where it is not known."""
    if isinstance(value, str):
        return value, False
    if isinstance(value, Unresolved):
        return leaf.text, True
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
