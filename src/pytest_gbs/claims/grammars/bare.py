"""A batch size alone behind a batch key: `bs=128`, `bs=128 on 8 gpus`, `512 effective`, `16 if 16 gpus`.

A plain batch size may be that of one device, so that it is as weak a witness as a name; an effective or global one is firm. A number
for some hardware may be what to set there, so that it counts only where it is the batch.
"""

from __future__ import annotations

import re

from pytest_gbs.claims.grammars._owner import is_batch, is_global_batch
from pytest_gbs.claims.grammars.words import number
from pytest_gbs.model.declaration import Declaration, Force, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_NUMBER: Final = r"\d[\d,_]{0,9}"
_DEVICES: Final = r"(?:\d{1,5}|one|a single|single)\s?x?\s?(?:gpus?|nodes?|[abh]\d00s?)"
_HARDWARE: Final = rf"(?P<on>\s?\(?(?:on|with|w/|across|over|for|@)?\s?{_DEVICES}\)?)"
_bare = lazy_pattern(
    rf"[\s#]*(?:(?:bs|bsz|batch[ _-]size)\s?[=:]?\s?(?P<batch>{_NUMBER})(?!\d)|(?P<front>{_NUMBER})\s(?:bs|bsz|batch[ _-]size)(?=\s\S))"
    rf"{_HARDWARE}?[\s.]*",
    re.IGNORECASE | re.ASCII,
)
_whole = lazy_pattern(
    rf"[\s#]*(?:[=-]>|=|so)?\s?(?:(?P<word>effective|global|overall|total)(?:ly)?\s?[=:]?\s?(?P<batch>{_NUMBER})"
    rf"|(?P<front>{_NUMBER})\s(?P<behind>effective|global|overall|total)(?:ly)?)[\s.]*",
    re.IGNORECASE | re.ASCII,
)

# What a comment of these shapes starts with, if not with a number: a word or a sign.
_FIRST: Final = frozenset("begots=-")
_if = lazy_pattern(rf"[\s#]*(?:[=-]>)?\s?({_NUMBER})\s(?:if|with|on|for)\s({_NUMBER})\sgpus?[\s.]*")


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The batch size that is all that a comment says, behind the batch of a device or the accumulation or with its hardware."""
    first = next((sign for sign in block.text if sign != "#" and not sign.isspace()), "")
    if not first.isdigit() and first.lower() not in _FIRST:
        return ()
    match = _bare().fullmatch(block.text)
    if match is not None:
        return _stated(block, source, match, weak=True) if _may_be_global(block, match) else ()
    if block.owner is not None and not _is_factor(block):
        return ()
    match = _if().fullmatch(block.text.lower())
    if match is not None:
        return _on_hardware(block, source, match)
    match = _whole().fullmatch(block.text) if block.owner is not None else None
    return () if match is None else _stated(block, source, match, weak=(match["word"] or match["behind"]).lower() == "total")


def _stated(block: CommentBlock, source: str, match: re.Match[str], *, weak: bool) -> tuple[Declaration, ...]:
    group = "batch" if match["batch"] else "front"
    numeral = number(match[group])
    if numeral is None or not numeral.value:
        return ()
    at = block.locate(source, *match.span(group))
    return (Declaration(Name.GLOBAL_BATCH_SIZE, numeral.value, numeral.holds, at, match[0].strip(" #\t."), GRAMMAR.name, weak=weak),)


def _on_hardware(block: CommentBlock, source: str, match: re.Match[str]) -> tuple[Declaration, ...]:
    batch, gpus = number(match[1]), number(match[2])
    if batch is None or gpus is None or not batch.value or not gpus.value:
        return ()
    at, where = (block.locate(source, *match.span(group)) for group in (1, 2))
    found = Declaration(Name.GLOBAL_BATCH_SIZE, batch.value, batch.holds, at, match[0].strip(" #.\t"), GRAMMAR.name, force=Force.CONFIRMS)
    return (found._replace(conditions=((Name.WORLD_SIZE, gpus.value),), condition_places=(where,)),)


def _may_be_global(block: CommentBlock, match: re.Match[str]) -> bool:
    """Whether a plain batch size may be the global one: beside a factor of it or beside no key; in words only with hardware."""
    if block.owner is None:
        return match["on"] is not None or "batch" not in match[0].lower()
    return _is_factor(block, anywhere=match["on"] is not None)


def _is_factor(block: CommentBlock, *, anywhere: bool = False) -> bool:
    """Whether the comment is behind (or `anywhere` beside) a batch of training on a device, or the accumulation."""
    return (anywhere or block.placement == "trailing") and is_batch(block.owner) and not is_global_batch(block.owner)


GRAMMAR = Grammar(
    name="bare",
    summary="a batch size alone behind a batch key",
    examples=("bs=128", "bsz 128", "bs=128 on 8 gpus", "16 if 16 gpus"),
    hint=("bs", "batch size", "batch_size", "batch-size", "effective", "global", "overall", "total", "gpu"),
    read=read,
)
