"""Text for another shell that ends too early, at a quote inside it that nobody escaped: what its author meant it to be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Part, Word
from pytest_gbs.shell.expansion import read_value
from pytest_gbs.shell.machine import Machine
from pytest_gbs.shell.text import Parts, Text, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_QUOTES: Final = 200


def meant(machine: Machine, words: tuple[Word, ...], parts: Parts) -> Parts | None:
    """Return the text that `parts`, given to a shell as one of `words`, was meant to be; None where its quotes are in order.

    To bash it ends at the next bare quote. Where what it ends up with is no syntax, while all up to the last bare quote of the
    command is, people mean the latter: `bash -c "for i in 1; do echo "hello"; done"`.
    """
    quotes = _bare_quotes(machine, words, parts)
    if len(quotes) < 3 or not parse(Text(parts), machine.budget).has_error:
        return None
    outer, text = machine.text, _mended(machine.text, quotes)
    machine.budget.write(len(text.string))
    node = _only_string(parse(text, machine.budget))
    if node is None:
        return None
    machine.text = text
    try:
        found = read_value(machine, node)
    finally:
        machine.text = outer
    if parse(Text(found), machine.budget).has_error:
        return None
    if not machine.muted:
        machine.doubtful.append(outer.location(quotes[1], quotes[1] + 1))
    return found


def _bare_quotes(machine: Machine, words: tuple[Word, ...], parts: Parts) -> list[int]:
    """Return the offsets of the quotes from the one that opens the word of `parts` to the end of the command at hand."""
    given = next((word for word in words[1:] if parts and word.at.start <= parts[0].use.start < word.at.stop), None)
    opening = _opening(machine, given) if given is not None else None
    if opening is None or machine.statement is None:
        return []
    string, place, stop = machine.text.string, opening, machine.text.span(machine.statement)[1]
    found: list[int] = []
    while place < stop and len(found) <= _MOST_QUOTES:
        if string[place] == '"':
            found.append(place)
        elif string[place] == "\\":
            place += 1
        elif string.startswith("$(", place):
            place = _behind_brackets(string, place + 1, stop)
            continue
        place += 1
    return found if len(found) <= _MOST_QUOTES else []


def _behind_brackets(string: str, place: int, stop: int) -> int:
    """Return the offset behind the bracket that closes the one at `place`; quotes in between are those of another command."""
    depth = 0
    while place < stop:
        depth += (string[place] == "(") - (string[place] == ")")
        place += 1
        if not depth:
            break
    return place


def _opening(machine: Machine, word: Word) -> int | None:
    """Return the offset at which the first text in double quotes of `word` starts."""
    for child in machine.statement.children if machine.statement is not None else ():
        if machine.at(child).start == word.at.start:
            inside = next((node for node in (child, *child.children) if node.type == "string"), None)
            return machine.text.span(inside)[0] if inside is not None else None
    return None


def _mended(text: Text, quotes: list[int]) -> Text:
    """Return the text from the first to the last of `quotes`, those between them escaped."""
    found: list[Part] = []
    for first, second in pairwise(quotes):
        at = text.location(second, second + 1)
        found += [*text.slice(first + (first != quotes[0]), second), Part('"' if second == quotes[-1] else '\\"', at, at)]
    return Text(tuple(found))


def _only_string(root: Node) -> Node | None:
    """Return the text in double quotes that is all there is."""
    node = root
    while node.type in ("program", "command", "command_name") and node.child_count == 1:
        node = node.children[0]
    return node if node.type == "string" and not root.has_error else None
