"""The training frameworks: one table file each, found by listing this folder, loaded when a recipe of theirs is met."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from pytest_gbs.core.document import Document
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.plugins import index_of, module, modules
from pytest_gbs.frameworks._recognition import Entry, Index, Recogniser, build


@cache
def tables() -> tuple[Framework, ...]:
    """Return the tables of all frameworks, loaded: `FRAMEWORK`, or `FRAMEWORKS` where one file holds variants, of each module."""
    return tuple(table for _, _, table in named_tables())


def named_tables() -> Iterator[tuple[str, int, Framework]]:
    """Yield each table with the name of its module and its number there."""
    for found in modules(__name__, __path__):
        for number, table in enumerate(_of(found)):
            yield found.__name__.rpartition(".")[2], number, table


def titles() -> tuple[str, ...]:
    """Return the titles of all tables, none of them loaded."""
    return tuple(entry.title for entry in _told().entries)


def hints() -> tuple[str, ...]:
    """Return words of which at least one occurs in the text of every recipe."""
    return _told().hints


def recognise(document: Document, program: str = "") -> Framework | None:
    """Return the table that `document` is a recipe of, or None where it is no recipe that any table knows.

    Where `program` is the path of the program that reads it, its words count as nearer than those of the document's own path.
    """
    return _recogniser().recognise(document, program)


@cache
def _recogniser() -> Recogniser:
    return Recogniser(_told(), _load)


@cache
def _told() -> Index:
    """Return how tables are recognised: as written down beside them, or, where that is out of date, from the tables themselves."""
    written: Index | None = index_of(__name__, __path__)
    return written if written is not None else build(named_tables())


def _load(entry: Entry) -> Framework:
    return _of(module(f"{__name__}.{entry.module}"))[entry.number]


def _of(found: object) -> tuple[Framework, ...]:
    return getattr(found, "FRAMEWORKS", None) or (found.FRAMEWORK,)  # type: ignore[attr-defined]
