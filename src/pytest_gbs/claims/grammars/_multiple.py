"""A batch stated as a number per GPU, for any number of GPUs: `should be 8*num_gpus`, `global batch size = 4 * 2 * world_size`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.claims.grammars._arithmetic import OPERATORS, Product, products
from pytest_gbs.claims.grammars._batch import labels
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._owner import is_global_batch
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import Tokens, text_at
from pytest_gbs.claims.grammars.words import Numeral, words
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.limits import LARGEST_PRODUCT
from pytest_gbs.model.quantity import RANK_FACTORS, Name
from pytest_gbs.model.record import Final

_GRAMMAR: Final = "product"
# In front of the product, where the batch need not be it.
_BOUNDS: Final = words("multiple multiples of divisible >= <= > < least most")
_NEAR: Final = 4
_LINKS: Final = ("=", ":", "is")
_SETTINGS: Final = ("", *RANK_FACTORS)


def multiples(passage: Passage) -> Iterator[Declaration]:
    """Yield what the batch is for each GPU, where a statement gives it as a multiple of their number."""
    tokens = passage.tokens
    called = labels(passage.statement.text, tokens)
    beside = is_global_batch(passage.block.owner) and passage.block.placement == "trailing"
    taken = {i for label in called for i in range(label.first, label.stop)}
    for product in products(tokens, taken):
        each = _each(tokens, product)
        if each is None or text_at(tokens, product.stop) in (*OPERATORS, "=", "->", "+") or text_at(tokens, product.first - 1) in OPERATORS:
            continue
        linked = text_at(tokens, product.first - 1) in _LINKS
        equated = any(label.stop == product.first - linked for label in called)
        bound = any(text_at(tokens, i) in _BOUNDS for i in range(product.first - _NEAR, product.first))
        at = next(operand.at for operand in product.factors if operand.value is not None)
        counted = any(stated.at == at for stated in hardware(tokens))  # `8 x GPUs` are eight of them
        if (beside or equated) and not bound and not counted:
            yield claim(passage, at, Name.RANK_BATCH_SIZE, Numeral(each, (Interval(each, each),)), grammar=_GRAMMAR)


def _each(tokens: Tokens, product: Product) -> int | None:
    """What each GPU takes by `8 * num_gpus`; None unless all is a number but the GPUs."""
    ranks = [operand for operand in product.factors if operand.value is None]
    numbers = [operand for operand in product.factors if operand.value is not None]
    if product.divisors or not numbers or len(ranks) != 1 or ranks[0].name != Name.WORLD_SIZE:
        return None
    if any(operand.name not in _SETTINGS or operand.unit for operand in numbers):
        return None
    if any(token.text in ("worker", "workers") for token in tokens[product.first : product.stop]):
        return None  # those of the data loader, as likely
    each = prod(operand.value or 0 for operand in numbers)
    return each if 0 < each <= LARGEST_PRODUCT else None
