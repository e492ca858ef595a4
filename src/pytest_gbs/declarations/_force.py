"""How firmly a statement states what it states, by the words around it."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from pytest_gbs.core.declaration import Force
from pytest_gbs.declarations._statements import Statement

# Words in front of the number that take it back or put it off.
_OTHER_BEFORE: Final = r"\bnot\b|n't\b|\bnever\b|\binstead\b|\brather\b|\bthan\b|\bunlike\b|\bwithout\b|\bvs\b|\bversus\b|\bcompared\b|\bno longer\b"
_ADVISES_BEFORE: Final = (
    r"\bmay\b|\bmight\b|\bcan\b|\bcould\b|\bwould\b|\bup to\b|\bmax(?:imum)?\b|\bmin(?:imum)?\b|\be\.g|\bfor example\b|\btry\b|\btodo\b|\bfixme\b|"
    r"\bkeep\b(?<!to keep)|\b(?:increase|decrease|reduce|adjust|change|raise|double|halve|override|feel free)\b|\bset (?:it |this )?to\b|"
    r"\bmust\b|\bneeds? to\b|\bdivisible\b|\blimit|\bprefer|\bwant\b|>=|<=|≥|≤|(?<![-=])[<>]\s*$"
)
_ADVISES: Final = r"best results|recommend|suggest|\bat least\b|\bat most\b|\bminimum\b|\bideal|(?:lower|upper) bound|\?\s*$|depending|\bestimate|\bsuitable\b"
_HISTORY: Final = r"\bpaper\b|\boriginal|\bpreviously\b|\bformerly\b|\bused to be\b|\b(?:was|were|been) (?:\w+ )?trained\b|\bwas \d|\bin the report\b"
_OTHER: Final = r"\.ya?ml\b|\bother (?:recipe|config)|\bsibling\b"
_IF: Final = r"\bif\b|\bwhen\b|\bunless\b"

_HARDWARE_HISTORY: Final = r"\b(?:trained|tested|measured|profiled?|benchmarked|timed|took|ran)\b"
_HARDWARE_OTHER: Final = (
    r"\boom|out of memory|\bmemory\b|\bpeak\b|\bgib\b|\bvram\b|\bthroughput\b|\btok/s|tokens?/s|(?<!of[- ])\bexperts?\b|\bvllm\b|"
    r"\bsglang\b|\binfer|\bgenerat|\brollout|\bteacher|\bstudent|\bjudge|\breward model|\bgym\b|\breplica|\bdedicat|\breserv|\botherwise\b|\bolder\b|"
    r"\beffect on\b|\bno effect\b|\brunner|\bpytest\b|\bunit test|\bgpu-h|\bhours?\b|\bper epoch|/epoch|\bhrs\b|\bgpu ?memory"
)
_PART: Final = r"\bsplit|\bshard|\bspan|\bfits?\b"
_SPLIT: Final = (
    r"\s*\(?[^()]*?\b(?:train(?:er|ing)?|infer(?:ence)?|vllm|sglang|judge|rollout|generation|teacher|reward|actor|ref)\b[^()]*?\+"
)
_NEAR: Final = 60


@cache
def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def batch_force(statement: Statement, at: int, conditional: bool) -> str:
    """Return the force of a batch size stated at offset `at`; `conditional` where the statement names the hardware it holds for."""
    before = statement.before(at)
    for force, pattern, text in (
        (Force.OTHER, _OTHER, statement.lower),
        (Force.OTHER, _OTHER_BEFORE, before),
        (Force.HISTORY, _HISTORY, statement.lower),
        (Force.ADVISES, _ADVISES, statement.lower),
        (Force.ADVISES, _ADVISES_BEFORE, before),
    ):
        if _words(pattern).search(text):
            return force
    return Force.ADVISES if not conditional and _words(_IF).search(before) else Force.STATES


def hardware_force(statement: Statement, start: int, stop: int) -> str:
    """Return the force of hardware stated from offset `start` to `stop`."""
    before, around = statement.before(start), statement.lower
    for force, pattern, text in (
        (Force.OTHER, _OTHER, around),
        (Force.OTHER, _OTHER_BEFORE, before),
        (Force.OTHER, _HARDWARE_OTHER, _without_brackets(around, start - statement.start)),
        (Force.OTHER, _PART, _without_brackets(before, start - statement.start)),
        (Force.HISTORY, _HISTORY, around),
        (Force.HISTORY, _HARDWARE_HISTORY, before),
        (Force.ADVISES, _ADVISES, around),
        (Force.ADVISES, _ADVISES_BEFORE, before),
        (Force.ADVISES, _IF, before),
    ):
        if _words(pattern).search(text):
            return force
    return Force.OTHER if _words(_SPLIT).match(statement.after(stop)[:_NEAR]) else Force.STATES


def _without_brackets(text: str, at: int) -> str:
    """Return `text` without its bracketed remarks, which speak of details; the one that offset `at` stands in is kept."""
    return _words(r"\([^()]*\)").sub(lambda match: match.group() if match.start() <= at < match.end() else " ", text)
