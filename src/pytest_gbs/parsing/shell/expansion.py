"""A written word and what the shell makes of it: quotes, variables, arithmetic, substitutions, each with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pytest_gbs.core.command import Part, Word
from pytest_gbs.core.location import Location
from pytest_gbs.parsing.shell.fields import BLANKS, Fields, braces
from pytest_gbs.parsing.shell.limits import DEEPEST
from pytest_gbs.parsing.shell.state import unknown
from pytest_gbs.parsing.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.parsing.shell.machine import Machine

_EXPANSIONS: Final = ("simple_expansion", "expansion")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def read_fields(machine: Machine, node: Node) -> tuple[Parts, ...]:
    """Return the words that `node` gives where words are wanted."""
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=True).read(node, quoted=False)
    return fields.finish()


def read_value(machine: Machine, node: Node) -> Parts:
    """Return what `node` gives where one value is wanted: behind `=`, in `[[ ]]`, in a heredoc."""
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=False).read(node, quoted=False)
    return machine.bounded(fields.single())


def read_region(machine: Machine, node: Node, start: int, stop: int, *, quoted: bool = False) -> Parts:
    """Return the value of the part of `node` between two offsets."""
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=False).region(node, start, stop, quoted=quoted)
    return machine.bounded(fields.single())


def read_words(machine: Machine, node: Node) -> tuple[Word, ...]:
    """Return the words that `node` gives; one that is not split has the place of the node."""
    found = read_fields(machine, node)
    start, stop = machine.text.span(node)
    at = machine.text.location(start, stop)
    if len(found) == 1:
        return (machine.word(found[0], at),)
    return tuple(machine.word(parts, None, at) for parts in found)


class _Reader:
    """A word at work."""

    __slots__ = ("fields", "machine", "split")

    def __init__(self, machine: Machine, fields: Fields, *, split: bool) -> None:
        self.machine, self.fields, self.split = machine, fields, split

    def read(self, node: Node, *, quoted: bool) -> None:
        """Read a node of any kind."""
        machine, kind = self.machine, node.type
        machine.budget.step()
        start, stop = machine.text.span(node)
        if machine.depth > DEEPEST:
            self.expanded((unknown("nested too deep", machine.text.location(start, stop)),), node, quoted=quoted)
            return
        machine.depth += 1
        if node.is_error or node.is_missing:
            self.fields.add((unknown("broken syntax", machine.text.location(start, stop)),))
        elif kind == "raw_string":
            self.fields.add(machine.text.slice(start + 1, stop - 1))
        elif kind == "ansi_c_string":
            self.fields.add(_decoded(machine.text.slice(start + 2, stop - 1), machine.text.location(start, stop)))
        elif kind in ("string", "translated_string"):
            self.string(node, start, stop)
        elif kind in _EXPANSIONS:
            self.parameter(node, quoted=quoted)
        elif kind == "arithmetic_expansion":
            self.expanded(machine.reckon_expansion(node), node, quoted=quoted)
        elif kind == "command_substitution":
            self.expanded(machine.printed(node), node, quoted=quoted)
        elif kind == "process_substitution":
            self.fields.add((unknown("<(...)", machine.text.location(start, stop)),))
        else:
            self.region(node, start, stop, quoted=quoted)
        machine.depth -= 1

    def string(self, node: Node, start: int, stop: int) -> None:
        """Read what stands between double quotes."""
        self.fields.add(())
        opening = start + (2 if self.machine.text.string[start] == "$" else 1)
        self.region(node, opening, stop - 1, quoted=True)

    def region(self, node: Node, start: int, stop: int, *, quoted: bool) -> None:
        """Read the part of `node` between two offsets: its children, and as text what stands between them."""
        place = start
        for child in node.children:
            if not child.is_error and child.child_count == 0 and child.type not in ("raw_string", "ansi_c_string"):
                continue
            first, last = self.machine.text.span(child)
            if last <= start or first >= stop or (quoted and child.type in ("raw_string", "ansi_c_string")):
                continue
            if first < start or last > stop:  # the child is not of this region alone
                self.region(child, max(start, first), min(stop, last), quoted=quoted)
                place = min(stop, last)
                continue
            self.literal(place, first, quoted=quoted)
            self.read(child, quoted=quoted)
            place = last
        self.literal(place, stop, quoted=quoted)

    def literal(self, start: int, stop: int, *, quoted: bool) -> None:
        """Read text as it is written."""
        if stop <= start:
            return
        parts = self.machine.text.literal(start, stop, quoted)
        if quoted or not self.split:
            self.fields.add(parts)
            return
        raw = self.machine.text.string[start:stop]
        if raw[0] == "~" and self.fields.growing is None and (len(raw) == 1 or raw[1] == "/"):
            self.fields.add((unknown("HOME", self.machine.text.location(start, start + 1)),))
            parts = self.machine.text.literal(start + 1, stop, quoted)
        if ("*" in raw or "?" in raw) and "\\" not in raw and "=" not in raw:
            self.fields.add(tuple(_glob(part) for part in parts))
            return
        for number, choice in enumerate(braces(parts) if "{" in raw and "\\" not in raw else [parts]):
            if number:
                self.fields.close()
            self.fields.add(choice)

    def parameter(self, node: Node, *, quoted: bool) -> None:
        """Read `$name` or `${...}`."""
        from pytest_gbs.parsing.shell.parameters import expand

        start, stop = self.machine.text.span(node)
        at = self.machine.text.location(start, stop)
        found = expand(self.machine, node, quoted=quoted or not self.split)
        if found.spread and self.split:
            if quoted:
                self.fields.add_each(found.elements)
                return
            for number, element in enumerate(found.elements):
                if number:
                    self.fields.close()
                self.fields.add_split(element, at)
            return
        if found.spread:
            self.fields.add(_joined(found.elements, at))
            return
        self.expanded(found.elements[0] if found.elements else (), node, quoted=quoted)

    def expanded(self, parts: Parts, node: Node, *, quoted: bool) -> None:
        """Add what an expansion gave."""
        start, stop = self.machine.text.span(node)
        at = self.machine.text.location(start, stop)
        self.machine.budget.write(sum(len(part.text or "") for part in parts) + len(parts))
        if self.split and not quoted:
            self.fields.add_split(parts, at)
        elif any(character in BLANKS for part in parts for character in part.text or ""):
            self.fields.add(parts)  # several words, perhaps a command: each keeps its place
        else:
            self.fields.add(tuple(part._replace(use=at) for part in parts))


def _glob(part: Part) -> Part:
    """Return a literal with a pattern of file names as what it is: nobody knows which files there are."""
    if part.text is None:
        return part
    return Part(None, part.at, part.use, part.text, many=True, pattern=part.text)


def _joined(elements: tuple[Parts, ...], at: Location) -> Parts:
    """Return elements as one value, blanks between them."""
    found: list[Part] = []
    for number, element in enumerate(elements):
        if number:
            found.append(Part(" ", at, at))
        found += element
    return tuple(found)


def _decoded(parts: Parts, at: Location) -> Parts:
    r"""Return the text of `$'...'`; unknown where it has an escape other than the simple ones."""
    found: list[str] = []
    for part in parts:
        if part.text is None:
            return parts
        pieces = part.text.split("\\")
        if len(pieces) == 1:
            found.append(part.text)
            continue
        found.append(pieces[0])
        for piece in pieces[1:]:
            if piece[:1] not in _ESCAPES and piece[:1] not in ("'", '"', "?"):
                return (unknown("$'...'", at),)
            found.append(_ESCAPES.get(piece[:1], piece[:1]) + piece[1:])
    return (Part("".join(found), at, at),)
