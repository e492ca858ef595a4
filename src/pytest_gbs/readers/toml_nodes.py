"""The statements of a TOML text as one tree with spans; whether the text is TOML at all is for Python's tomllib to say."""

from __future__ import annotations

from typing import Final, TypeAlias

from pytest_gbs.model.document import Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, LONGEST_BARE_VALUE, MOST_NODES
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.index import Index
from pytest_gbs.readers.refusal import TOO_DEEP, TOO_LONG, TOO_MANY, RefusedDocument
from pytest_gbs.readers.toml_strings import string_at


class _Table:
    """A table that is being read: later statements may add to it wherever they stand. `index` takes its entries by path."""

    __slots__ = ("entries", "index", "path", "start", "stop")

    def __init__(self, start: int, path: KeyPath, index: Index) -> None:
        self.start = self.stop = start
        self.path, self.index = path, index
        self.entries: dict[str, tuple[Scalar, _Value]] = {}


class _List:
    """An array that is being read, or the tables that repeated headers `[[name]]` made."""

    __slots__ = ("items", "start", "stop")

    def __init__(self, start: int) -> None:
        self.start = self.stop = start
        self.items: list[_Value] = []


_Value: TypeAlias = "Scalar | _Table | _List"


class Statements:
    """A reader and its state: `place` is where the next token starts, `chain` the tables that the last header leads through.

    `keyed` and `inner` index the entries by path in the order of the text, those within arrays in `inner`; `opaque` are
    the spans of strings. What is not TOML is read somehow or refused, in time proportional to the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.left = MOST_NODES
        self.keyed: Index = {}
        self.inner: Index = {}
        self.opaque: list[tuple[int, int]] = []
        self.top = _Table(0, (), self.keyed)
        self.chain: list[_Table | _List] = [self.top]

    def root(self) -> Mapping:
        """The whole text as one mapping."""
        if self.text.count("\\") > MOST_NODES:  # each escape takes tomllib as long as a value
            raise RefusedDocument(0, TOO_MANY)
        self.skip()
        self.top.start = self.top.stop = self.place
        while self.place < len(self.text):
            if self.text[self.place] == "[":
                self.header()
            else:
                table = self.chain[-1]
                assert isinstance(table, _Table)
                self.assignment(table, self.chain)
            self.skip()
        found = _freeze(self.top)
        assert isinstance(found, Mapping)
        return found

    def skip(self) -> None:
        """Go on to the next token, over blanks, line breaks and comments."""
        before = self.place
        while match := _gap().match(self.text, self.place):
            self.place = match.end()
            if self.place - before < _AT_ONCE:
                return
            before = self.place

    def header(self) -> None:
        """Read `[a.b]` or `[[a.b]]`, and make its table the one that the next statements add to."""
        repeated = self.text.startswith("[[", self.place)
        self.place += 2 if repeated else 1
        keys = self.keys()
        if not self.text.startswith("]]" if repeated else "]", self.place):
            raise RefusedDocument(self.place, "expected ']' at the end of a table's name")
        self.place += 2 if repeated else 1
        self.chain = [self.top]
        table = self.walk(self.top, keys[:-1], self.chain)
        table = self.append(table, keys[-1]) if repeated else self.enter(table, keys[-1], self.place, self.chain)
        self.chain.append(table)
        self.reach(self.chain)

    def keys(self) -> list[Scalar]:
        """The parts of the key that starts here, and stop behind it and the blanks after it."""
        found: list[Scalar] = []
        while not found or self.text.startswith(".", self.place):
            if len(found) == DEEPEST_DOCUMENT:
                raise RefusedDocument(self.place, TOO_DEEP)
            self.place += bool(found)
            self.blanks()
            if self.text[self.place : self.place + 1] in ("'", '"'):
                found.append(self.string())
            elif match := _bare().match(self.text, self.place):
                found.append(Scalar(self.place, match.end(), match.group(), True))
                self.place = match.end()
            else:
                raise RefusedDocument(self.place, "expected a key")
            self.blanks()
            self.count()
        return found

    def blanks(self) -> None:
        """Go on over blanks within a line."""
        while self.text[self.place : self.place + 1] in (" ", "\t"):
            self.place += 1

    def count(self) -> None:
        """Stop where a text holds more keys and values than any recipe."""
        self.left -= 1
        if self.left < 0:
            raise RefusedDocument(self.place, TOO_MANY)

    def walk(self, table: _Table, keys: list[Scalar], chain: list[_Table | _List]) -> _Table:
        """The table that `keys` lead to from `table`, new ones made on the way; all of them are added to `chain`."""
        for number, key in enumerate(keys):
            following = keys[number + 1].start if number + 1 < len(keys) else key.stop
            table = self.enter(table, key, following, chain)
            chain.append(table)
        return table

    def enter(self, table: _Table, key: Scalar, start: int, chain: list[_Table | _List]) -> _Table:
        """The table called `key` in `table`, made at `start` where it is new; of an array of tables the last."""
        known = table.entries.get(key.text)
        if known is None:
            made = _Table(start, self.register(table, key), table.index)
            table.entries[key.text] = (key, made)
            return made
        found = known[1]
        if isinstance(found, _List) and found.items:
            chain.append(found)
            found = found.items[-1]
        if not isinstance(found, _Table):
            raise RefusedDocument(key.start, f"{key.text} is a value, not a table")
        return found

    def append(self, table: _Table, key: Scalar) -> _Table:
        """A new table at the end of the array of tables called `key` in `table`."""
        path = (*table.path, key.text)
        known = table.entries.get(key.text)
        if known is None:
            table.entries[key.text] = known = (key, _List(self.place))
            self.register(table, key)
        found = known[1]
        if not isinstance(found, _List):
            raise RefusedDocument(key.start, f"{key.text} is not an array of tables")
        made = _Table(self.place, (*path, len(found.items)), self.inner)
        found.items.append(made)
        self.chain.append(found)
        return made

    def register(self, table: _Table, key: Scalar) -> KeyPath:
        """The path of `key` in `table`, which keeps its rank in the index from here on."""
        path = (*table.path, key.text)
        if len(path) > DEEPEST_DOCUMENT:
            raise RefusedDocument(key.start, TOO_DEEP)
        table.index.setdefault(path, (key, key))
        return path

    def reach(self, chain: list[_Table | _List]) -> None:
        """Extend all of `chain` to this place."""
        for each in chain:
            each.stop = max(each.stop, self.place)

    def assignment(self, table: _Table, chain: list[_Table | _List]) -> None:
        """Read `key = value` into `table`; `chain` are the tables around it."""
        keys = self.keys()
        around = [*chain]
        table = self.walk(table, keys[:-1], around)
        if not self.text.startswith("=", self.place):
            raise RefusedDocument(self.place, "expected '=' after a key")
        self.place += 1
        self.blanks()
        path = self.register(table, keys[-1])
        table.entries[keys[-1].text] = (keys[-1], self.value(path, table.index))
        self.reach(around)

    def value(self, path: KeyPath, index: Index) -> _Value:
        """The value that starts here and stop behind it; `index` takes the entries of a table."""
        self.count()
        first = self.text[self.place : self.place + 1]
        if first in ("'", '"'):
            return self.string()
        if first in ("[", "{") and len(path) >= DEEPEST_DOCUMENT:
            raise RefusedDocument(self.place, TOO_DEEP)
        if first == "[":
            return self.array(path)
        if first == "{":
            return self.inline(path, index)
        match = _plain().match(self.text, self.place)
        if match is None:
            raise RefusedDocument(self.place, "expected a value")
        start, self.place = self.place, match.end()
        if self.place - start > LONGEST_BARE_VALUE:
            raise RefusedDocument(start, TOO_LONG)
        return Scalar(start, self.place, match.group(), True)

    def string(self) -> Scalar:
        """The string that starts here, its escapes decoded."""
        start = self.place
        self.place, text = string_at(self.text, start)
        self.opaque.append((start, self.place))
        return Scalar(start, self.place, text, False)

    def array(self, path: KeyPath) -> _List:
        """The array that starts here."""
        found = _List(self.place)
        self.place += 1
        while not self.closes("]"):
            found.items.append(self.value((*path, len(found.items)), self.inner))
        found.stop = self.place
        return found

    def inline(self, path: KeyPath, index: Index) -> _Table:
        """The table in braces that starts here."""
        found = _Table(self.place, path, index)
        self.place += 1
        while not self.closes("}"):
            self.assignment(found, [found])
        found.stop = self.place
        return found

    def closes(self, bracket: str) -> bool:
        """Whether `bracket` ends the collection here, else stop at its next member, past the comma before it."""
        self.skip()
        if self.text.startswith(",", self.place):
            self.place += 1
            self.skip()
        closed = self.text.startswith(bracket, self.place)
        self.place += closed
        return closed


def _freeze(value: _Value) -> Node:
    """`value` as it is now, and put the entries of its tables into their index."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, _List):
        return Sequence(value.start, value.stop, tuple([_freeze(item) for item in value.items]))
    entries = []
    for text, (key, inside) in value.entries.items():
        value.index[(*value.path, text)] = entry = (key, _freeze(inside))
        entries.append(entry)
    return Mapping(value.start, value.stop, tuple(entries))


# Blanks and comments matched at once: each repeat of a pattern takes memory until the whole has matched.
_AT_ONCE: Final = 1_000


_gap = lazy_pattern(rf"(?:[ \t\r\n]+|#[^\n]*){{0,{_AT_ONCE}}}")
_bare = lazy_pattern(r"[A-Za-z0-9_-]+")

# Values without quotes: numbers, words, and dates, which may hold one blank.
_plain = lazy_pattern(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9][^\s,\]}#]*|[^\s,\]}#=]+")
