"""Words that are the same wherever and however often they are read, as most are: each is made once for its text."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from pytest_gbs.model.command import Word
from pytest_gbs.shell.limits import DEEPEST

if TYPE_CHECKING:
    from tree_sitter import Node

    from pytest_gbs.shell.machine import Machine

_LONGEST_PLAIN: Final = 1_000


def plain_word(machine: Machine, node: Node) -> Word | None:
    """Return the word that a node is if it is the same wherever and however often it is read; None where it must be read."""
    words, key = machine.text.words, (node.start_byte, node.end_byte)
    if key not in words:
        words[key] = _read_plain(machine, node)
    word = words[key]
    if word is None or machine.depth > DEEPEST:
        return None
    machine.budget.step()
    return word


def _read_plain(machine: Machine, node: Node) -> Word | None:
    text, pattern = machine.text, _PLAIN.get(node.type)
    if pattern is None or node.has_error or node.end_byte - node.start_byte > _LONGEST_PLAIN:
        return None
    start, stop = text.span(node)
    quotes = 0 if pattern is _bare_text else 1
    if pattern().fullmatch(text.string, start + quotes, stop - quotes) is None:
        return None
    return machine.word(text.slice(start + quotes, stop - quotes), text.location(start, stop))


@cache
def _bare_text() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_./:=,+@%-]+")


@cache
def _string_text() -> re.Pattern[str]:
    return re.compile(r"[^\\$`]+")


@cache
def _raw_text() -> re.Pattern[str]:
    return re.compile(r"(?s:.+)")


# The nodes that may be the same at each reading, with the characters that keep them so.
_PLAIN: Final = {
    "word": _bare_text,
    "number": _bare_text,
    "command_name": _bare_text,
    "string": _string_text,
    "raw_string": _raw_text,
}
