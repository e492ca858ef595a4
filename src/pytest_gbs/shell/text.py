"""A shell text whose characters know where they came from, and the syntax tree over it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from pytest_gbs.model.command import Part, Word, span_of_all
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell.limits import Exhausted, ShellBudget

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

Parts: TypeAlias = tuple[Part, ...]

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes

# Stands in a text for what is not known: a character that is part of a word, a name and an expression alike.
HOLE: Final = "_"
_EXPANSIONS: Final = ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion")
_MOST_REPAIRS: Final = 5
_PIECE: Final = 256  # bytes that the parser is given at a time
_ESCAPABLE: Final = '$`"\\\n'


class Clause(NamedTuple):
    """A clause of `case`: its `plain` words, its `patterns`, other patterns that depend on variables, and its statements.

    `price` is what it costs to compare a text with it. `sets` are the variables that its statements set, if they do nothing else.
    """

    plain: set[str]
    patterns: list[str]
    others: list[Node]
    price: int
    body: list[Node]
    sets: frozenset[str] | None


class ShellText:
    """Parts one behind the other, read as one text; an unknown part is one hole in it."""

    __slots__ = ("_bytes", "_written", "clauses", "parts", "starts", "string", "words")

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.words: dict[tuple[int, int], Word | None] = {}  # those that are the same however often they are read, by their bytes
        self.clauses: dict[int, list[Clause]] = {}  # of each `case`, by the byte at which it starts
        self.starts: list[int] = []
        # Of each part that is written as it stands: its file, how far behind its place in this text it is there, and where it stops here.
        self._written: list[tuple[str, int, int] | None] = []
        pieces: list[str] = []
        length = 0
        for part in parts:
            piece = HOLE if part.text is None else part.text
            exact = part.exact and part == Part(part.text, part.at, part.at)
            self._written.append((part.at.source, part.at.start - length, length + len(piece)) if exact else None)
            self.starts.append(length)
            pieces.append(piece)
            length += len(piece)
        self.string = "".join(pieces)
        self._bytes: list[int] | None = None if self.string.isascii() else _byte_offsets(self.string)

    def span(self, node: Node) -> tuple[int, int]:
        """Where `node` starts and stops, in characters of this text."""
        start, stop = node.start_byte, node.end_byte
        if self._bytes is not None:
            start, stop = self.offset(start), self.offset(stop)
        first = self.string[start : start + 1]
        if (first.isspace() or first == "\\") and node.type in _EXPANSIONS:  # the grammar counts blanks and continued lines before them in
            while start < stop and (self.string[start].isspace() or self.string.startswith("\\\n", start)):
                start += 1
        return start, stop

    def offset(self, byte: int) -> int:
        """The character that starts at `byte` of the text in UTF-8."""
        return byte if self._bytes is None else bisect_right(self._bytes, byte) - 1

    def slice(self, start: int, stop: int) -> Parts:
        """The parts between two offsets."""
        at = self.exactly(start, stop)
        if at is not None:
            return (Part(self.string[start:stop], at, at),)
        found: list[Part] = []
        index = max(0, bisect_right(self.starts, start) - 1)
        while index < len(self.parts) and self.starts[index] < stop:
            part, base = self.parts[index], self.starts[index]
            length = 1 if part.text is None else len(part.text)
            if length and base + length > start:
                found.append(part if part.text is None else part.cut(max(0, start - base), min(length, stop - base)))
            index += 1
        return tuple(found)

    def exactly(self, start: int, stop: int) -> Location | None:
        """Where the characters between two offsets are written if they are all from one exact part, as most are."""
        index = bisect_right(self.starts, start) - 1
        written = self._written[index] if index >= 0 else None
        if written is None or start >= stop or stop > written[2]:
            return None
        source, ahead, _ = written
        return _new(Location, (source, start + ahead, stop + ahead, None))  # type: ignore[no-any-return]

    def hidden(self, start: int, stop: int) -> bool:
        """Whether there is a hole between two offsets."""
        return (
            HOLE in self.string[start:stop]
            and self.exactly(start, stop) is None
            and any(part.text is None for part in self.slice(start, stop))
        )

    def location(self, start: int, stop: int) -> Location:
        """Where the characters between two offsets are written."""
        within = self.exactly(start, stop)
        if within is not None:
            return within
        place = span_of_all([part.use for part in self.slice(start, stop)])
        if place is not None:
            return place
        before = self.slice(max(0, start - 1), start)
        end = before[-1].use if before else self.parts[0].use if self.parts else Location("")
        return Location(end.source, end.stop, end.stop) if before else Location(end.source, end.start, end.start)

    def literal(self, start: int, stop: int, quoted: bool) -> Parts:
        """The parts between two offsets with their backslashes obeyed, as between double quotes or outside of quotes."""
        if "\\" not in self.string[start:stop]:
            return self.slice(start, stop)
        found: list[Part] = []
        place = start
        while place < stop:
            mark = self.string.find("\\", place, stop)
            if mark < 0 or mark + 1 >= stop:
                break
            following = self.string[mark + 1]
            if following == "\n":
                found += self.slice(place, mark)
                place = mark + 2
            elif quoted and following not in _ESCAPABLE:
                found += self.slice(place, mark + 2)
                place = mark + 2
            else:
                found += [*self.slice(place, mark), *self.slice(mark + 1, mark + 2)]
                place = mark + 2
        return (*found, *self.slice(place, stop))


def _byte_offsets(text: str) -> list[int]:
    """The offset in UTF-8 at which each character of `text` starts, and its end."""
    offsets, total = [], 0
    for character in text:
        offsets.append(total)
        code = ord(character)
        total += 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4
    return [*offsets, total]


def whole(path: str, text: str, start: int = 0, stop: int | None = None) -> Part:
    """A part that is the text of a file between two offsets."""
    at = Location(path, start, len(text) if stop is None else stop)
    return Part(text[at.start : at.stop], at, at)


def replaced(found: Parts, pattern: re.Pattern[str], by: Callable[[Part, re.Match[str]], Parts | None]) -> Parts:
    """`found` with what `by` gives for each match of `pattern` in a part in its place; None leaves it as it is."""
    made: list[Part] = []
    for part in found:
        place = 0
        for match in pattern.finditer(part.text or ""):
            instead = by(part, match)
            if instead is not None:
                made += (part.cut(place, match.start()), *instead)
                place = match.end()
        made.append(part.cut(place, len(part.text or "")))
    return tuple(part for part in made if part.text != "")


@cache
def _parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: ShellText, budget: ShellBudget) -> Node:
    """The root of the syntax tree of `text`, which may have error nodes anywhere.

    Raises: Exhausted: it is too large, or so broken that the parser seeks the end of it again and again.
    """
    budget.parse(text.string)
    source = bytearray(_in_utf_8(_inline_comment().sub(lambda found: " " * len(_in_utf_8(found.group())), text.string)))
    root = _tree(bytes(source), budget)
    if _two_assignments().search(text.string) is None:
        return root
    for _ in range(_MOST_REPAIRS):
        places = _swallowed(root, source)
        if not places:
            break
        for place in places:
            source[place] = ord(";")
        budget.parse_again(text.string)
        root = _tree(bytes(source), budget)
    return root


def _tree(source: bytes, budget: ShellBudget) -> Node:
    """The syntax tree of `source`, handed to the parser piece by piece, so that what it looks at is counted.

    Behind an opening bracket that nothing closes its scanner looks ahead to the end at each token: the square of the length.
    """
    if len(source) <= _PIECE:
        return _parser().parse(source).root_node

    def piece(start: int, _point: object) -> bytes:
        stop = start + _PIECE
        while source[stop : stop + 1] and source[stop] & 0xC0 == 0x80:  # behind half a character an end would crash the parser
            stop += 1
        return source[start:stop] if budget.look(min(stop, len(source)) - start) else b""

    root = _parser().parse(piece).root_node
    if budget.looks < 0:
        raise Exhausted("syntax so broken that it takes too long to read")
    return root


def _in_utf_8(text: str) -> bytes:
    """`text` in UTF-8; a byte of the file that was none is a sign of as many bytes as its lone surrogate counts for."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= sign <= "\udfff" else sign for sign in text).encode()


def every_node(root: Node) -> Iterator[Node]:
    """Yield `root` and all nodes in it in the order of the text, without recursion."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        if node.child_count:
            pending.extend(reversed(node.children))


# `#--load x` between backquotes, as people switch off one flag of a command: an empty substitution, which the grammar reads to the
# end of the line.
_inline_comment = lazy_pattern(r"(?<![^ \t\n])`#[^`\n]{0,400}`(?=[ \t\n]|\\\n|$)")

_two_assignments = lazy_pattern(r"(?<!\S)(?=\S*[A-Za-z0-9_\]]\+?=)\S++[ \t]++[A-Za-z_]\w*+(?:\[[^\]\n]{0,80}\])?\+?=")


def _swallowed(root: Node, source: bytearray) -> list[int]:
    """The line breaks that the grammar reads over: behind `A=1 B=2` it takes the next line for the same command."""
    found: list[int] = []
    pending = [root]
    while pending:
        node = pending.pop()
        children = node.children
        pending.extend(child for child in children if child.child_count)
        if node.type != "command" or children[0].type != "variable_assignment":
            continue
        for before, after in pairwise(children):
            gap = bytes(source[before.end_byte : after.start_byte])
            if before.type == "variable_assignment" and b"\n" in gap.replace(b"\\\n", b"  "):
                found.append(before.end_byte + gap.replace(b"\\\n", b"  ").index(b"\n"))
                break
    return found
