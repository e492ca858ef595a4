"""The two small notations of a user's own framework: how a size follows from others, and what must hold between sizes."""

from __future__ import annotations

import re
from typing import Final

from pytest_gbs.model.equation import Rounding
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple

FORMULA: Final = "size = size * size, with / or // and one size or (size * size) behind it"
RELATION: Final = "size * size % (size * size) == 0, or size / size >= 2"
_NAME: Final = r"[a-z_]+"
_PRODUCT: Final = rf"{_NAME}(?: ?\* ?{_NAME})*"
_GROUP: Final = rf"(?:{_NAME}|\( ?{_PRODUCT} ?\))"


class Formula(NamedTuple):
    """`result` = `product` / `divisors`, rounded or not."""

    result: str
    product: tuple[str, ...]
    divisors: tuple[str, ...]
    rounding: str


class Relation(NamedTuple):
    """`dividend` holds whole `divisor`s; or, with `at_least`, their quotient is at least so much."""

    dividend: tuple[str, ...]
    divisor: tuple[str, ...]
    at_least: int | None


def formula(text: str) -> Formula | None:
    """What a formula says, or None if it is none."""
    match = _formula().fullmatch(" ".join(text.split()))
    if match is None:
        return None
    rounding = Rounding.FLOOR if match["sign"] == "//" else Rounding.EXACT
    return Formula(match["result"], _names(match["product"]), _names(match["divisors"] or ""), rounding)


def relation(text: str) -> Relation | None:
    """What a relation says, or None if it is none."""
    text = " ".join(text.split())
    match = _multiple().fullmatch(text)
    if match is not None:
        return Relation(_names(match["dividend"]), _names(match["divisor"]), None)
    match = _least().fullmatch(text)
    return None if match is None else Relation(_names(match["dividend"]), _names(match["divisor"] or ""), int(match["least"]))


def _names(text: str) -> tuple[str, ...]:
    return tuple(re.findall(_NAME, text))


_formula = lazy_pattern(rf"(?P<result>{_NAME}) ?= ?(?P<product>{_PRODUCT})(?: ?(?P<sign>//?) ?(?P<divisors>{_GROUP}))?")
_multiple = lazy_pattern(rf"\(? ?(?P<dividend>{_PRODUCT}) ?\)? ?% ?(?P<divisor>{_GROUP}) ?== ?0")
_least = lazy_pattern(rf"(?P<dividend>{_PRODUCT})(?: ?/ ?(?P<divisor>{_GROUP}))? ?>= ?(?P<least>[0-9]{{1,12}})")
