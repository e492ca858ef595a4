"""Arithmetic of a statement with what it is called and what it is said to give: `GBS = 8 x 16 x 1 = 128`, `-> effective batch 32`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_gbs.claims.grammars._arithmetic import OPERATORS, Product, StatedOperand
from pytest_gbs.claims.grammars._batch import GLOBAL_MARKS, Label, per_device
from pytest_gbs.claims.grammars._sizes import count_at, name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, Tokens, past, text_at
from pytest_gbs.claims.grammars.words import APPROXIMATELY, DEVICE_UNITS, STEPS, UNITS, words
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

_EQUALS: Final = ("=", "->", "~")
_LEADING: Final = words("is of should be will was at = : ( target here ~ to held fixed kept set")
# Words behind a result that leave it what it is.
_GOING_ON: Final = words("global effective total gbs batch batchsize bs per on for with in when if and which using across")
_PER_STEP: Final = STEPS | words("/ per a optimizer global optim")
_FAR: Final = 14


class Result(NamedTuple):
    """A number that arithmetic is said to give: its token, and its unit: `samples`, `tokens`, ..., "" or, for what is not a batch, "?"."""

    at: int
    unit: str


class StatedFormula(NamedTuple):
    """Arithmetic with its operands named as well as can be.

    `label` names the batch that it is said to be; `results` are the numbers it is said to give. `equated` is false if its result
    is in front of a bracket or a colon, not of an equals sign. `denied` are numbers behind it that it does not give, where it gives
    the one in front.
    """

    product: Product
    label: Label | None
    results: tuple[Result, ...]
    equated: bool = True
    denied: tuple[Result, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The sizes that its factors are called."""
        return frozenset(operand.name for operand in self.product.factors if operand.name)


def formulas(tokens: Tokens, products: Sequence[Product], called: Sequence[Label]) -> Iterator[StatedFormula]:
    """Yield each product of numbers with its label and its results; one of names alone lends its names to the one behind it."""
    starts = {product.first: product for product in products}
    used = set[int]()
    for written in products:
        if written.first in used:
            continue
        product = _chained(tokens, written, starts, used)
        label = _label(tokens, product, called)
        behind = starts.get(product.stop + 1) if text_at(tokens, product.stop) == "=" else None
        if behind is not None and all(operand.value is None for operand in product.operands):
            used.add(behind.first)
            yield StatedFormula(_with_names(product, behind), label, tuple(_results(tokens, behind.stop, starts, used)))
        elif _names_another_size(tokens, product):
            first = product.factors[0]
            unnamed = product._replace(first=first.at, factors=(first._replace(name=""), *product.factors[1:]))
            yield StatedFormula(unnamed, None, tuple(_results(tokens, product.stop, starts, used)))
        else:
            before = _result_before(tokens, product, label, called)
            behind_it = tuple(_results(tokens, product.stop, starts, used))
            denied = tuple(_negated(tokens, product, before, behind_it)) if before else ()
            equated = before is None or text_at(tokens, product.first - 1) == "="
            yield StatedFormula(product, label, (before,) if before else behind_it, equated, denied)


def _chained(tokens: Tokens, product: Product, starts: dict[int, Product], used: set[int]) -> Product:
    """`product` with the arithmetic that goes on from its result: `8 accum x 2 = 16 per device x 4 devices = 64` multiplies 8, 2 and 4."""
    behind = starts.get(product.stop + 1) if text_at(tokens, product.stop) == "=" else None
    if behind is None or product.value is None or behind.factors[0].value != product.value or behind.value == product.value:
        return product
    used.add(behind.first)
    factors, divisors = product.factors + behind.factors[1:], product.divisors + behind.divisors
    return Product(product.first, behind.stop, factors, divisors, behind.value)


def _negated(tokens: Tokens, product: Product, before: Result, results: tuple[Result, ...]) -> Iterator[Result]:
    """Yield the result behind arithmetic that really gives the one in front: the 128 of `256 (4 x 4 x 16 = 128)`."""
    stated = count_at(tokens, before.at)
    if stated is None or product.value is None or not any(product.value in interval for interval in stated.holds):
        return
    for result in results:
        other = count_at(tokens, result.at)
        if result.unit in ("", "samples") and other is not None and not any(product.value in interval for interval in other.holds):
            yield result


def _with_names(names: Product, numbers: Product) -> Product:
    """`numbers` with the operands called as in `names`, where both have the same shape."""
    if (len(names.factors), len(names.divisors)) != (len(numbers.factors), len(numbers.divisors)):
        return numbers
    factors = tuple(number._replace(name=number.name or name.name) for name, number in zip(names.factors, numbers.factors, strict=True))
    divisors = tuple(number._replace(name=number.name or name.name) for name, number in zip(names.divisors, numbers.divisors, strict=True))
    return numbers._replace(first=names.first, factors=factors, divisors=divisors)


def _names_another_size(tokens: Tokens, product: Product) -> bool:
    """Whether the name in front is that of the result: `DP = 48 / (4*1*2) = 6`, but not `micro=1 * accum=4`."""
    first = product.factors[0]
    if not first.name or first.value is None or first.at == product.first or text_at(tokens, first.at - 1) not in ("=", ":"):
        return False
    return text_at(tokens, product.stop) == "=" and not any(operand.name for operand in product.operands[1:])


def _label(tokens: Tokens, product: Product, labels: Sequence[Label]) -> Label | None:
    """The label that the product belongs to: the nearest in front of it, with an equals sign or the like between."""
    own = [each for each in labels if text_at(tokens, each.first - 1) not in OPERATORS and text_at(tokens, each.stop) not in OPERATORS]
    label = next((each for each in reversed(own) if each.stop <= product.first), None)
    if label is None or product.first - label.stop > _FAR:
        return None
    between = tokens[label.stop : product.first]
    if not between:
        # `gbs512/ep8` is a list, no division.
        return None if "/" in (text_at(tokens, product.first), text_at(tokens, product.first + 1)) else label
    # `GBS: 512 samples (8 x 64 GPUs)`
    counted = between[:-1] if between[-1].text in UNITS and text_at(tokens, product.first) == "(" else between
    if all(token.text in _LEADING or token.kind == NUMBER for token in counted):
        return label
    broken = (";", ".", "->") if between[0].text == "=" else (";", ".", "->", *OPERATORS)
    if between[-1].text not in ("=", ":") or any(token.text in broken for token in between[:-1]):
        return None
    if not any(token.kind == NUMBER for token in between) or _result_of(tokens, label, product) is not None:
        return label
    return label if any(token.text in DEVICE_UNITS for token in between) else None


def _result_of(tokens: Tokens, label: Label, product: Product) -> Result | None:
    """The number that the label is given before a colon and arithmetic: `held at 1,048,576 tokens, as before: 4 * 8 * 32768`."""
    at = next((i for i in range(label.stop, product.first) if tokens[i].kind == NUMBER), None)
    if at is None or not all(token.text in _LEADING for token in tokens[label.stop : at]):
        return None
    return Result(at, _unit(tokens, at + 1)[0])


def _result_before(tokens: Tokens, product: Product, label: Label | None, labels: Sequence[Label]) -> Result | None:
    """The result in front of the arithmetic: `128 = 16 x 8`, `GBS 64 (8 x 8 GPUs)`, `global 128 = 8 * 16 dp`."""
    if label is not None and text_at(tokens, product.first - 1) == ":":
        return _result_of(tokens, label, product) if text_at(tokens, product.stop) not in _EQUALS else None
    # `64 (8 x 8)`: the bracket belongs to the arithmetic.
    i = product.first - 1 if text_at(tokens, product.first) == "(" else product.first - 2
    sign, unit = text_at(tokens, i + 1), UNITS.get(text_at(tokens, i), "")
    marked = text_at(tokens, i) in GLOBAL_MARKS
    at = i - 1 if unit or marked else i
    if sign not in ("=", "(") or at < 0 or count_at(tokens, at) is None:
        return None
    if label is not None and label.stop <= at:
        return Result(at, unit)
    # `128 = 1 x 2 x 64` by itself: what it is behind decides whether it is a batch.
    follows = marked or any(at + 1 == each.first for each in labels) or (at == 0 and sign == "=")
    return Result(at, unit) if follows or text_at(tokens, at - 1) in GLOBAL_MARKS else None


def _results(tokens: Tokens, i: int, starts: dict[int, Product], used: set[int]) -> Iterator[Result]:
    """Yield the numbers behind the arithmetic: `= 1536 seq = 12.58M tok/step`, `= 512*sequence_length = 1M tokens`."""
    while text_at(tokens, i) in _EQUALS:
        i += 1
        again = starts.get(i)
        if again is not None:
            used.add(again.first)
            samples = _samples_of(again)
            if samples is not None:
                yield Result(samples.at, "samples")
            i = again.stop
            continue
        before, i = i, _next_number(tokens, i)
        if count_at(tokens, i) is None:
            return
        other = _other_size(tokens, before, i)
        unit, stop = (other, i + 1) if other else _unit(tokens, i + 1)
        yield Result(i, unit)
        i = stop


def _other_size(tokens: Tokens, start: int, stop: int) -> str:
    """A "?" and the size that the words in front of a result name, if that is not a batch: `-> grad accum 4`."""
    named = (name_at(tokens, j) for j in range(start, stop))
    return next((f"?{each.name}" for each in named if each is not None and each.name in _NO_BATCH), "")


_NO_BATCH: Final = frozenset((Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE))


def _next_number(tokens: Tokens, i: int) -> int:
    """The next number from token `i` on, past words and signs for "about"."""
    for j in range(i, min(i + _FAR, len(tokens))):
        if tokens[j].kind == NUMBER or (tokens[j].kind == SIGN and tokens[j].text not in APPROXIMATELY):
            return j
    return len(tokens)


def _samples_of(product: Product) -> StatedOperand | None:
    """The number of `512*sequence_length`."""
    if len(product.operands) != 2 or product.divisors:
        return None
    one, other = product.factors
    return one if other.name == Name.SEQUENCE_LENGTH and one.value is not None and not one.name else None


def _unit(tokens: Tokens, i: int) -> tuple[str, int]:
    """The unit behind a result, and where it ends; "?" where it is none of a batch: steps, GPUs, gigabytes."""
    text = text_at(tokens, i)
    if per_device(tokens, i + (text in UNITS)) or (text == "tokens" and text_at(tokens, i + 1) == "of"):
        return "?", i
    if text in UNITS:
        j = past(tokens, i + 1, _PER_STEP)
        return UNITS[text], j
    if i >= len(tokens) or tokens[i].kind == SIGN:
        return ("?" if text in ("%", "+", *OPERATORS) else ""), i
    if text in _GOING_ON:
        return "", i
    named = name_at(tokens, i)
    return (f"?{named.name}" if named else "?"), i
