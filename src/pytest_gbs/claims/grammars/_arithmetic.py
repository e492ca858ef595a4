"""Products that a statement writes out, with what each factor is called: `8 GPUs * micro_batch=1 * grad_accum=4`, `16x(1)x8`."""

from __future__ import annotations

from collections.abc import Collection
from math import gcd, prod

from pytest_gbs.claims.grammars._hardware import machines_at
from pytest_gbs.claims.grammars._hardware_words import HARDWARE, devices_at
from pytest_gbs.claims.grammars._shapes import Notation, Shape
from pytest_gbs.claims.grammars._sizes import count_at, name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, WORD, Tokens, text_at
from pytest_gbs.claims.grammars.words import NODES, STEPS, UNITS, is_chip, words
from pytest_gbs.model.limits import DEEPEST_BRACKETS, LARGEST_PRODUCT
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final, NamedTuple

_TIMES: Final = ("x", "*")
_DIVIDED: Final = ("/", "//")
OPERATORS: Final = (*_TIMES, *_DIVIDED)
_LONG_NAME: Final = 6  # words of a name
# A plain "batch size" among factors is that of one device.
_PLAIN_BATCH: Final = words("batch bs bsz batchsize")
_shape: Final = Notation(HARDWARE, UNIT=UNITS, STEP=STEPS)
# Behind a number that is that of one device: `8 samples per GPU per step * 8 GPUs`.
_ONE_DEVICE: Final = _shape("/|per gpu|device|rank|card|npu|accelerator|worker|process|replica")
_SHARE: Final = _shape("UNIT? /|per gpu|device|rank|card|npu|accelerator|worker|process|replica")
_PER_STEP: Final = _shape("per STEP")
# Remarks behind a number: `16 GPUs (2 nodes)`, `32 (prompts)`, `1 (sft_batch_size)`.
_NODES_REMARK: Final = _shape("( NUMBER NODE )")
_REMARK: Final = _shape("( WORD* )")


class StatedOperand(NamedTuple):
    """One factor of a product: its number (None if it is only named), its name ("" if it has none), and the number's token.

    `unit` is the first word behind the number that is not one of our names: `64 samples`.
    """

    value: int | None
    name: str
    at: int
    unit: str = ""


class Product(NamedTuple):
    """Operands multiplied, and those divided by, from token `first` to `stop` (excluded).

    `value` is what it really gives, None if it is not a whole number or an operand has no number.
    """

    first: int
    stop: int
    factors: tuple[StatedOperand, ...]
    divisors: tuple[StatedOperand, ...]
    value: int | None

    @property
    def operands(self) -> tuple[StatedOperand, ...]:
        """All operands, factors first."""
        return self.factors + self.divisors


_Ratio = tuple[int, int]


class _Part(NamedTuple):
    stop: int
    factors: tuple[StatedOperand, ...]
    divisors: tuple[StatedOperand, ...]
    value: _Ratio | None  # numerator and denominator without a common divisor


def products(tokens: Tokens, taken: Collection[int] = ()) -> tuple[Product, ...]:
    """The products of at least two operands that the tokens write out, in order, the longest from each place on.

    None starts at a token that is `taken`: a word of the batch's own name.
    """
    found: list[Product] = []
    i = 0
    while i < len(tokens):
        part = _product(tokens, i, 0) if i not in taken and _may_start(tokens, i) else None
        if part is not None and len(part.factors) + len(part.divisors) > 1:
            whole = part.value[0] if part.value is not None and part.value[1] == 1 else None
            found.append(Product(i, part.stop, part.factors, part.divisors, whole))
            i = part.stop
        else:
            i = part.stop if part is not None and part.factors[0].value is None else i + 1
    return tuple(found)


def _may_start(tokens: Tokens, i: int) -> bool:
    token = tokens[i]
    if token.kind == NUMBER:
        return not _is_named_by_an_unread_factor(tokens, i)
    if token.text == "(" or token.text in _PLAIN_BATCH:
        return True
    return token.kind == WORD and name_at(tokens, i) is not None


def _is_named_by_an_unread_factor(tokens: Tokens, i: int) -> bool:
    """Whether token `i` is the number of a factor behind others, called what is not known: the 8 of `16 x images=8 x 2 ranks`."""
    first = i - (text_at(tokens, i - 1) == "=" and tokens[i - 1].stop == tokens[i].start)
    name = first
    while name > max(0, first - _LONG_NAME) and tokens[name - 1].kind == WORD and tokens[name - 1].text not in _TIMES:
        name -= 1
    return 1 < name < first and tokens[name - 1].text in _TIMES and tokens[name - 2].kind == NUMBER


def _product(tokens: Tokens, i: int, depth: int) -> _Part | None:
    # Behind a sign whose left side could not be read, an equals sign starts the result.
    part = _operand(tokens, i, depth, depth > 0 or text_at(tokens, i - 1) not in OPERATORS)
    while part is not None and part.stop < len(tokens) - 1 and tokens[part.stop].text in OPERATORS:
        # Behind names without numbers an equals sign starts the numbers (`micro * accum * dp = 4 * 8 * 16`), behind numbers
        # without names it starts the result (`512 * sequence_length = 1M tokens`).
        binds = all(operand.value is not None and operand.name for operand in (*part.factors, *part.divisors))
        # Less than its factors give is not a result: `4 x 8 x accum=2 -> 64`.
        least = 0 if part.divisors else prod(operand.value or 1 for operand in part.factors)
        right = _operand(tokens, part.stop + 1, depth, binds, least)
        if right is None:
            break
        part = _combined(part, right, tokens[part.stop].text)
    return part


def _combined(left: _Part, right: _Part, sign: str) -> _Part:
    value: _Ratio | None = None
    if sign in _TIMES:
        if left.value is not None and right.value is not None:
            value = _reduced(left.value[0] * right.value[0], left.value[1] * right.value[1])
        return _Part(right.stop, left.factors + right.factors, left.divisors + right.divisors, value)
    if left.value is not None and right.value is not None and right.value[0]:
        value = _reduced(left.value[0] * right.value[1], left.value[1] * right.value[0])
        value = (value[0] // value[1], 1) if sign == "//" and value is not None else value
    return _Part(right.stop, left.factors + right.divisors, left.divisors + right.factors, value)


def _reduced(numerator: int, denominator: int) -> _Ratio | None:
    """The ratio in lowest terms; None if it is beyond what any batch is."""
    if max(numerator, denominator) > LARGEST_PRODUCT:
        return None
    common = gcd(numerator, denominator)
    return numerator // common, denominator // common


def _operand(tokens: Tokens, i: int, depth: int, binds: bool, least: int = 0) -> _Part | None:
    """One operand: a number with or without a name before or behind it, a name alone, or a product in brackets.

    A number behind a name and an equals sign is the name's if it `binds` or is less than the `least` that the product gives.
    """
    if i >= len(tokens):
        return None
    if tokens[i].text == "(":
        inner = _product(tokens, i + 1, depth + 1) if depth < DEEPEST_BRACKETS else None
        return inner._replace(stop=inner.stop + 1) if inner is not None and text_at(tokens, inner.stop) == ")" else None
    return _counted(tokens, i) if tokens[i].kind == NUMBER else _named(tokens, i, binds, least)


def _counted(tokens: Tokens, i: int) -> _Part | None:
    found = count_at(tokens, i)
    if found is None:
        return None
    machines = machines_at(tokens, i)
    if machines:
        factors = tuple(StatedOperand(each.value, each.name, each.at) for each in machines)
        return _Part(machines[-1].stop, factors, (), (prod(each.value for each in machines), 1))
    name, stop, unit = _behind(tokens, i + 1)
    if name == Name.MICRO_BATCH_SIZE:
        stop = _past(_PER_STEP, tokens, stop)
    remark = _NODES_REMARK if name == Name.WORLD_SIZE and _NODES_REMARK.at(tokens, stop) else _REMARK
    stop = _past(remark, tokens, stop)
    return _Part(stop, (StatedOperand(found.value, name, i, unit),), (), (found.value, 1))


def _past(shape: Shape, tokens: Tokens, i: int) -> int:
    """Where `shape` ends if it is at token `i`, else `i`."""
    found = shape.at(tokens, i)
    return i if found is None else found.stop


def _behind(tokens: Tokens, i: int) -> tuple[str, int, str]:
    """The name behind a number (`8 GPUs`, `16 dp`, `4 (per device)`), where it ends, and the word that is not one of our names."""
    chips = devices_at(tokens, i) if text_at(tokens, i) in _TIMES else None
    if chips is not None and text_at(tokens, chips) not in NODES:
        return Name.WORLD_SIZE, chips, ""  # `8 x H100`
    if text_at(tokens, i) == "x" and tokens[i - 1].stop == tokens[i].start and text_at(tokens, i + 1):
        times, stop = _name(tokens, i + 1)
        if times == Name.GRADIENT_ACCUMULATION_STEPS and tokens[i].stop < tokens[i + 1].start:
            return times, stop, ""  # `2x accumulation`
    share = _SHARE.at(tokens, i)
    if share is not None:
        return Name.MICRO_BATCH_SIZE, share.stop, ""
    bracket = text_at(tokens, i) == "(" and i + 1 < len(tokens) and tokens[i + 1].kind == WORD
    name, stop = _name(tokens, i + bracket)
    if text_at(tokens, i) == "tokens" and text_at(tokens, i + 1) in ("=", "->", *_TIMES):
        return Name.SEQUENCE_LENGTH, i + 1, ""  # `64 x 4096 tokens = 256k`
    if text_at(tokens, i) in UNITS and stop <= i + 1:
        name, stop = "", i
    if name == Name.WORLD_SIZE and text_at(tokens, stop) == "/" and text_at(tokens, stop + 1) in NODES:
        return Name.GPUS_PER_NODE, stop + 2, ""
    if name == Name.WORLD_SIZE and is_chip(text_at(tokens, i)) and text_at(tokens, stop) in NODES:
        return Name.NUM_NODES, stop + 1, ""  # `5 H100 nodes`
    if name and (not bracket or text_at(tokens, stop) == ")"):
        return name, stop + bracket, ""
    return "", i, tokens[i].text if i < len(tokens) and tokens[i].kind == WORD else ""


def _name(tokens: Tokens, i: int) -> tuple[str, int]:
    """The size that the words from token `i` on name in a formula, and where they end; "" if they name none."""
    named = name_at(tokens, i)
    if named is not None:
        return named.name, named.stop
    if text_at(tokens, i) in _PLAIN_BATCH:
        return Name.MICRO_BATCH_SIZE, i + 1 + (text_at(tokens, i + 1) == "size")
    return "", i


def _named(tokens: Tokens, i: int, binds: bool, least: int) -> _Part | None:
    """A name with its number (`grad_accum=4`, `dp_size(64)`, `dp8`), or alone."""
    name, stop = _name(tokens, i)
    if not name:
        return None
    bracket = text_at(tokens, stop) == "("
    # `8 * accum=2 = 16`: of two equals signs the first one is the name's.
    behind = count_at(tokens, stop + 1) if text_at(tokens, stop) == "=" else None
    its_own = behind is not None and (behind.value < least or text_at(tokens, stop + 2) == "=")
    equated = (binds and text_at(tokens, stop) in ("=", ":", "of")) or its_own
    at = stop + (bracket or equated)
    found = count_at(tokens, at)
    is_result = equated and text_at(tokens, at + 1) in UNITS
    if found is None or is_result or (bracket and text_at(tokens, at + 1) != ")"):
        return _Part(stop, (StatedOperand(None, name, i),), (), None)
    stop = at + 1 + bracket
    again = name_at(tokens, stop)
    if again is not None and again.name == name:
        stop = again.stop  # `batch size of 3 per GPU`
    elif name == Name.MICRO_BATCH_SIZE:
        stop = _past(_ONE_DEVICE, tokens, stop)  # `batch 15/GPU`
    return _Part(stop, (StatedOperand(found.value, name, at),), (), (found.value, 1))
