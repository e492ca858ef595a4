"""A batch stated as a number per device, with the number of devices: `4 per 40gb A100, 8 cards`, `8 GPUs with 2 images per GPU`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.claims.grammars._batch import Label, labels
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._hardware_words import HARDWARE
from pytest_gbs.claims.grammars._owner import is_global_batch
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import exact_count
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens, text_at
from pytest_gbs.claims.grammars.words import Numeral, words
from pytest_gbs.model.declaration import Declaration, Factor, Interval, StatedArithmetic
from pytest_gbs.model.limits import LARGEST_PRODUCT
from pytest_gbs.model.quantity import Name

_GRAMMAR: Final = "product"
_shape: Final = Notation(
    HARDWARE,
    LINK=words(", and on with over across"),
    ROWS=words("image images img imgs sample samples sequence sequences"),
)
_SHARE: Final = _shape("!OPERATOR @ DIGITS per|/ DEVICES LINK+ gpus:COUNT DEVICES !EACH !x|*|/|=|->")  # `4 per 40gb A100, 8 cards`
_ROWS: Final = _shape("COUNT DEVICES with rows:COUNT ROWS per|/ DEVICES $")  # `8 GPUs with 2 images per GPU`


def of_each_device(passage: Passage) -> Iterator[Declaration]:
    """Yield the batches that a statement states per device."""
    tokens = passage.tokens
    called = labels(passage.statement.text, tokens)
    beside = passage.block.placement == "trailing" and is_global_batch(passage.block.owner)
    for i in range(len(tokens)):
        if exact_count(tokens, i) is None:
            continue
        if found := _ROWS.at(tokens, i):
            yield from _claimed(passage, found.places["rows"], i)
        if found := _SHARE.at(tokens, i):
            in_front = text_at(tokens, i - 1) in ("(", ":", "=", "of", "is") and any(_lacks_number(tokens, label, i) for label in called)
            if in_front or (beside and text_at(tokens, i - 1) in ("", "(")):
                yield from _claimed(passage, i, found.places["gpus"])


def _lacks_number(tokens: Tokens, label: Label, i: int) -> bool:
    """Whether the label is in front of token `i` and has no number of its own: not `batch size 128 (2 per GPU, 8 GPUs)`."""
    in_front = label.first > 0 and tokens[label.first - 1].kind == NUMBER
    return label.stop <= i and not in_front and all(token.kind != NUMBER for token in tokens[label.stop : i])


def _claimed(passage: Passage, first: int, stop: int) -> Iterator[Declaration]:
    """Yield the batch of the share that is token `first` on the GPUs of which token `stop` is the number."""
    share, gpus = (exact_count(passage.tokens, at) or 0 for at in (first, stop))
    total = share * gpus
    if total > LARGEST_PRODUCT:
        return
    holds = (Interval(total, total),)
    found = claim(passage, first, Name.GLOBAL_BATCH_SIZE, Numeral(total, holds), grammar=_GRAMMAR, known=(Name.MICRO_BATCH_SIZE,))
    where = passage.span(min(first, stop), max(first, stop) + 1)
    stated = (Factor(share, "", passage.place(first)), Factor(gpus, Name.WORLD_SIZE, passage.place(stop)))
    yield found._replace(at=where, ambiguous=False, sum=StatedArithmetic(stated, (), total, holds, total, where))
