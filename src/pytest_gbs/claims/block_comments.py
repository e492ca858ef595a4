"""Comments in the code blocks of a document, each with the commands that it is about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.blocks import Block

Commented: TypeAlias = tuple[list[tuple[int, str]], int, int]


def comments_in_blocks(text: str, blocks: Iterable[Block]) -> Iterator[Commented]:
    """Yield the comments above commands, which are about those up to the next comment, and those behind a command.

    Each as its lines with their places, and the start and the end of the commands.
    """
    for block in blocks:
        if block.lines and text.find("#", block.lines[0][0], block.lines[-1][1]) >= 0:
            yield from _above(text, block)
            yield from _behind(text, block)


def _above(text: str, block: Block) -> Iterator[Commented]:
    lines: list[tuple[int, str]] = []
    first = -1  # where the commands below these lines begin
    end = block.lines[-1][1]
    for start, stop in (*block.lines, (end, end)):
        comment = _comment().match(text, start, stop)
        if first >= 0 and (comment or start == stop):
            yield from [(lines, first, start)] if lines else ()
            lines, first = [], -1
        if comment:
            lines.append((comment.start(1), comment[1].rstrip()))
        elif first < 0 and text[start:stop].strip():
            first = start


def _behind(text: str, block: Block) -> Iterator[Commented]:
    first, goes_on = 0, False
    for start, stop in block.lines:
        first = first if goes_on else start
        comment = _trailing().match(text, start, stop)
        goes_on = comment is None and text[start:stop].rstrip().endswith("\\")
        if comment:
            yield [(comment.start(1), comment[1].rstrip())], first, stop


_comment = lazy_pattern(r"[ \t]*#[# \t]*([^\n]*)")
# Without quotes before it, in which the sign may stand for itself.
_trailing = lazy_pattern(r"[ \t]*[^\s'\"#][^\n'\"#]*[ \t]#[# \t]*([^\n]*)")
