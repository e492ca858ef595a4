"""What the text of a program fixes of an expression: a constant, keys with their values, what a class makes; or that it is lost."""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from typing import Final, TypeAlias

from pytest_gbs.model.limits import DEEPEST_DOCUMENT
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple

Constant: TypeAlias = int | float | str | bool | None


class Known(NamedTuple):
    """A constant, and the text that gives it: the literal itself where a name stands for one.

    `at` is the word of the command line that gives it; the span is the expression that takes it then.
    """

    value: Constant
    start: int
    stop: int
    at: Location | None = None


class Table(NamedTuple):
    """Keys with their values, each key at its place; where `rest` is set, further keys come from there."""

    entries: dict[str, Entry]
    start: int
    stop: int
    rest: Lost | None = None

    def get(self, key: str) -> Value | None:
        """The value of `key`, None if it has none here."""
        entry = self.entries.get(key)
        return entry[1] if entry is not None else None


class Items(NamedTuple):
    """The values of a list or a tuple."""

    items: tuple[Value, ...]
    start: int
    stop: int


class Made(NamedTuple):
    """What the call of a class gives: its name as imported (`trl.SFTConfig`), its arguments, and the class if this file defines it.

    `arguments` are those with names; `by_place` the others.
    """

    name: str
    arguments: Table
    definition: ast.ClassDef | None
    start: int
    stop: int
    func: ast.expr | None = None  # what names the class
    by_place: tuple[Value, ...] = ()


class Lost(NamedTuple):
    """What the text does not fix; the span is the expression that runs into it.

    `at` is the word of the command line of which it is the value, `text` what stands for that in a document.
    """

    start: int
    stop: int
    at: Location | None = None
    text: str = ""


class Place(NamedTuple):
    """The path of a file: from the root of the tree if it is `inside`, else from the folder in which the program is started."""

    path: str
    start: int
    stop: int
    inside: bool


Value: TypeAlias = Known | Table | Items | Made | Lost | Place
Entry: TypeAlias = tuple[tuple[int, int], Value]  # the place of a key, and its value


class Ancestor(NamedTuple):
    """What a class is made from: the `names` under which it and its bases are imported, nearest first, or that of a class of the program.

    `fields` are the defaults that the classes on the way give, of those that name a batch size; `sets` are the sizes that they set
    themselves.
    """

    names: tuple[str, ...]
    fields: dict[str, Entry]
    sets: frozenset[str] = frozenset()


Found: TypeAlias = tuple[str, ast.AST, Table]  # what is called, or `DICTIONARY` and so on, where, and what it has

batch_name = lazy_pattern(r"batch|accum", re.IGNORECASE)
CONFIGURATION: Final = "omegaconf.DictConfig"
"""The name of what `Made` is of a configuration whose keys are attributes, too."""
NAMESPACE: Final = "argparse.Namespace"
SAMPLES: Final = "samples per optimizer step"  # of all processes, which share them
SHARING: Final = "processes that share a batch"
STEPS: Final = "batches per optimizer step"  # the key of what no key holds: how often a loop of a program's own steps its optimizer


def table_of(value: Value | None) -> Value | None:
    """The arguments of what a class makes; any other value as it is."""
    return value.arguments if isinstance(value, Made) else value


def sets_batch(table: Table) -> bool:
    """Whether a key of `table` names a batch size or an accumulation."""
    return any(batch_name().search(name) for name in table.entries)


def value_below(value: Value | None, path: tuple[str, ...]) -> Value | None:
    """What `value` has at `path`, None if it has nothing there."""
    for key in path:
        table = table_of(value)
        value = table.get(key) if isinstance(table, Table) else None
    return value


def put(table: Table, path: tuple[str, ...], place: tuple[int, int], value: Value) -> None:
    """Set what `table` has at `path` to `value`, in tables that are made where there are none."""
    for key in path[:-1]:
        _, inner = table.entries.get(key, (place, None))
        if isinstance(inner, Made):
            inner = inner.arguments
        if not isinstance(inner, Table):
            inner = Table({}, *place, inner if isinstance(inner, Lost) else table.rest)
        table.entries[key] = place, inner
        table = inner
    if path:
        table.entries[path[-1]] = place, value


def at_span(value: Value, span: tuple[int, int], kept: Set[int] = frozenset(), *, opened: bool = False, depth: int = 0) -> Value:
    """`value`, which another file gives, as one of what is at `span` of this one; but for those `kept`, by their identity.

    What a class makes is lost, unless it is `opened`: then it is what the arguments say.
    """
    if id(value) in kept:
        return value
    if isinstance(value, Made) and (opened or value.name == CONFIGURATION):
        arguments = at_span(value.arguments, span, kept, opened=opened, depth=depth)
        return arguments if opened or not isinstance(arguments, Table) else value._replace(arguments=arguments, start=span[0], stop=span[1])
    if depth >= DEEPEST_DOCUMENT or isinstance(value, Made):
        return Lost(*span)
    if isinstance(value, Items):
        return Items(tuple(at_span(each, span, kept, opened=opened, depth=depth + 1) for each in value.items), *span)
    if isinstance(value, Table):
        inner = {name: at_span(each, span, kept, opened=opened, depth=depth + 1) for name, (_, each) in value.entries.items()}
        return Table({name: (span, each) for name, each in inner.items()}, *span, Lost(*span) if value.rest is not None else None)
    return value._replace(start=span[0], stop=span[1])


def placed(table: Table, place: tuple[int, int], kept: Set[int] = frozenset()) -> Table:
    """`table`, made in another file, with all of it at `place`; but for those `kept`, by their identity, which are of this file."""
    found = at_span(table, place, kept, opened=True)
    assert isinstance(found, Table)
    return found
