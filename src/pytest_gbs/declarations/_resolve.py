"""What the grammars read in the comments of one file, brought together."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_gbs.core.declaration import Declaration
from pytest_gbs.core.document import CommentBlock


def resolved(found: Sequence[tuple[CommentBlock, tuple[Declaration, ...]]]) -> tuple[Declaration, ...]:
    """Return the declarations of a file in order."""
    return tuple(sorted((d for _, each in found for d in each), key=lambda d: (d.at.start, d.name)))
