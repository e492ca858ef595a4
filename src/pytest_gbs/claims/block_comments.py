"""Comments in the code blocks of a document, each with the commands that it is about."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.pointing import Pointed, started_scripts
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.location import Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.shell.blocks import Block, blocks


def comments_in_blocks(source: Source) -> Iterator[tuple[CommentBlock, Pointed]]:
    """Yield the comments above commands, which are about those up to the next comment, and those behind a command."""
    for block in blocks(source.path, source.text) if "#" in source.text else ():
        for lines, start, stop in (*_above(source.text, block), *_behind(source.text, block)):
            pieces, length = [], 0
            for place, body in lines:
                pieces.append((length, place))
                length += len(body) + 1
            text = "\n".join(body for _, body in lines)
            yield CommentBlock(text, tuple(pieces), None, "header"), Pointed(start, stop, started_scripts(source.text, start, stop))


def _above(text: str, block: Block) -> Iterator[tuple[list[tuple[int, str]], int, int]]:
    """Yield the lines of the comments above commands, and the start and the end of the commands."""
    lines: list[tuple[int, str]] = []
    first = -1  # where the commands below these lines begin
    end = block.lines[-1][1] if block.lines else 0
    for start, stop in (*block.lines, (end, end)):
        comment = _comment().match(text, start, stop)
        if first >= 0 and (comment or start == stop):
            yield from [(lines, first, start)] if lines else ()
            lines, first = [], -1
        if comment:
            lines.append((comment.start(1), comment[1]))
        elif first < 0 and text[start:stop].strip():
            first = start


def _behind(text: str, block: Block) -> Iterator[tuple[list[tuple[int, str]], int, int]]:
    """The same of each comment behind a command, which may have several lines."""
    first, goes_on = 0, False
    for start, stop in block.lines:
        first = first if goes_on else start
        goes_on = text[start:stop].rstrip().endswith("\\")
        comment = _trailing().match(text, start, stop)
        if comment:
            yield [(comment.start(1), comment[1])], first, stop


_comment = lazy_pattern(r"[ \t]*#[# \t]*([^\n]*?)[ \t\r]*(?:\n|\Z)")
# Without quotes before it, in which the sign may stand for itself.
_trailing = lazy_pattern(r"[ \t]*[^\s'\"#][^\n'\"#]*[ \t]#[# \t]*([^\n]*?)[ \t\r]*(?:\n|\Z)")
