"""Products that a statement writes out, with what each factor is called: `8 GPUs * micro_batch=1 * grad_accum=4`, `16x(1)x8`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._sizes import count_at, name_at
from pytest_gbs.declarations._tokens import NUMBER, WORD, Token
from pytest_gbs.declarations.words import NODES, UNITS

_TIMES: Final = ("x", "*")
_DIVIDED: Final = ("/", "//")
_DEEPEST: Final = 4
# A plain "batch size" among factors is that of one device.
_PLAIN_BATCH: Final = frozenset(("batch", "bs", "bsz", "batchsize"))


class Operand(NamedTuple):
    """One factor of a product: its number (None where it is only named), its name ("" where it has none), and the number's token.

    `unit` is the first word behind the number that is no name of ours: `64 samples`.
    """

    value: int | None
    name: str
    at: int
    unit: str = ""


class Product(NamedTuple):
    """Operands multiplied, and those divided by, from token `first` to `stop` (excluded).

    `value` is what it really gives, None where it is no whole number or an operand has no number.
    """

    first: int
    stop: int
    factors: tuple[Operand, ...]
    divisors: tuple[Operand, ...]
    value: int | None

    @property
    def operands(self) -> tuple[Operand, ...]:
        """All operands, factors first."""
        return self.factors + self.divisors


class _Part(NamedTuple):
    stop: int
    factors: tuple[Operand, ...]
    divisors: tuple[Operand, ...]
    value: Fraction | None


def products(tokens: Sequence[Token], taken: Collection[int] = ()) -> tuple[Product, ...]:
    """Return the products of at least two operands that the tokens write out, in order, the longest from each place on.

    None starts at a token that is `taken`: a word of the batch's own name.
    """
    found: list[Product] = []
    i = 0
    while i < len(tokens):
        part = _product(tokens, i, 0) if i not in taken and _may_start(tokens, i) else None
        if part is not None and len(part.factors) + len(part.divisors) > 1:
            whole = None if part.value is None or part.value.denominator != 1 else int(part.value)
            found.append(Product(i, part.stop, part.factors, part.divisors, whole))
            i = part.stop
        else:
            i = part.stop if part is not None and part.factors[0].value is None else i + 1
    return tuple(found)


def _may_start(tokens: Sequence[Token], i: int) -> bool:
    token = tokens[i]
    return (
        token.kind == NUMBER or token.text == "(" or (token.kind == WORD and name_at(tokens, i) is not None) or token.text in _PLAIN_BATCH
    )


def _product(tokens: Sequence[Token], i: int, depth: int) -> _Part | None:
    # Behind a sign whose left side could not be read, an equals sign starts the result.
    part = _operand(tokens, i, depth, depth > 0 or i == 0 or tokens[i - 1].text not in (*_TIMES, *_DIVIDED))
    while part is not None and part.stop < len(tokens) - 1 and tokens[part.stop].text in (*_TIMES, *_DIVIDED):
        sign = tokens[part.stop].text
        # Behind names without numbers an equals sign starts the numbers (`micro * accum * dp = 4 * 8 * 16`), behind numbers
        # without names it starts the result (`512 * sequence_length = 1M tokens`).
        binds = all(operand.value is not None and operand.name for operand in (*part.factors, *part.divisors))
        right = _operand(tokens, part.stop + 1, depth, binds)
        if right is None:
            break
        part = _combined(part, right, sign)
    return part


def _combined(left: _Part, right: _Part, sign: str) -> _Part:
    if sign in _TIMES:
        value = None if left.value is None or right.value is None else left.value * right.value
        return _Part(right.stop, left.factors + right.factors, left.divisors + right.divisors, value)
    value = None if left.value is None or not right.value else left.value / right.value
    if sign == "//" and value is not None:
        value = Fraction(value.numerator // value.denominator)
    return _Part(right.stop, left.factors + right.divisors, left.divisors + right.factors, value)


def _operand(tokens: Sequence[Token], i: int, depth: int, binds: bool = True) -> _Part | None:
    """Return one operand: a number with or without a name before or behind it, a name alone, or a product in brackets."""
    if i >= len(tokens):
        return None
    if tokens[i].text == "(":
        inner = _product(tokens, i + 1, depth + 1) if depth < _DEEPEST else None
        if inner is None or inner.stop >= len(tokens) or tokens[inner.stop].text != ")":
            return None
        return inner._replace(stop=inner.stop + 1)
    if tokens[i].kind == NUMBER:
        return _counted(tokens, i)
    return _named(tokens, i, binds)


def _counted(tokens: Sequence[Token], i: int) -> _Part | None:
    found = count_at(tokens, i)
    if found is None:
        return None
    name, stop, unit = _behind(tokens, i + 1)
    return _part(stop, Operand(found.value, name, i, unit), found.value)


def _behind(tokens: Sequence[Token], i: int) -> tuple[str, int, str]:
    """Return the name behind a number (`8 GPUs`, `16 dp`, `4 (per device)`), where it ends, and the word that is no name of ours."""
    bracket = i + 1 < len(tokens) and tokens[i].text == "(" and tokens[i + 1].kind == WORD
    named = None if _text(tokens, i) in UNITS else name_at(tokens, i + bracket)
    if named is not None and named.name == Name.WORLD_SIZE and _text(tokens, named.stop) == "/" and _text(tokens, named.stop + 1) in NODES:
        return Name.GPUS_PER_NODE, named.stop + 2, ""
    if named is not None and (not bracket or (named.stop < len(tokens) and tokens[named.stop].text == ")")):
        return named.name, named.stop + bracket, ""
    if bracket and tokens[i + 1].text in _PLAIN_BATCH and _text(tokens, _past_batch(tokens, i + 1)) == ")":
        return Name.MICRO_BATCH_SIZE, _past_batch(tokens, i + 1) + 1, ""
    if i < len(tokens) and tokens[i].kind == WORD:
        plain = tokens[i].text in _PLAIN_BATCH
        return (Name.MICRO_BATCH_SIZE if plain else "", _past_batch(tokens, i) if plain else i, "" if plain else tokens[i].text)
    return "", i, ""


def _text(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].text if i < len(tokens) else ""


def _past_batch(tokens: Sequence[Token], i: int) -> int:
    return i + 2 if i + 1 < len(tokens) and tokens[i + 1].text == "size" else i + 1


def _named(tokens: Sequence[Token], i: int, binds: bool) -> _Part | None:
    """Return a name with its number (`grad_accum=4`, `dp_size(64)`, `dp8`), or alone."""
    named = name_at(tokens, i)
    if named is None and tokens[i].text not in _PLAIN_BATCH:
        return None
    name, j = (named.name, named.stop) if named else (Name.MICRO_BATCH_SIZE, _past_batch(tokens, i))
    bracket = j < len(tokens) and tokens[j].text == "("
    k = j + 1 if j < len(tokens) and (bracket or (binds and tokens[j].text in ("=", ":"))) else j
    found = count_at(tokens, k)
    if (
        found is None
        or (k > j and not bracket and _text(tokens, k + 1) in UNITS)
        or (bracket and (k + 1 >= len(tokens) or tokens[k + 1].text != ")"))
    ):
        return _part(j, Operand(None, name, i), None)
    return _part(k + 1 + bracket, Operand(found.value, name, k), found.value)


def _part(stop: int, operand: Operand, value: int | None) -> _Part:
    return _Part(stop, (operand,), (), None if value is None else Fraction(value))
