"""A batch counted in tokens: `~4M tokens per step`, `batch size of 2M tokens`, `~1M tokens` behind the global batch size."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._batch import per_device
from pytest_gbs.claims.grammars._candidate import counts
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._owner import is_accumulation, is_global_batch
from pytest_gbs.claims.grammars._statements import passages
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, Tokens, past, text_at
from pytest_gbs.claims.grammars.words import APPROXIMATELY, OTHER_BATCH, PART_OF_BATCH, STEPS, UNITS, Numeral, number, words
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_PER: Final = ("per", "/", "a", "each")
_STEP_KINDS: Final = words("optimizer optim optimization training train global gradient update effective")
_LARGE: Final = {"million": "M", "mio": "M", "billion": "B", "thousand": "k"}
_OF: Final = words("of = : is ~ about ( size approximately")
_SIGNS: Final = ("x", "*", "/", "//", "+", "->")
_LABELS: Final = ("tokens per", "tokens_per", "tokens/", "token per", "token/")
_LEAST: Final = 1000
_LEAST_OF_BATCH: Final = 100_000  # in front of "batch": an 8,192-token batch may be a micro batch


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The tokens per optimizer step that `block` states."""
    beside_batch = block.placement == "trailing" and (is_global_batch(block.owner) or is_accumulation(block.owner))
    return tuple(
        claim(passage, at, Name.TOKENS_PER_STEP, numeral, grammar=GRAMMAR.name, unit="tokens")
        for passage in passages(block, source, _is_candidate)
        for at, numeral in _totals(passage.tokens, beside_batch)
    )


def _is_candidate(text: str) -> bool:
    return counts(text, ("tok",)) or any(map(text.__contains__, _LABELS))


def _totals(tokens: Tokens, beside_batch: bool) -> Iterator[tuple[int, Numeral]]:
    """Yield the numbers of tokens per step, each with its token."""
    if any(token.text in OTHER_BATCH for token in tokens):
        return
    for i, token in enumerate(tokens):
        if token.kind != NUMBER or text_at(tokens, i - 1) in _SIGNS or text_at(tokens, i + 1) in _SIGNS:
            continue
        large = _LARGE.get(text_at(tokens, i + 1), "")
        unit = i + 1 + bool(large)
        numeral = number(token.text + large, text_at(tokens, i - 1) in APPROXIMATELY)
        if numeral is None or numeral.value < _LEAST:
            continue
        if UNITS.get(text_at(tokens, unit)) == "tokens":
            per_step, of_batch = _per_step(tokens, unit + 1), _of_batch(tokens, i) or _is_batch(tokens, unit + 1, numeral)
            stated = per_step or of_batch or (beside_batch and _stands_alone(tokens, unit + 1))
        else:
            stated = _is_labelled(tokens, i)
        if stated:
            yield i, numeral


def _per_step(tokens: Tokens, i: int) -> bool:
    if text_at(tokens, i) not in _PER:
        return False
    i += 1
    i = past(tokens, i, _STEP_KINDS)
    return text_at(tokens, i) in STEPS or text_at(tokens, i - 1) == "update"


def _is_batch(tokens: Tokens, i: int, numeral: Numeral) -> bool:
    """Whether "batch" is behind the number of tokens that ends in front of token `i`: `4M token global batch size`."""
    return numeral.value >= _LEAST_OF_BATCH and text_at(tokens, past(tokens, i, _STEP_KINDS)) in ("batch", "batches")


def _of_batch(tokens: Tokens, i: int) -> bool:
    """Whether "batch size of" or "batch:" is in front of the number at token `i`."""
    j = past(tokens, i - 1, _OF, -1)
    return j < i - 1 and text_at(tokens, j) == "batch" and text_at(tokens, j - 1) not in PART_OF_BATCH | {"gpu"}


def _stands_alone(tokens: Tokens, i: int) -> bool:
    """Whether nothing behind the tokens makes them a rate or a share: `tokens/s`, `tokens per GPU`, `tokens in the dataset`."""
    if i >= len(tokens):
        return True
    return tokens[i].kind == SIGN and tokens[i].text in (")", ",", ".", ";", "(") and not per_device(tokens, i)


def _is_labelled(tokens: Tokens, i: int) -> bool:
    """Whether the number is behind its name: `tokens per step: 4M`, `tokens/step = 16 * 2048 = 32768`."""
    j = _linked(tokens, i - 1)
    if j < i - 1 and tokens[j].kind == NUMBER:
        while j >= 0 and (tokens[j].kind == NUMBER or tokens[j].text in ("x", "*")):
            j -= 1
        j = _linked(tokens, j)
    if text_at(tokens, i + 1) in STEPS:
        return False
    named = text_at(tokens, j) in STEPS and text_at(tokens, j - 1) in ("per", "/")
    return j < i - 1 and named and UNITS.get(text_at(tokens, j - 2)) == "tokens" and text_at(tokens, j - 3) != "per"


def _linked(tokens: Tokens, j: int) -> int:
    """The token in front of the equals sign or the like that ends with token `j`."""
    return past(tokens, j, ("=", ":", "~", "is", "about"), -1)


GRAMMAR = Grammar(
    name="token-total",
    summary="a batch counted in tokens",
    examples=(
        "~4M tokens per step",
        "1,048,576 tokens per optimizer step",
        "batch size of 2M tokens",
        "4M token batch",
        "tokens per batch: 4M",
        "tokens/step = 16 * 2048 = 32768",
    ),
    hint=("tok",),
    read=read,
)
