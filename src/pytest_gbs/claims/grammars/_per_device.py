"""A batch stated as a number per device, with the number of devices: `4 per 40gb A100, 8 cards`, `8 GPUs with 2 images per GPU`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.claims.grammars._batch import Label, labels
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._hardware_words import devices_at, each_node, exact_count
from pytest_gbs.claims.grammars._owner import is_global_batch
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import NUMBER, WordToken, past, text_at
from pytest_gbs.claims.grammars.words import Numeral, words
from pytest_gbs.model.declaration import Declaration, Factor, Interval, StatedArithmetic
from pytest_gbs.model.limits import LARGEST_PRODUCT
from pytest_gbs.model.quantity import Name

_GRAMMAR: Final = "product"
_LINKED: Final = words(", and on with over across")
_ROWS: Final = words("image images img imgs sample samples sequence sequences")


def of_each_device(passage: Passage) -> Iterator[Declaration]:
    """Yield the batches that a statement states per device."""
    tokens = passage.tokens
    called = labels(passage.statement.text, tokens)
    beside = passage.block.placement == "trailing" and is_global_batch(passage.block.owner)
    for i, token in enumerate(tokens):
        rows = _rows_of_each(tokens, i)
        if rows is not None and rows[0] * rows[1] <= LARGEST_PRODUCT:
            yield _claimed(passage, rows[2], i, rows[:2])
        share, devices = exact_count(tokens, i), _devices(tokens, i)
        if share is None or devices is None or text_at(tokens, i - 1) in ("x", "*", "/", "//"):
            continue
        number, stop = devices
        total = share * number
        in_front = text_at(tokens, i - 1) in ("(", ":", "=", "of", "is") and any(_lacks_number(tokens, label, i) for label in called)
        if total <= LARGEST_PRODUCT and (in_front or (beside and token.kind == "number" and text_at(tokens, i - 1) in ("", "("))):
            yield _claimed(passage, i, stop, (share, number))


def _lacks_number(tokens: Sequence[WordToken], label: Label, i: int) -> bool:
    """Whether the label is in front of token `i` and has no number of its own: not `batch size 128 (2 per GPU, 8 GPUs)`."""
    in_front = label.first > 0 and tokens[label.first - 1].kind == NUMBER
    return label.stop <= i and not in_front and all(token.kind != NUMBER for token in tokens[label.stop : i])


def _devices(tokens: Sequence[WordToken], i: int) -> tuple[int, int] | None:
    """The number of devices behind `4 per 40gb A100` at token `i`, and its token; None if nothing of the kind is there."""
    if text_at(tokens, i + 1) not in ("per", "/"):
        return None
    device = devices_at(tokens, i + 2)
    if device is None:
        return None
    at = past(tokens, device[0], _LINKED)
    number = exact_count(tokens, at) if at > device[0] else None
    behind = devices_at(tokens, at + 1)
    if number is None or behind is None or each_node(tokens, behind[0]) or count_at(tokens, i) is None:
        return None
    return None if text_at(tokens, behind[0]) in ("x", "*", "/", "=", "->") else (number, at)


def _rows_of_each(tokens: Sequence[WordToken], i: int) -> tuple[int, int, int] | None:
    """What each of the devices at token `i` takes, their number, and the token of the former: `8 GPUs with 2 images per GPU`."""
    number, devices = exact_count(tokens, i), devices_at(tokens, i + 1)
    if number is None or devices is None or text_at(tokens, devices[0]) != "with" or text_at(tokens, devices[0] + 2) not in _ROWS:
        return None
    at = devices[0] + 1
    share, each = exact_count(tokens, at), devices_at(tokens, at + 3)
    if share is None or each is None or text_at(tokens, at + 2) not in ("per", "/") or each[0] < len(tokens):
        return None
    return share, number, at


def _claimed(passage: Passage, first: int, stop: int, factors: tuple[int, int]) -> Declaration:
    total = factors[0] * factors[1]
    holds = (Interval(total, total),)
    found = claim(passage, first, Name.GLOBAL_BATCH_SIZE, Numeral(total, holds), grammar=_GRAMMAR, known=(Name.MICRO_BATCH_SIZE,))
    where = passage.span(min(first, stop), max(first, stop) + 1)
    stated = (Factor(factors[0], "", passage.place(first)), Factor(factors[1], Name.WORLD_SIZE, passage.place(stop)))
    return found._replace(at=where, ambiguous=False, sum=StatedArithmetic(stated, (), total, holds, total, where))
