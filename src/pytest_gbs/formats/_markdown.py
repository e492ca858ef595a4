"""Tables of Markdown that no cell can break out of."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_gbs.formats._escape import escape
from pytest_gbs.model.pattern import lazy_pattern

# Behind these GitHub sees a mention, an issue or an address, whether they are escaped or not: an empty comment keeps the words apart.
_linking = lazy_pattern(r"@(?=\S)|#(?=\d)|:(?=//)|(?i:www)(?=\.)")


def cell(text: str) -> str:
    """Text for a table: nothing in it is markup, a link, a mention or the end of the cell."""
    safe = re.sub(r"([\\`*_{}\[\]|~#!])", r"\\\1", escape(text))
    safe = safe.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _linking().sub(r"\g<0><!-- -->", safe)


def table(head: Iterable[str], rows: Iterable[Iterable[str]], right: int = 0) -> str:
    """A table of cells that are safe already; the first `right` columns hold numbers."""
    names = list(head)
    rule = ["---:" if index < right else "---" for index in range(len(names))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rule, *rows))
