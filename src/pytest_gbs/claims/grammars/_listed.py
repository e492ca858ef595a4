"""A batch behind a list of what it is the product of: `per device batch 4, 8 GPUs, grad accum 2 => 64`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at, settings
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens
from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.quantity import RANKS, Name

_GRAMMAR: Final = "product"
_OPERATORS: Final = ("x", "*", "/", "//", "+")
_GLOBAL_WORDS: Final = words("global effective total gbs")
_shape: Final = Notation(GLOBAL=_GLOBAL_WORDS, LEADING=words("global effective total batch bs size of is = : gbs"))
_RESULT: Final = _shape("-> LEADING* number:COUNTED marked:GLOBAL? [$ | .|,|)|;]")


def listed(passage: Passage) -> Iterator[Declaration]:
    """Yield the batch that follows from a list of settings and hardware in a statement."""
    tokens = passage.tokens
    arrow = next((i for i, token in enumerate(tokens) if token.text == "->"), 0)
    match = _RESULT.at(tokens, arrow) if arrow else None
    if match is None or not _is_list(before := tokens[:arrow]):
        return
    at = match.places["number"]
    number = count_at(tokens, at)
    assert number is not None
    if tokens[arrow - 1].kind == NUMBER and _product(before) != number.value:
        return  # `mbs=2, dp=8, ga=4 -> 8` changes the accumulation
    found = claim(passage, at, Name.GLOBAL_BATCH_SIZE, number, grammar=_GRAMMAR)
    is_global = "marked" in match.places or any(token.text in _GLOBAL_WORDS for token in tokens[arrow:at])
    accumulates = any(size.name == Name.GRADIENT_ACCUMULATION_STEPS for size in settings(before))
    # Without the accumulation it may be the batch of one pass.
    yield found if is_global or accumulates or found.force != Force.STATES else found._replace(force=Force.CONFIRMS)


def _is_list(tokens: Tokens) -> bool:
    """Whether the tokens list a micro batch with the ranks or the accumulation, and work nothing out."""
    machines = hardware(tokens)
    in_hardware = {i for stated in machines for i in range(stated.first, stated.stop)}
    if any(token.text in _OPERATORS for i, token in enumerate(tokens) if i not in in_hardware):
        return False
    listed = {size.name for size in settings(tokens)}
    ranks = any(stated.name in RANKS for stated in machines) or Name.DATA_PARALLEL_SIZE in listed
    return Name.MICRO_BATCH_SIZE in listed and (ranks or Name.GRADIENT_ACCUMULATION_STEPS in listed)


def _product(tokens: Tokens) -> int:
    """What the listed numbers give."""
    return prod(size.value for size in settings(tokens)) * prod(size.value for size in hardware(tokens))
