"""A batch counted in tokens: `~4M tokens per step`, `batch size of 2M tokens`, `~1M tokens` behind the global batch size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.core.declaration import Declaration, Grammar
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._batch import per_device
from pytest_gbs.declarations._candidate import counts
from pytest_gbs.declarations._claim import claim
from pytest_gbs.declarations._owner import is_accumulation, is_global_batch
from pytest_gbs.declarations._statements import statements
from pytest_gbs.declarations._tokens import NUMBER, SIGN, Token
from pytest_gbs.declarations.words import APPROXIMATELY, OTHER_BATCH, STEPS, UNITS, Numeral, number

_PER: Final = ("per", "/", "a", "each")
_STEP_KINDS: Final = ("optimizer", "optim", "optimization", "training", "train", "global", "gradient", "update", "effective")
_LEAST: Final = 1000
_LARGE: Final = {"million": "M", "mio": "M", "billion": "B", "thousand": "k"}


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the tokens per optimizer step that `block` states."""
    found: list[Declaration] = []
    beside_batch = block.placement == "trailing" and (is_global_batch(block.owner) or is_accumulation(block.owner))
    if not _is_candidate(block.text.lower()):
        return ()
    for statement in statements(block.text):
        if not _is_candidate(statement.lower):
            continue
        tokens = statement.tokens
        for at, numeral in _totals(tokens, beside_batch):
            found.append(claim(block, source, statement, at, Name.TOKENS_PER_STEP, numeral, GRAMMAR.name, "tokens"))
    return tuple(found)


def _is_candidate(text: str) -> bool:
    return counts(text, ("tok",)) or "tokens per" in text or "tokens/" in text


def _totals(tokens: Sequence[Token], beside_batch: bool) -> Iterator[tuple[int, Numeral]]:
    """Yield the numbers of tokens per step, each with its token."""
    if any(token.text in OTHER_BATCH for token in tokens):
        return
    for i, token in enumerate(tokens):
        if token.kind != NUMBER:
            continue
        large = _LARGE.get(_text(tokens, i + 1), "")
        unit = i + 1 + bool(large)
        numeral = number(token.text + large, i > 0 and tokens[i - 1].text in APPROXIMATELY)
        if numeral is None or numeral.value < _LEAST or _is_factor(tokens, i):
            continue
        if UNITS.get(_text(tokens, unit)) == "tokens":
            if _per_step(tokens, unit + 1) or _of_batch(tokens, i) or (beside_batch and _stands_alone(tokens, unit + 1)):
                yield i, numeral
        elif _labelled(tokens, i):
            yield i, numeral


def _text(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def _is_factor(tokens: Sequence[Token], i: int) -> bool:
    """Return whether the number is part of arithmetic that goes on, or a change."""
    return _text(tokens, i - 1) in ("x", "*", "/", "//", "+", "->") or _text(tokens, i + 1) in ("x", "*", "/", "//", "+", "->")


def _per_step(tokens: Sequence[Token], i: int) -> bool:
    if _text(tokens, i) not in _PER:
        return False
    i += 1
    while _text(tokens, i) in _STEP_KINDS:
        i += 1
    return _text(tokens, i) in STEPS or _text(tokens, i - 1) == "update"


def _of_batch(tokens: Sequence[Token], i: int) -> bool:
    """Return whether "batch size of" or "batch:" stands in front of the number at token `i`."""
    j = i - 1
    while _text(tokens, j) in ("of", "=", ":", "is", "~", "about", "(", "size", "approximately"):
        j -= 1
    return _text(tokens, j) == "batch" and j < i - 1 and _text(tokens, j - 1) not in ("micro", "mini", "local", "device", "gpu", "per")


def _stands_alone(tokens: Sequence[Token], i: int) -> bool:
    """Return whether nothing behind the tokens makes them a rate or a share: `tokens/s`, `tokens per GPU`, `tokens in the dataset`."""
    if i >= len(tokens):
        return True
    return tokens[i].kind == SIGN and tokens[i].text in (")", ",", ".", ";", "(") and not per_device(tokens, i)


def _labelled(tokens: Sequence[Token], i: int) -> bool:
    """Return whether the number stands behind its name: `tokens per step: 4M`."""
    j = i - 1
    while _text(tokens, j) in ("=", ":", "~", "is", "about"):
        j -= 1
    return j < i - 1 and _text(tokens, j) in STEPS and _text(tokens, j - 1) in ("per", "/") and UNITS.get(_text(tokens, j - 2)) == "tokens"


GRAMMAR = Grammar(
    name="token-total",
    summary="a batch counted in tokens",
    examples=("~4M tokens per step", "1,048,576 tokens per optimizer step", "batch size of 2M tokens", "tokens per batch: 4M"),
    hint=("tok",),
    read=read,
)
