"""The batch by which rows are divided to get steps: `38,631 rows / 16 = 2,414 steps`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._arithmetic import OPERATORS
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._sizes import count_at, exact_at
from pytest_gbs.claims.grammars._statements import passages
from pytest_gbs.claims.grammars._tokens import Tokens, text_at
from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_ROWS: Final = words("rows row samples sequences examples conversations pairs records")
_STEPS: Final = words("step steps iterations iters updates")


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The batches by which `block` divides rows, where the steps that it gets are right for them."""
    return tuple(
        claim(passage, at, Name.GLOBAL_BATCH_SIZE, numeral, grammar=GRAMMAR.name)
        for passage in passages(block, source, _is_candidate)
        for at in _divisors(passage.tokens)
        if (numeral := count_at(passage.tokens, at)) is not None
    )


def _is_candidate(text: str) -> bool:
    return "/" in text and any(map(text.__contains__, GRAMMAR.hint))


def _divisors(tokens: Tokens) -> Iterator[int]:
    """Yield the tokens of the batches."""
    for i, token in enumerate(tokens):
        if token.text != "/" or text_at(tokens, i - 1) not in _ROWS or text_at(tokens, i - 3) in OPERATORS or text_at(tokens, i + 2) != "=":
            continue
        rows, batch, steps = (exact_at(tokens, at) for at in (i - 2, i + 1, i + 3))
        # What is left of the rows may make a step of its own.
        if rows and batch and batch > 1 and text_at(tokens, i + 4) in _STEPS and steps in (rows // batch, -(-rows // batch)):
            yield i + 1


GRAMMAR = Grammar(
    name="steps",
    summary="rows divided by the batch",
    examples=("38,631 rows / 16 = 2,414 steps", "1024 samples / 8 = 128 steps per epoch"),
    hint=("step", "iter", "update"),
    read=read,
)
