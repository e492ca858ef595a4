"""Words: what the nodes of a word give, with the place of every part."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word, plain_word
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.shell import values
from pytest_gbs.shell.fields import BLANKS, Fields, as_pattern, braces
from pytest_gbs.shell.limits import DEEPEST
from pytest_gbs.shell.reading import ScriptReading, Words
from pytest_gbs.shell.state import unknown
from pytest_gbs.shell.text import Parts, ShellText
from pytest_gbs.shell.values import Expanded

if TYPE_CHECKING:
    from tree_sitter import Node

_LONGEST_FIXED: Final = 1_000
_LITERALS: Final = ("raw_string", "ansi_c_string")


class WordReading(ScriptReading):
    """A file of which words are read."""

    @abstractmethod
    def expand(self, node: Node, at: Location, *, quoted: bool) -> Expanded:
        """What `$name` or `${...}` gives, which is at `at`."""

    @abstractmethod
    def look_up(self, name: str, at: Location, subscript: str = "", *, quoted: bool = True) -> Expanded:
        """The value of a variable, an argument, an item or all items of an array."""

    @abstractmethod
    def arithmetic_expansion(self, node: Node) -> Parts:
        """The value of `$(( ... ))`."""

    @abstractmethod
    def substitute(self, node: Node) -> Parts:
        """What `$( ... )` prints."""

    def fields(self, *nodes: Node) -> tuple[Parts, ...]:
        """The words that nodes without a blank between them give."""
        reader = _WordReader(self, split=True)
        reader.read_touching(nodes)
        return reader.fields.finish()

    def value(self, *nodes: Node) -> Parts:
        """What nodes give where one value is wanted: behind `=`, in `[[ ]]`, in a heredoc."""
        fixed = self.fixed_word(nodes[0]) if len(nodes) == 1 else None
        if fixed is not None:
            return self.bounded(fixed.parts)
        reader = _WordReader(self, split=False)
        reader.read_touching(nodes)
        return self.bounded(reader.fields.single())

    def region(self, node: Node, start: int, stop: int, *, quoted: bool = False) -> Parts:
        """The value of the part of `node` between two offsets."""
        reader = _WordReader(self, split=False)
        reader.among(node.children, start, stop, quoted=quoted)
        return self.bounded(reader.fields.single())

    def words(self, *nodes: Node) -> Words:
        """The words that nodes without a blank between them give; one that is not split has the place of the nodes."""
        fixed = self.fixed_word(nodes[0]) if len(nodes) == 1 else None
        if fixed is not None:
            return (fixed,)
        found = self.fields(*nodes)
        if len(found) == 1:
            return (self.word(found[0], self.text.location(self.text.span(nodes[0])[0], self.text.span(nodes[-1])[1])),)
        return tuple(self.word(parts, None) for parts in found)

    def fixed_word(self, node: Node) -> Word | None:
        """The word that a node is, made once, if it is the same however often it is read, as most are; else None."""
        words, key = self.text.words, (node.start_byte, node.end_byte)
        if key not in words:
            words[key] = self.read_fixed(node)
        word = words[key]
        if word is None or self.depth > DEEPEST:
            return None
        self.budget.step()
        return word

    def read_fixed(self, node: Node) -> Word | None:
        """The word that a node is if nothing in it depends on the state of the shell."""
        pattern = _FIXED.get(node.type)
        if pattern is None or node.has_error or node.end_byte - node.start_byte > _LONGEST_FIXED:
            return None
        start, stop = self.text.span(node)
        quotes_ = 1 if node.type in ("string", "raw_string") else 0
        if pattern().fullmatch(self.text.string, start + quotes_, stop - quotes_) is None:
            return None
        place = self.text.exactly(start, stop) if not quotes_ else None
        if place is not None:
            return plain_word(self.text.string[start:stop], place)
        return self.word(self.text.slice(start + quotes_, stop - quotes_), self.text.location(start, stop))

    def heredoc(self, redirect: Node) -> Parts | None:
        """The text of a heredoc, expanded unless its mark is quoted."""
        mark = next((child for child in redirect.children if child.type == "heredoc_start"), None)
        body = next((child for child in redirect.children if child.type == "heredoc_body"), None)
        if mark is None or body is None:
            return None if mark is None else ()
        start, stop = self.text.span(body)
        if any(sign in self.raw(mark) for sign in "'\"\\"):
            return self.text.slice(start, stop)
        return self.region(body, start, stop, quoted=True)


class _WordReader:
    """One word that is being read; with `split`, it may fall apart into several."""

    __slots__ = ("budget", "fields", "reading", "split", "text", "vanished")

    def __init__(self, reading: WordReading, *, split: bool) -> None:
        separators = reading.state.variables.get("IFS")
        known = separators.text if separators else None
        self.reading, self.text, self.budget, self.split = reading, reading.text, reading.budget, split
        self.fields = Fields(BLANKS if known is None else known)
        self.vanished = False  # `"${A[@]}"` of no items gives no word instead of an empty one

    def read_touching(self, nodes: tuple[Node, ...]) -> None:
        """Read nodes that make one word."""
        if len(nodes) == 1:
            self.read(nodes[0], quoted=False)
            return
        inside = [child for node in nodes for child in _flat(node)]
        self.among(inside, self.text.span(nodes[0])[0], self.text.span(nodes[-1])[1], quoted=False)

    def read(self, node: Node, *, quoted: bool) -> None:
        """Read a node of any kind."""
        reading = self.reading
        self.budget.step()
        start, stop = self.text.span(node)
        at = self.text.location(start, stop)
        if reading.depth > DEEPEST:
            reading.stop(f"words nested more than {DEEPEST} deep", at)
            self.add_expanded((unknown("nested too deep", at),), at, quoted=quoted)
            return
        reading.depth += 1
        try:
            self.read_kind(node, start, stop, at, quoted=quoted)
        finally:
            reading.depth -= 1

    def read_kind(self, node: Node, start: int, stop: int, at: Location, *, quoted: bool) -> None:
        """Read a node from `start` to `stop` by its kind."""
        kind = node.type
        if node.is_error or node.is_missing:
            self.broken(at)
        elif kind == "raw_string":
            self.fields.add(self.text.slice(start + 1, stop - 1))
        elif kind == "ansi_c_string":
            self.fields.add((unknown("$'...'", at),))
        elif kind in ("string", "translated_string"):
            self.string(node, start, stop, at)
        elif kind in ("simple_expansion", "expansion"):
            self.parameter(node, at, quoted=quoted)
        elif kind == "arithmetic_expansion" or (kind == "command_substitution" and is_arithmetic(self.text.string[start:stop])):
            self.add_expanded(self.reading.arithmetic_expansion(node), at, quoted=quoted)
        elif kind == "command_substitution":
            self.add_expanded(self.reading.substitute(node), at, quoted=quoted)
        elif kind == "process_substitution":
            self.fields.add((unknown("<(...)", at),))
        else:
            self.among(node.children, start, stop, quoted=quoted)

    def string(self, node: Node, start: int, stop: int, at: Location) -> None:
        """Read a text in double quotes."""
        self.vanished = False
        if node.children[-1].is_missing or len(node.children) < 2:
            self.broken(at)
            return
        self.among(node.children, start + (2 if self.text.string[start] == "$" else 1), stop - 1, quoted=True)
        if self.fields.growing is None and not self.vanished:
            self.fields.add(())

    def broken(self, at: Location) -> None:
        """Read broken syntax."""
        self.fields.add((unknown("broken syntax", at),))

    def among(self, nodes: list[Node], start: int, stop: int, *, quoted: bool) -> None:
        """Read what is between two offsets: nodes, and the text between them."""
        place = start
        for child in nodes:
            if not child.is_error and child.child_count == 0 and child.type not in _LITERALS:
                continue
            first, last = self.text.span(child)
            if last <= start or first >= stop or (quoted and child.type in _LITERALS):
                continue
            if first < start or last > stop:  # only a part of the child is between the offsets
                self.among(child.children, max(start, first), min(stop, last), quoted=quoted)
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
        text = self.text
        match = _overlooked().search(text.string, start, stop + 1)
        if match is not None and match.end() <= stop:
            self.literal(start, match.start(1), quoted=quoted)
            self.overlooked(match.start(1), stop, quoted=quoted)
            return
        parts = text.literal(start, stop, quoted)
        if quoted or not self.split:
            self.fields.add(parts)
            return
        raw = text.string[start:stop]
        if raw[0] == "~" and self.fields.growing is None and (len(raw) == 1 or raw[1] == "/"):
            self.fields.add((unknown("HOME", text.location(start, start + 1)),))
            parts = text.literal(start + 1, stop, quoted)
        if ("*" in raw or "?" in raw) and "\\" not in raw and "=" not in raw:
            self.fields.add(tuple(as_pattern(part) for part in parts))
            return
        choices = braces(parts) if "{" in raw and "\\" not in raw else [parts]
        self.budget.step(len(choices) - 1)
        self.fields.add_each(tuple(choices))

    def overlooked(self, start: int, stop: int, *, quoted: bool) -> None:
        """Read an expansion that the grammar took for text; one other than `$name` is unknown to its end."""
        text = self.text
        name = _plain_name().match(text.string, start, stop)
        if name is None or text.hidden(start, name.end()):
            self.fields.add((unknown(text.string[start:stop][:40], text.location(start, stop), many=not quoted),))
            return
        at = text.location(start, name.end())
        for element in self.reading.look_up(name.group(1), at).elements[:1]:
            self.add_expanded(element, at, quoted=quoted)
        self.literal(name.end(), stop, quoted=quoted)

    def parameter(self, node: Node, at: Location, *, quoted: bool) -> None:
        """Read `$name` or `${...}`."""
        found = self.reading.expand(node, at, quoted=quoted or not self.split)
        self.budget.write(sum(map(len, found.elements)) + len(found.elements))
        self.budget.step(len(found.elements) // 2)
        if not found.spread:
            self.add_expanded(found.elements[0] if found.elements else (), at, quoted=quoted)
        elif not self.split:
            self.fields.add(values.joined(found.elements, at))
        elif quoted:
            self.vanished = not found.elements
            self.fields.add_each(found.elements)
        else:
            self.vanished = not found.elements
            for number, element in enumerate(found.elements):
                if number:
                    self.fields.close()
                self.fields.add_split(element, at if len(found.elements) == 1 else None)

    def add_expanded(self, parts: Parts, at: Location, *, quoted: bool) -> None:
        """Add what an expansion at `at` gave."""
        characters = sum(len(part.text or "") for part in parts)
        if self.split and not quoted:
            self.budget.write(len(parts) + characters)  # each may be a word
            self.fields.add_split(parts, at)
            return
        self.budget.write(len(parts), characters)
        if any(blank in part.text for part in parts if part.text for blank in BLANKS):
            self.fields.add(parts)  # several words, perhaps a command: each keeps its place
        else:
            self.fields.add(tuple(part._replace(use=at) for part in parts))


def touching(nodes: list[Node], text: ShellText) -> list[list[Node]]:
    """Nodes of `text` in groups between which there are blanks: the grammar takes `$A/$B/c` for two words, and `a,\\` and `b` below it."""
    groups: list[list[Node]] = []
    for node in nodes:
        if groups and (groups[-1][-1].end_byte == node.start_byte or _goes_on(groups[-1][-1], node, text)):
            groups[-1].append(node)
        else:
            groups.append([node])
    return groups


def _goes_on(last: Node, node: Node, text: ShellText) -> bool:
    """Whether nothing but a backslash at the end of a line is between two nodes."""
    if node.start_byte - last.end_byte != len(_NEXT_LINE) or node.start_point.column:
        return False
    return text.string[text.span(last)[1] : text.span(node)[0]] == _NEXT_LINE


def is_arithmetic(raw: str) -> bool:
    """Whether this is `$(( ... ))`, which the grammar takes for a shell in a shell behind `:-`."""
    return raw.startswith("$((") and raw.endswith("))") and ";" not in raw and "|" not in raw


def _flat(node: Node) -> list[Node]:
    """The nodes that a word is made of."""
    return [inner for child in node.children for inner in _flat(child)] if node.type in ("concatenation", "command_name") else [node]


_NEXT_LINE: Final = "\\\n"
_overlooked = lazy_pattern(r"(?<!\\)(?:\\\\)*(\$(?=[A-Za-z_{(0-9@*#?])|`)")
_plain_name = lazy_pattern(r"\$([A-Za-z_]\w*|[0-9])", re.ASCII)
_bare_text = lazy_pattern(r"[A-Za-z0-9_./:=,+@%-]+")
_string_text = lazy_pattern(r"[^\\$`]+")
_raw_text = lazy_pattern(r"(?s:.+)")
# The nodes that may be the same at each reading, with the characters that keep them so.
_FIXED: Final = {"word": _bare_text, "number": _bare_text, "command_name": _bare_text, "string": _string_text, "raw_string": _raw_text}
