"""A JSON text as a document of the same nodes as YAML, or why Python's json would not read it."""

from __future__ import annotations

import re
from functools import cache
from json.decoder import JSONDecodeError, JSONDecoder, scanstring  # type: ignore[attr-defined] # typeshed leaves it out
from typing import Final

from pytest_gbs.model.document import Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_NODES
from pytest_gbs.model.location import KeyPath, Source, Unreadable
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.index import Entry, Index, duplicates, follow
from pytest_gbs.readers.refusal import TOO_DEEP, TOO_MANY, RefusedDocument, unreadable

# The tag of a word without quotes (`"train_batch_size": CONFIG_BATCH_SIZE`), which only hjson takes for text.
UNQUOTED: Final = "!unquoted"
# Blanks and comments matched at once: each repeat of a pattern takes memory until the whole has matched.
_AT_ONCE: Final = 1_000
# Characters of numbers that no recipe lists.
_DATA: Final = 5_000


def read_json(source: Source, *, tolerant: bool = False, without: tuple[str, ...] = ()) -> tuple[Document | Unreadable, ...]:
    """The one document of `source`, or where and why Python's json stops.

    Every scalar that is not a string is plain. `tolerant` reads what DeepSpeed's hjson reads: comments (`//`, `#`, `/* */`),
    trailing commas, a line break instead of a comma, keys and words without quotes. Such a word stands for text that a script
    puts there: it has the tag `UNQUOTED`. The values of the keys in `without` are left out, which takes a fraction of the time.
    """
    reader = _Reader(source.text, tolerant, without)
    try:
        root = reader.document()
    except RefusedDocument as refusal:
        return (unreadable(source, refusal.offset, refusal.reason),)
    repeated = reader.written != len(reader.keyed) + len(reader.inner)
    if not repeated:
        return (Document(source, 1, "json", root, reader.keyed, (), ()),)
    keyed = follow(root, reader.written)
    return (Document(source, 1, "json", root, keyed, (), duplicates(source.path, root)),)


class _Reader:
    """A reader and its state: `place` is where the next token starts, the index fills as values are read."""

    def __init__(self, text: str, tolerant: bool, without: tuple[str, ...]) -> None:
        self.text = text
        self.tolerant = tolerant
        self.without = without
        self.gap = _gap(tolerant)
        self.place = 0
        self.left = MOST_NODES
        self.keyed: Index = {}
        self.inner: Index = {}
        self.written = 0

    def document(self) -> Node:
        """The one value of the text."""
        self.skip()
        root = self.value((), self.keyed, 0)
        self.skip()
        if self.place < len(self.text):
            raise RefusedDocument(self.place, "extra data behind the document")
        return root

    def count(self) -> None:
        """Stop where a text holds more keys and values than any recipe."""
        self.left -= 1
        if self.left < 0:
            raise RefusedDocument(self.place, TOO_MANY)

    def skip(self) -> None:
        """Go on to the next token."""
        before = self.place
        while match := self.gap.match(self.text, self.place):
            self.place = match.end()
            if self.place - before < _AT_ONCE:
                return
            before = self.place

    def value(self, path: KeyPath, into: Index, depth: int) -> Node:
        """The value that starts here and stop behind it; `into` takes the entries of an object."""
        self.count()
        start = self.place
        first = self.text[start : start + 1]
        if first == '"':
            return self.string()
        if first in ("{", "["):
            if depth >= DEEPEST_DOCUMENT:
                raise RefusedDocument(start, TOO_DEEP)
            self.place += 1
            self.skip()
            return self.object(start, path, into, depth + 1) if first == "{" else self.array(start, path, depth + 1)
        match = _plain(self.tolerant).match(self.text, start)
        if match is not None:
            self.place = match.end()
            return Scalar(start, self.place, match.group(), True)
        match = _unquoted().match(self.text, start) if self.tolerant else None
        if match is None:
            raise RefusedDocument(start, "expected a value")
        self.place = match.end()
        return Scalar(start, self.place, match.group(), False, UNQUOTED)

    def string(self) -> Scalar:
        """The string that starts here, its escapes decoded by Python's own scanner."""
        start = self.place
        try:
            text, self.place = scanstring(self.text, start + 1, True)
        except JSONDecodeError as error:
            raise RefusedDocument(error.pos, error.msg[:1].lower() + error.msg[1:]) from error
        return Scalar(start, self.place, text, False)

    def object(self, start: int, path: KeyPath, into: Index, depth: int) -> Mapping:
        """The object that was opened at `start`."""
        entries: list[Entry] = []
        begun = False
        while not self.closes("}", begun):
            begun = True
            self.count()
            key = self.key()
            self.skip()
            if self.text[self.place : self.place + 1] != ":":
                raise RefusedDocument(self.place, "expected ':'")
            self.place += 1
            self.skip()
            if key.text in self.without:
                self.leave_out()
                continue
            place = (*path, key.text)
            into[place] = (key, key)  # keeps its rank before the keys within
            into[place] = entry = (key, self.value(place, into, depth))
            entries.append(entry)
        self.written += len(entries)
        return Mapping(start, self.place, tuple(entries))

    def leave_out(self) -> None:
        """Go on behind the value that starts here, whatever it is; Python's own decoder finds its end."""
        try:
            self.place = JSONDecoder().raw_decode(self.text, self.place)[1]
        except JSONDecodeError as error:
            raise RefusedDocument(error.pos, error.msg[:1].lower() + error.msg[1:]) from error
        except (RecursionError, ValueError) as error:
            raise RefusedDocument(self.place, TOO_DEEP) from error

    def key(self) -> Scalar:
        """The property name that starts here."""
        start = self.place
        if self.text[start : start + 1] == '"':
            return self.string()
        match = _name().match(self.text, start) if self.tolerant else None
        if match is None:
            raise RefusedDocument(start, "expected a property name in double quotes")
        self.place = match.end()
        return Scalar(start, self.place, match.group(), False)

    def array(self, start: int, path: KeyPath, depth: int) -> Sequence:
        """The array that was opened at `start`."""
        items: list[Node] = []
        if self.is_data(start):
            return Sequence(start, self.place, ())
        while not self.closes("]", bool(items)):
            items.append(self.value((*path, len(items)), self.inner, depth))
        return Sequence(start, self.place, tuple(items))

    def is_data(self, start: int) -> bool:
        """Go on behind an array of so many numbers that it is data, of which nothing is kept; whether it is one, without a mistake."""
        stop = _numbers().match(self.text, self.place).end()  # type: ignore[union-attr] # it matches anything
        if stop - self.place < _DATA or self.text[stop : stop + 1] != "]":
            return False
        try:
            self.place = JSONDecoder().raw_decode(self.text, start)[1]
        except ValueError:
            return False
        self.left -= self.text.count(",", start, stop)
        self.count()
        return True

    def closes(self, bracket: str, begun: bool) -> bool:
        """Whether `bracket` ends the collection here, else stop at its next member, past the comma before it."""
        before = self.place
        if begun:
            self.skip()
        mark = self.text[self.place : self.place + 1]
        if begun and mark == ",":
            self.place += 1
            self.skip()
            if not self.tolerant or self.text[self.place : self.place + 1] != bracket:
                return False
        elif begun and mark != bracket and not (mark and self.tolerant and "\n" in self.text[before : self.place]):
            raise RefusedDocument(self.place, f"expected ',' or '{bracket}'")
        elif mark != bracket:
            return False
        self.place += 1
        return True


@cache
def _gap(tolerant: bool) -> re.Pattern[str]:
    comment = r"(?://|#)[^\n\r]*|/\*(?s:.*?)\*/"
    return re.compile(rf"(?:[ \t\n\r]+|{comment}){{0,{_AT_ONCE}}}" if tolerant else r"[ \t\n\r]*")


@cache
def _plain(tolerant: bool) -> re.Pattern[str]:
    number = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|-?Infinity|NaN|true|false|null"
    return re.compile(rf"(?:{number})(?![^\s,\]}}#/])" if tolerant else number)


_unquoted = lazy_pattern(r"[^\s,:{}\[\]\"#/](?:[^,{}\[\]\"#\n\r]*[^\s,{}\[\]\"#])?")
_numbers = lazy_pattern(r"[-+.,0-9eE \t\n\r]*")
_name = lazy_pattern(r"[^\s,:{}\[\]\"#/]+")
