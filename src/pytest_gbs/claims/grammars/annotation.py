"""Our own exact annotation: `gbs: 128`, `gbs: 128 on 8 nodes x 8 gpus`, `gbs: 4M tokens on 64 gpus`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_gbs.claims.grammars._batch import unit_at
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._tokens import text_at, tokenise
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.limits import LONGEST_COMMENT
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name

_start = lazy_pattern(r"(?:^|#)[ \t]*gbs:[ \t]*(?=[~\d])([^\n#(;]*)", re.MULTILINE)


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The annotations of `block`; a line that is not wholly one of the forms above is none."""
    matches = _start().finditer(block.text, 0, LONGEST_COMMENT)
    return tuple(found for match in matches for found in _annotation(block, source, *match.span(1)))


def _annotation(block: CommentBlock, source: str, start: int, stop: int) -> Iterator[Declaration]:
    tokens = tokenise(block.text, start, stop)
    at = 1 if text_at(tokens, 0) == "~" else 0
    number = count_at(tokens, at)
    if number is None:
        return
    unit, end = unit_at(tokens, at + 1)
    behind = end + 1
    stated = hardware(tokens[behind:]) if text_at(tokens, end) == "on" else ()
    rest = tokens[behind + max(each.stop for each in stated) :] if stated else tokens[end:]
    if any(token.text not in (".", ",") for token in rest):
        return
    read_at = [tokens[behind + each.at] for each in stated]
    yield Declaration(
        Name.TOKENS_PER_STEP if unit == "tokens" else Name.GLOBAL_BATCH_SIZE,
        number.value,
        number.holds,
        block.locate(source, tokens[at].start, tokens[at].stop),
        f"gbs: {' '.join(block.text[start:stop].split())}",
        GRAMMAR.name,
        unit,
        conditions=tuple((each.name, each.value) for each in stated),
        condition_places=tuple(block.locate(source, token.start, token.stop) for token in read_at),
        exact=True,
    )


GRAMMAR = Grammar(
    name="annotation",
    summary="the exact annotation that replaces prose",
    examples=("gbs: 128", "gbs: 128 on 8 nodes x 8 gpus", "gbs: 128 on 64 gpus", "gbs: 4M tokens on 8 nodes"),
    hint=("gbs:",),
    read=read,
)
