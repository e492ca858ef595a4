"""The batch by which rows are divided to get steps: `38,631 rows / 16 = 2,414 steps`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._hardware_words import HARDWARE
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at, exact_at
from pytest_gbs.claims.grammars._statements import passages
from pytest_gbs.claims.grammars._tokens import Tokens
from pytest_gbs.claims.grammars.words import words
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_shape: Final = Notation(
    HARDWARE,
    ROWS=words("rows row samples sequences examples conversations pairs records"),
    STEPS=words("step steps iterations iters updates"),
)
_QUOTIENT: Final = _shape("!OPERATOR @ COUNTED ROWS / COUNTED = COUNTED STEPS")


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
    for i in range(len(tokens)):
        if _QUOTIENT.at(tokens, i):
            rows, batch, steps = (exact_at(tokens, at) for at in (i, i + 3, i + 5))
            # What is left of the rows may make a step of its own.
            if rows and batch and batch > 1 and steps in (rows // batch, -(-rows // batch)):
                yield i + 3


GRAMMAR = Grammar(
    name="steps",
    summary="rows divided by the batch",
    examples=("38,631 rows / 16 = 2,414 steps", "1024 samples / 8 = 128 steps per epoch"),
    hint=("step", "iter", "update"),
    read=read,
)
