"""The two small notations of a user's own framework: how a size follows from others, and what must hold between sizes."""

from __future__ import annotations

import re
from typing import Final

from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.framework import Constraint
from pytest_gbs.model.pattern import lazy_pattern

FORMULA: Final = "size = size * size, with / or // and one size or (size * size) behind it"
RELATION: Final = "size * size % (size * size) == 0, or size / size >= 2"
_NAME: Final = r"[a-z_]+"
_PRODUCT: Final = rf"{_NAME}(?: ?\* ?{_NAME})*"
_GROUP: Final = rf"(?:{_NAME}|\( ?{_PRODUCT} ?\))"


def formula(text: str) -> Equation | None:
    """The equation that a formula writes, or None if it is none."""
    match = _formula().fullmatch(" ".join(text.split()))
    if match is None:
        return None
    rounding = Rounding.FLOOR if match["sign"] == "//" else Rounding.EXACT
    return Equation(match["result"], _names(match["product"]), _names(match["divisors"] or ""), rounding)


def relation(text: str) -> Constraint | None:
    """The sizes that a relation holds between, or None if it is none; `at_least` where it is about their quotient."""
    text = " ".join(text.split())
    match = _multiple().fullmatch(text)
    if match is not None:
        return Constraint("", _names(match["dividend"]), _names(match["divisor"]))
    match = _least().fullmatch(text)
    if match is None:
        return None
    return Constraint("", _names(match["dividend"]), _names(match["divisor"] or ""), int(match["least"]))


def _names(text: str) -> tuple[str, ...]:
    return tuple(re.findall(_NAME, text))


_formula = lazy_pattern(rf"(?P<result>{_NAME}) ?= ?(?P<product>{_PRODUCT})(?: ?(?P<sign>//?) ?(?P<divisors>{_GROUP}))?")
_multiple = lazy_pattern(rf"\(? ?(?P<dividend>{_PRODUCT}) ?\)? ?% ?(?P<divisor>{_GROUP}) ?== ?0")
_least = lazy_pattern(rf"(?P<dividend>{_PRODUCT})(?: ?/ ?(?P<divisor>{_GROUP}))? ?>= ?(?P<least>[0-9]{{1,12}})")
