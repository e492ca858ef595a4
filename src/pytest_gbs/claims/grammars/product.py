"""Arithmetic that gives a batch: `8 nodes x 8 GPUs x 1 x 2 = 128`, `8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._candidate import counts, multiplies
from pytest_gbs.claims.grammars._owner import is_batch
from pytest_gbs.claims.grammars._statements import Passage, passages
from pytest_gbs.claims.grammars._tokens import names_batch
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.record import Final

# Arithmetic that gives a batch says so: by a sign that gives and by what it multiplies, or by the key it is behind.
_GIVES: Final = ("=", "->", "→", "⇒", "＝", "batch", "gbs", "effective")
_ARROWS: Final = ("->", "=>", "→", "⇒")
_COUNTED: Final = ("gpu", "card", "device", "accelerator", "accum", "dp", "node")
_MULTIPLIED: Final = ("batch", "bs", "gpu", "device", "node", "accum", "global", "tok", "prompts", "dp", "ga =", "ga=", "gas =")


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The batches that `block` works out."""
    is_candidate = _may_be_worked_out if is_batch(block.owner) else _is_candidate
    return tuple(declaration for passage in passages(block, source, is_candidate) for declaration in _read(passage))


def _is_candidate(text: str) -> bool:
    if " with " in text and " per " in text and not multiplies(text):
        return counts(text, _COUNTED)
    named = any(map(text.__contains__, _MULTIPLIED)) or names_batch(text)
    return named and any(map(text.__contains__, _GIVES)) and _may_be_worked_out(text)


def _may_be_worked_out(text: str) -> bool:
    return multiplies(text) or ((" per " in text or any(map(text.__contains__, _ARROWS))) and counts(text, _COUNTED))


def _read(passage: Passage) -> Iterator[Declaration]:
    # Few files work anything out: the parsers of arithmetic and of lists are loaded for those that do.
    text = passage.statement.lower
    if multiplies(text):
        from pytest_gbs.claims.grammars._multiple import multiples
        from pytest_gbs.claims.grammars._worked_out import worked_out

        yield from worked_out(passage)
        yield from multiples(passage)
    if " per " in text or "/" in text:
        from pytest_gbs.claims.grammars._per_device import of_each_device

        yield from of_each_device(passage)
    if any(map(text.__contains__, _ARROWS)):
        from pytest_gbs.claims.grammars._listed import listed

        yield from listed(passage)


GRAMMAR = Grammar(
    name="product",
    summary="arithmetic that gives a batch",
    examples=(
        "GBS = 8 x 16 x 1 = 128",
        "8 nodes x 8 GPUs x 1 x 2 = 128",
        "Effective batch-size is 128=16x(1)x8",
        "8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32",
        "batch_accumulation_per_replica * micro_batch_size * dp = 4 * 8 * 16 = 512",
        "GA = 8192 / (32*4) = 64",
        "global batch size = 8 * num_gpus",
        "Training total batch size (4 per 40gb A100, 8 cards)",
        "By default, models are trained on 8 GPUs with 2 images per GPU",
        "per device batch 4, 8 GPUs, grad accum 2 => 64",
        "GBS = 8*2*32*sequence_length = 512*sequence_length = 1M tokens",
    ),
    hint=(*_MULTIPLIED, "*", "×", " x ", " / ", " per ", "/gpu"),
    read=read,
)
