"""Silencing findings: `# gbs: ignore[GBS101] reason` on a line, `# gbs: file-ignore[...]`, and per-file ignores of the settings."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Final

from pytest_gbs.core.document import Document
from pytest_gbs.core.globs import matches
from pytest_gbs.core.location import Lines, Location, Source
from pytest_gbs.core.outcome import Edit, Finding
from pytest_gbs.core.preferences import Settings
from pytest_gbs.core.suppression import Suppression

_SIGN: Final = "gbs:"
# The reason ends where another comment starts within the comment: `# gbs: ignore[GBS101] why  # noqa`.
_ANNOTATION: Final = r"(?:#[ \t]*)?(?<![\w-])gbs:[ \t]*(?P<file>file-)?ignore(?![\w-])[ \t]*(?P<codes>\[[^\]\n]*\])?(?P<reason>(?:(?!\s#)[^\n\r])*)"
_PREFIX: Final = r"[A-Za-z]+[0-9]+"


def read_suppressions(document: Document, rules: Mapping[str, str] | None = None) -> tuple[Suppression, ...]:
    """Return the suppressions in the comments of `document`; `rules` are the names of all rules by code."""
    if _SIGN not in document.source.text:
        return ()
    lines = Lines(document.source.text)
    codes_by_name = {name: code for code, name in (rules or {}).items()}
    blocks = (block for block in document.comments if _SIGN in block.text)
    return tuple(
        _suppression(document.source, lines, block.locate(document.source.path, match.start(), match.end()), match, codes_by_name)
        for block in blocks
        for match in _pattern(_ANNOTATION).finditer(block.text)
    )


@cache
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)
