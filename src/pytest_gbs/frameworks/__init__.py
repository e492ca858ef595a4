"""The training frameworks: one table file each, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.constraints import holds
from pytest_gbs.core.document import Document
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.location import KeyPath
from pytest_gbs.core.plugins import modules
from pytest_gbs.core.typed import NamedTuple


@cache
def tables() -> tuple[Framework, ...]:
    """Return the tables of all frameworks: `FRAMEWORK`, or `FRAMEWORKS` where one file holds variants, of each module."""
    found: list[Framework] = []
    for module in modules(__name__, __path__):
        found.extend(getattr(module, "FRAMEWORKS", None) or (module.FRAMEWORK,))
    return tuple(found)


def recognise(document: Document, program: str = "") -> Framework | None:
    """Return the table that `document` is a recipe of, or None where it is no recipe that any table knows.

    Where `program` is the path of the program that reads it, its words count as nearer than those of the document's own path.
    """
    index = _index()
    bits = index.bits
    seen = 0
    for key in document.keyed:
        seen |= bits.get(key, 0)
    if not seen & index.doors:
        return None
    entries = [entry for entry in index.entries if entry.admits(seen) and entry.suits(document)]
    if len(entries) > 1:
        best = max((entry.marks & seen).bit_count() for entry in entries)
        entries = [entry for entry in entries if (entry.marks & seen).bit_count() == best]
    if len(entries) > 1:
        words = [*_words(document.source.path), *_named_above(document, entries), *_words(program)]
        entries.sort(key=lambda entry: entry.nearness(words), reverse=True)
    return entries[0].table if entries else None


class _Entry(NamedTuple):
    """How one table is recognised, each key a bit."""

    table: Framework
    all_of: int
    one_of: tuple[int, ...]
    none_of: int
    marks: int

    def admits(self, seen: int) -> bool:
        """Return whether a document with the keys `seen` may belong to this table."""
        # A loop rather than all(): this is asked of every table for every recipe.
        for group in self.one_of:
            if not group & seen:
                return False
        return not (seen & self.none_of or self.all_of & ~seen)

    def suits(self, document: Document) -> bool:
        """Return whether the syntax and the values of `document` are those that this table asks for, where it asks for any."""
        when, syntax = self.table.recognition.when, self.table.recognition.syntax
        if syntax and syntax != document.syntax:
            return False
        return not when or any(holds(condition, document, self.table.loader) for condition in when)

    def nearness(self, words: list[str]) -> tuple[int, int]:
        """Return how near to the end of a path, read as `words`, one of this table's words stands, then its weight."""
        paths = self.table.recognition.paths
        return max((number for number, word in enumerate(words) if word in paths), default=-1), self.table.recognition.weight


class _Index(NamedTuple):
    """The bit of each key that says anything, the keys of which every recipe has one, and all tables."""

    bits: dict[KeyPath, int]
    doors: int
    entries: tuple[_Entry, ...]


@cache
def _index() -> _Index:
    bits: dict[KeyPath, int] = {}

    def mask(keys: tuple[KeyPath, ...]) -> int:
        together = 0
        for key in keys:
            together |= bits.setdefault(key, 1 << len(bits))
        return together

    entries = []
    doors = 0
    for table in tables():
        how = table.recognition
        entry = _Entry(table, mask(how.all_of), tuple(mask(group) for group in how.one_of), mask(how.none_of), mask(how.marks))
        entries.append(entry)
        doors |= entry.all_of or entry.one_of[0]
    return _Index(bits, doors, tuple(entries))


def _named_above(document: Document, entries: list[_Entry]) -> list[str]:
    """Return the words of the programs that the comments above the first key name, the one named first last; of tables that ask."""
    if not any(entry.table.recognition.header for entry in entries):
        return []
    text = " ".join(block.text for block in document.comments if block.placement == "header")
    named = [each.strip("`'\",;:()") for each in text.split() if "_" in each]
    return [word for each in reversed(named) for word in _words(each)]


def _words(path: str) -> list[str]:
    """Return the lower-case words of a path: `recipes/zephyr/dpo/config_full.yaml` has five and its extension."""
    for sign in "._-":
        path = path.replace(sign, "/")
    return path.lower().split("/")
