"""A batch counted in tokens: `~4M tokens per step`, `batch size of 2M tokens`, `~1M tokens` behind the global batch size."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._batch import BATCH
from pytest_gbs.claims.grammars._candidate import counts
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._owner import is_accumulation, is_global_batch
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._statements import passages
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens, text_at
from pytest_gbs.claims.grammars.words import APPROXIMATELY, OTHER_BATCH, PART_OF_BATCH, UNITS, Numeral, number, words
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_LARGE: Final = {"million": "M", "mio": "M", "billion": "B", "thousand": "k"}
_SIGNS: Final = ("x", "*", "/", "//", "+", "->")
_LABELS: Final = ("tokens per", "tokens_per", "tokens/", "token per", "token/")
_shape: Final = Notation(
    BATCH,
    TOKENS=[unit for unit, name in UNITS.items() if name == "tokens"],
    KINDS=words("optimizer optim optimization training train global gradient update effective"),
    PART=PART_OF_BATCH,
    OF=words("of = : is ~ about ( size approximately"),
    LINK=words("= : ~ is about"),
    FACTORS="[LINK* NUMBER|x|*+ &NUMBER]",
)
_PER_STEP: Final = _shape("per|/|a|each KINDS* [STEP | <update]")
_BATCH: Final = _shape("KINDS* batch|batches")  # `4M token global batch size`
_OF_BATCH: Final = _shape("!PART|gpu batch OF+ @")
# Nothing makes the tokens a rate or a share: `tokens/s`, `tokens per GPU`, `tokens in the dataset`.
_ALONE: Final = _shape("$ | !PER_DEVICE )|,|.|;|(")
# Behind the name: `tokens per step: 4M`, `tokens/step = 16 * 2048 = 32768`.
_LABELLED: Final = _shape("!per TOKENS per|/ STEP FACTORS? LINK+ @ NUMBER !STEP")
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
            of_batch = _OF_BATCH.at(tokens, i) or (numeral.value >= _LEAST_OF_BATCH and _BATCH.at(tokens, unit + 1))
            stated = _PER_STEP.at(tokens, unit + 1) or of_batch or (beside_batch and _ALONE.at(tokens, unit + 1))
        else:
            stated = _LABELLED.at(tokens, i)
        if stated:
            yield i, numeral


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
