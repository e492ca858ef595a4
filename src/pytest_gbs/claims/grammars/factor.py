"""A factor of the batch that is all that a line says: `batch size per GPU: 4`, `gradient accumulation steps: 2`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._sizes import size_called
from pytest_gbs.model.declaration import Declaration, Grammar, Interval
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.limits import LONGEST_COMMENT, MOST_DIGITS
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import RANK_FACTORS
from pytest_gbs.model.record import Final

# A name of several words: a setting that is commented out has one.
_line = lazy_pattern(
    r"(?m)^[ \t#]*(?:[-*•][ \t]+)?([A-Za-z]{1,20}(?:[ -][A-Za-z]{1,20}){0,3} [A-Za-z]{1,20})[ \t]?[:=][ \t]*(\d{1,6})[ \t.,;]*$"
)
_LABELS: Final = ("per gpu", "per device", "per-gpu", "per-device", "per rank", "micro", "accum")


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The micro batches and accumulations that lines of `block` state."""
    return tuple(_stated(block, source))


def _stated(block: CommentBlock, source: str) -> Iterator[Declaration]:
    for match in _line().finditer(block.text, 0, LONGEST_COMMENT):
        name = size_called(match[1].lower().replace("-", " "))
        value = whole_number(match[2], MOST_DIGITS) if name in RANK_FACTORS else None
        if name is not None and value:
            shown = " ".join(match[0].split()).strip(" #")
            yield Declaration(name, value, (Interval(value, value),), block.locate(source, *match.span(2)), shown, GRAMMAR.name)


GRAMMAR = Grammar(
    name="factor",
    summary="the micro batch or the accumulation alone on a line",
    examples=("batch size per GPU: 4", "gradient accumulation steps: 2", "micro batch size: 1"),
    hint=_LABELS,
    read=read,
)
