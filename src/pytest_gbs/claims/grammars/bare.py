"""A batch size alone behind a batch key: `bs=128`. It may be that of one device, so that it is as weak a witness as a name."""

from __future__ import annotations

import re

from pytest_gbs.claims.grammars._owner import is_batch, is_global_batch
from pytest_gbs.claims.grammars.words import number
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name

_bare = lazy_pattern(r"[\s#]*(?:bs|bsz|batch[ _-]size)\s?[=:]?\s?(\d[\d,_]{0,9})[\s.]*", re.IGNORECASE | re.ASCII)


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The batch size that is all that a comment behind the batch of a device or the accumulation says."""
    match = _bare().fullmatch(block.text)
    numeral = number(match[1]) if match is not None else None
    if match is None or numeral is None or not numeral.value or _is_another(block, match[0].lower()):
        return ()
    at = block.locate(source, *match.span(1))
    return (Declaration(Name.GLOBAL_BATCH_SIZE, numeral.value, numeral.holds, at, match[0].strip(" #\t."), GRAMMAR.name, weak=True),)


def _is_another(block: CommentBlock, text: str) -> bool:
    """Whether the key has another batch than that of training on a device, or there is none and a batch size in words may be anyone's."""
    if block.owner is None:
        return "batch" in text
    return block.placement != "trailing" or not is_batch(block.owner) or is_global_batch(block.owner)


GRAMMAR = Grammar(
    name="bare",
    summary="a batch size alone behind a batch key",
    examples=("bs=128", "bsz 128"),
    hint=("bs", "batch size", "batch_size", "batch-size"),
    read=read,
)
