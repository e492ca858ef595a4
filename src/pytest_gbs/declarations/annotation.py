"""Our own exact annotation: `gbs: 128`, `gbs: 128 on 8 nodes x 8 gpus`, `gbs: 4M tokens on 64 gpus`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pytest_gbs.core.declaration import Declaration, Grammar
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._batch import unit_at
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._sizes import count_at
from pytest_gbs.declarations._tokens import tokenise


@cache
def _start() -> re.Pattern[str]:
    return re.compile(r"(?:^|#)[ \t]*gbs:[ \t]*(?=[~\d])([^\n#(;]*)", re.MULTILINE)


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the annotations of `block`; a line that is not wholly one of the forms above is none."""
    return tuple(found for match in _start().finditer(block.text) for found in _annotation(block, source, *match.span(1)))


def _annotation(block: CommentBlock, source: str, start: int, stop: int) -> Iterator[Declaration]:
    tokens = tokenise(block.text, start, stop)
    at = 1 if tokens and tokens[0].text == "~" else 0
    number = count_at(tokens, at)
    if number is None:
        return
    unit, end = unit_at(tokens, at + 1)
    stated = hardware(tokens[end + 1 :]) if end < len(tokens) and tokens[end].text == "on" else ()
    rest = tokens[end + 1 + max(each.stop for each in stated) :] if stated else tokens[end:]
    if any(token.text not in (".", ",") for token in rest):
        return
    name = Name.TOKENS_PER_STEP if unit == "tokens" else Name.GLOBAL_BATCH_SIZE
    places = tuple(block.locate(source, tokens[end + 1 + each.at].start, tokens[end + 1 + each.at].stop) for each in stated)
    where = block.locate(source, tokens[at].start, tokens[at].stop)
    text = "gbs: " + " ".join(block.text[start:stop].split())
    conditions = tuple((each.name, each.value) for each in stated)
    yield Declaration(name, number.value, number.holds, where, text, GRAMMAR.name, unit, "states", conditions, places, exact=True)


GRAMMAR = Grammar(
    name="annotation",
    summary="the exact annotation that replaces prose",
    examples=("gbs: 128", "gbs: 128 on 8 nodes x 8 gpus", "gbs: 128 on 64 gpus", "gbs: 4M tokens on 8 nodes"),
    hint=("gbs:",),
    read=read,
)
