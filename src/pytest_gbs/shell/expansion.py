"""A written word and what the shell makes of it: quotes, variables, arithmetic, substitutions, each with its place."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part, Word
from pytest_gbs.model.location import Location
from pytest_gbs.shell.fields import BLANKS, Fields, braces
from pytest_gbs.shell.limits import DEEPEST
from pytest_gbs.shell.plain import plain_word
from pytest_gbs.shell.state import unknown
from pytest_gbs.shell.text import Parts

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.shell.machine import Machine

_EXPANSIONS: Final = ("simple_expansion", "expansion")
_LOOSE: Final = ("concatenation", "command_name")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v"}


def read_fields(machine: Machine, *nodes: Node) -> tuple[Parts, ...]:
    """Return the words that nodes without a blank between them give where words are wanted."""
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=True).read_touching(nodes)
    return fields.finish()


def read_value(machine: Machine, *nodes: Node) -> Parts:
    """Return what nodes give where one value is wanted: behind `=`, in `[[ ]]`, in a heredoc."""
    plain = plain_word(machine, nodes[0]) if len(nodes) == 1 else None
    if plain is not None:
        return machine.bounded(plain.parts)
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=False).read_touching(nodes)
    return machine.bounded(fields.single())


def _flat(node: Node) -> list[Node]:
    """Return the nodes that a word is made of."""
    return [inner for child in node.children for inner in _flat(child)] if node.type in _LOOSE else [node]


def touching(nodes: list[Node]) -> list[list[Node]]:
    """Return nodes in groups between which there are blanks: the grammar takes `$A/$B/c` for two words."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and groups[-1][-1].end_byte == node.start_byte:
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def read_region(machine: Machine, node: Node, start: int, stop: int, *, quoted: bool = False) -> Parts:
    """Return the value of the part of `node` between two offsets."""
    fields = Fields(machine.separators)
    _Reader(machine, fields, split=False).region(node, start, stop, quoted=quoted)
    return machine.bounded(fields.single())


def read_words(machine: Machine, *nodes: Node) -> tuple[Word, ...]:
    """Return the words that nodes without a blank between them give; one that is not split has the place of the nodes."""
    plain = plain_word(machine, nodes[0]) if len(nodes) == 1 else None
    if plain is not None:
        return (plain,)
    found = read_fields(machine, *nodes)
    at = machine.text.location(machine.text.span(nodes[0])[0], machine.text.span(nodes[-1])[1])
    if len(found) == 1:
        return (machine.word(found[0], at),)
    return tuple(machine.word(parts, None, at) for parts in found)


class _Reader:
    """A word at work."""

    __slots__ = ("fields", "machine", "split", "vanished")

    def __init__(self, machine: Machine, fields: Fields, *, split: bool) -> None:
        self.machine, self.fields, self.split = machine, fields, split
        self.vanished = False  # `"${A[@]}"` of no items is no word, not an empty one

    def read(self, node: Node, *, quoted: bool) -> None:
        """Read a node of any kind."""
        machine = self.machine
        machine.budget.step()
        start, stop = machine.text.span(node)
        if machine.depth > DEEPEST:
            machine.stop(f"words within more than {DEEPEST} others", machine.text.location(start, stop))
            self.expanded((unknown("nested too deep", machine.text.location(start, stop)),), node, quoted=quoted)
            return
        machine.depth += 1
        try:
            self.kind(node, start, stop, quoted=quoted)
        finally:
            machine.depth -= 1

    def kind(self, node: Node, start: int, stop: int, *, quoted: bool) -> None:
        """Read a node from `start` to `stop` as what it is."""
        machine, kind = self.machine, node.type
        if node.is_error or node.is_missing:
            self.broken(machine.text.location(start, stop))
        elif kind == "raw_string":
            self.fields.add(machine.text.slice(start + 1, stop - 1))
        elif kind == "ansi_c_string":
            self.fields.add(_decoded(machine.text.slice(start + 2, stop - 1), machine.text.location(start, stop)))
        elif kind in ("string", "translated_string"):
            self.string(node, start, stop)
        elif kind in _EXPANSIONS:
            self.parameter(node, quoted=quoted)
        elif kind == "arithmetic_expansion" or (kind == "command_substitution" and _is_arithmetic(machine.text.string[start:stop])):
            self.expanded(machine.reckon_expansion(node), node, quoted=quoted)
        elif kind == "command_substitution":
            self.expanded(machine.printed(node), node, quoted=quoted)
        elif kind == "process_substitution":
            self.fields.add((unknown("<(...)", machine.text.location(start, stop)),))
        else:
            self.region(node, start, stop, quoted=quoted)

    def string(self, node: Node, start: int, stop: int) -> None:
        """Read what stands between double quotes."""
        opening = start + (2 if self.machine.text.string[start] == "$" else 1)
        self.vanished = False
        if node.children[-1].is_missing or len(node.children) < 2:
            self.broken(self.machine.text.location(start, stop))
            return
        self.region(node, opening, stop - 1, quoted=True)
        if self.fields.growing is None and not self.vanished:
            self.fields.add(())

    def broken(self, at: Location) -> None:
        """Read what is no syntax."""
        self.fields.add((unknown("broken syntax", at),))
        if not self.machine.muted:
            self.machine.doubtful.append(at)

    def read_touching(self, nodes: tuple[Node, ...]) -> None:
        """Read nodes that make one word."""
        if len(nodes) == 1:
            self.read(nodes[0], quoted=False)
            return
        inside = [child for node in nodes for child in _flat(node)]
        start, stop = self.machine.text.span(nodes[0])[0], self.machine.text.span(nodes[-1])[1]
        self.among(inside, start, stop, quoted=False)

    def region(self, node: Node, start: int, stop: int, *, quoted: bool) -> None:
        """Read the part of `node` between two offsets."""
        self.among(node.children, start, stop, quoted=quoted)

    def among(self, nodes: list[Node], start: int, stop: int, *, quoted: bool) -> None:
        """Read what is between two offsets: nodes, and as text what stands between them."""
        place = start
        for child in nodes:
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
        match = _missed().search(self.machine.text.string, start, stop + 1)
        if match is not None and match.end() <= stop:
            self.literal(start, match.start(1), quoted=quoted)
            self.missed(match.start(1), stop, quoted=quoted)
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
        choices = braces(parts) if "{" in raw and "\\" not in raw else [parts]
        self.machine.budget.step(len(choices) - 1)
        for number, choice in enumerate(choices):
            if number:
                self.fields.close()
            self.fields.add(choice)

    def missed(self, start: int, stop: int, *, quoted: bool) -> None:
        """Read an expansion that the grammar took for text; what is no plain `$name` is unknown to its end."""
        from pytest_gbs.shell.parameters import look_up

        text = self.machine.text
        name = _plain_name().match(text.string, start, stop)
        if name is None or text.hidden(start, name.end()):
            self.fields.add((unknown(text.string[start:stop][:40], text.location(start, stop), many=not quoted),))
            return
        at = text.location(start, name.end())
        for element in look_up(self.machine, name.group(1), at).elements[:1]:
            self.add_expanded(element, at, quoted=quoted)
        self.literal(name.end(), stop, quoted=quoted)

    def parameter(self, node: Node, *, quoted: bool) -> None:
        """Read `$name` or `${...}`."""
        from pytest_gbs.shell.parameters import expand

        start, stop = self.machine.text.span(node)
        at = self.machine.text.location(start, stop)
        found = expand(self.machine, node, (start, stop), at, quoted=quoted or not self.split)
        self.machine.budget.write(sum(map(len, found.elements)) + len(found.elements))
        self.machine.budget.step(len(found.elements) // 2)
        if found.spread and self.split:
            self.vanished = not found.elements
            if quoted:
                self.fields.add_each(found.elements)
                return
            for number, element in enumerate(found.elements):
                if number:
                    self.fields.close()
                self.fields.add_split(element, at if len(found.elements) == 1 else None)
            return
        if found.spread:
            self.fields.add(_joined(found.elements, at))
            return
        self.add_expanded(found.elements[0] if found.elements else (), at, quoted=quoted)

    def expanded(self, parts: Parts, node: Node, *, quoted: bool) -> None:
        """Add what the expansion `node` gave."""
        self.add_expanded(parts, self.machine.at(node), quoted=quoted)

    def add_expanded(self, parts: Parts, at: Location, *, quoted: bool) -> None:
        """Add what an expansion at `at` gave."""
        length = len(parts)
        for part in parts:
            length += len(part.text or "")
        self.machine.budget.write(length)
        if self.split and not quoted:
            self.fields.add_split(parts, at)
        elif any(blank in part.text for part in parts if part.text for blank in BLANKS):
            self.fields.add(parts)  # several words, perhaps a command: each keeps its place
        else:
            self.fields.add(tuple(part._replace(use=at) for part in parts))


@cache
def _missed() -> re.Pattern[str]:
    return re.compile(r"(?<!\\)(?:\\\\)*(\$(?=[A-Za-z_{(0-9@*#?])|`)")


@cache
def _plain_name() -> re.Pattern[str]:
    return re.compile(r"\$([A-Za-z_]\w*|[0-9])", re.ASCII)


def _is_arithmetic(raw: str) -> bool:
    """Return whether this is `$(( ... ))`, which the grammar takes for a shell in a shell behind `:-`."""
    return raw.startswith("$((") and raw.endswith("))") and ";" not in raw and "|" not in raw


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
