"""Tables of our own words, for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.formats._markdown import cell, table
from pytest_gbs.formats._width import left, width


def write_table(head: Sequence[str], rows: Sequence[Sequence[str]], format_name: str) -> str:
    """The table as aligned text or as Markdown, with a line break at the end."""
    if format_name == "markdown":
        return table(head, [[cell(text) for text in row] for row in rows]) + "\n"
    widths = [max(width(row[index]) for row in (head, *rows)) for index in range(len(head))]
    lines = ("  ".join(left(text, columns) for text, columns in zip(row, widths, strict=True)).rstrip() for row in (head, *rows))
    return "\n".join(lines) + "\n"
