"""Seeds: the repository's own examples, documents and the recipes in the manual pages of the rules."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Final

from pytest_gbs.rules import manuals

ROOT: Final = Path(__file__).resolve().parent.parent
LONGEST: Final = 4_000  # bytes of a seed


def texts(*suffixes: str) -> Iterator[str]:
    """Yield each file of the examples whose name ends in one of `suffixes`, then those in the manual pages of the rules."""
    for path in sorted((ROOT / "examples").rglob("*")):
        if path.name.endswith(suffixes) and path.is_file():
            yield path.read_text(encoding="utf-8")
    for files in repositories():
        yield from (text for name, text in files if name.endswith(suffixes))


def documents() -> Iterator[str]:
    """Yield the pages of the documentation, in parts that are short enough."""
    for path in sorted((ROOT / "docs").glob("*.md")):
        sections = path.read_text(encoding="utf-8").split("\n## ")
        yield from (section[:LONGEST] for section in sections)


@lru_cache(maxsize=1)
def repositories() -> tuple[tuple[tuple[str, str], ...], ...]:
    """The files of each example of each rule."""
    return tuple(example.files for rule in manuals() for example in (*rule.bad, *rule.good))
