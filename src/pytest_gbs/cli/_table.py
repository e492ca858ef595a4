"""Tables of our own words, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_gbs.cli._output import terminal_columns
from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._width import left, width


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]], format_name: str) -> str:
    """The table as aligned text or as Markdown, with a line break at the end."""
    if format_name == "markdown":
        return table(head, [[cell(text) for text in row] for row in rows]) + "\n"
    return "\n".join(text_lines(head, rows, terminal_columns())) + "\n"


def text_lines(head: Sequence[str], rows: Sequence[Sequence[str]], columns: int) -> Iterator[str]:
    """Yield the lines of a table; if all but the last column exceed `columns` (0: no limit), a block for each row."""
    widths = [max(width(row[index]) for row in (head, *rows)) for index in range(len(head))]
    if columns and sum(widths[:-1]) + 2 * len(widths) > columns:
        yield from _blocks(head, rows)
        return
    for row in (head, *rows):
        yield "  ".join(left(text, size) for text, size in zip(row, widths, strict=True)).rstrip()


def _blocks(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each row as a block: its first cell, and below it each other cell behind its heading."""
    most = max(map(width, head))
    for first, *others in rows:
        yield first
        for name, text in zip(head[1:], others, strict=True):
            if text:
                yield f"  {left(name, most)}  {text}"
