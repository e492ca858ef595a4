"""Claims from arithmetic: its result, its factors as they are called, and the hardware among them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from pytest_gbs.claims.grammars._arithmetic import Product, StatedOperand, products
from pytest_gbs.claims.grammars._batch import labels
from pytest_gbs.claims.grammars._claim import claim, is_of_a_named_run
from pytest_gbs.claims.grammars._formula import Result, StatedFormula, formulas
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._hardware_words import number_at
from pytest_gbs.claims.grammars._meaning import is_batch_formula
from pytest_gbs.claims.grammars._owner import is_accumulation, is_batch
from pytest_gbs.claims.grammars._plain_batch import plain_labels
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at, name_at
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens, text_at
from pytest_gbs.claims.grammars.words import Numeral
from pytest_gbs.model.declaration import Declaration, Factor, Force, Interval, StatedArithmetic
from pytest_gbs.model.limits import LARGEST_PRODUCT
from pytest_gbs.model.quantity import PARALLEL, RANK_FACTORS, RANKS, Name
from pytest_gbs.model.record import Final

_GRAMMAR: Final = "product"
_CONDITIONS: Final = frozenset((*RANKS, *PARALLEL))
_FAR: Final = 16  # so many words in front of arithmetic may be its names, and so many numbers around it its factors
_LENGTHY: Final = 512  # so many GPUs or samples of one device are few recipes', so many tokens of a sequence most
_ROUND: Final = 64  # lengths of sequences are a multiple of it
_JOINS: Final = Notation()("&TIGHT =")
_WHOLE: Final = frozenset((*RANK_FACTORS, Name.WORLD_SIZE))


def worked_out(passage: Passage) -> Iterator[Declaration]:
    """Yield the batches that a statement works out."""
    tokens = passage.tokens
    called = tuple(sorted((*labels(passage.statement.text, tokens), *plain_labels(tokens, beside_batch=is_batch(passage.block.owner)))))
    taken = {i for label in called for i in range(label.first, label.stop)}
    every = (product for product in products(tokens, taken) if not _lists_settings(tokens, product))
    written = tuple(product for product in every if not is_of_a_named_run(passage, product.first))
    yield from filter(None, (_divided(passage, product, written) for product in written))
    for found in formulas(tokens, written, called):
        formula = found._replace(product=_on_nodes(passage, _of_each_gpu(passage, found.product)))
        # What is divided by the micro batch or the accumulation is the other of them.
        if not is_batch_formula(passage, formula) or any(operand.name in RANK_FACTORS for operand in formula.product.divisors):
            continue
        guessed = _may_be_lengthy(formula) and Force.STATES
        formula = _counting_tokens(passage, formula)
        samples = next((result for result in formula.results if result.unit != "tokens"), None)
        total = next((result for result in formula.results if result.unit == "tokens"), None)
        claims: list[Declaration] = []
        if samples is not None or total is None:
            claims.extend(_claimed(passage, formula, samples))
            claims.extend(each for result in formula.denied for each in _claimed(passage, formula._replace(equated=True), result))
        if total is not None:
            # The arithmetic is that of the first result.
            claims.extend(each if samples is None else each._replace(sum=None) for each in _claimed(passage, formula, total))
        yield from (each._replace(force=Force.CONFIRMS) if each.force == guessed else each for each in claims)


def _may_be_lengthy(formula: StatedFormula) -> bool:
    """Whether arithmetic that does not say what it counts has a factor that may be the sequence length: `8 x 16 x 2048 = 262144`."""
    if formula.product.divisors or any(result.unit for result in formula.results):
        return False
    unnamed = (operand.value or 0 for operand in formula.product.factors if not operand.name and not operand.unit)
    return any(value >= _LENGTHY and value % _ROUND == 0 for value in unnamed)


def _counting_tokens(passage: Passage, formula: StatedFormula) -> StatedFormula:
    """`formula` with a result that is right with the sequence length counted in tokens: `12 batch size * 1024 seq * 8 GPUs = 98,304`.

    Where the length is called so, a wrong result that is nearer to the tokens than to the samples counts them too.
    """
    product, value = formula.product, formula.product.value
    lengths = [operand for operand in product.factors if operand.name == Name.SEQUENCE_LENGTH and operand.value not in (None, 1)]
    if value is None or not (lengths or _may_be_lengthy(formula)):
        return formula
    numbers = ((result, count_at(passage.tokens, result.at)) for result in formula.results if not result.unit)
    near = value * value // prod(operand.value or 1 for operand in lengths)
    tokens = {
        result
        for result, number in numbers
        if number and (any(value in interval for interval in number.holds) or (lengths and number.value**2 > near))
    }
    return formula._replace(results=tuple(each._replace(unit="tokens") if each in tokens else each for each in formula.results))


def _lists_settings(tokens: Tokens, product: Product) -> bool:
    """Whether a product only joins settings: `GBS=256 x seq=16384` says two numbers, and neither is the result of the other."""
    alone = product.operands[-1].value is None
    return alone and all(_JOINS.at(tokens, i) for i in (product.first - 1, product.stop))


def _divided(passage: Passage, product: Product, written: Sequence[Product]) -> Declaration | None:
    """The batch of which an accumulation is worked out: `GA = 8192 / (32*4) = 64`; None unless all operands have numbers."""
    batch, at = product.factors[0], product.stop + 1
    result = count_at(passage.tokens, at) if text_at(passage.tokens, product.stop) == "=" else None
    named = batch.name == Name.GRADIENT_ACCUMULATION_STEPS and batch.at != product.first
    beside = passage.block.placement == "trailing" and is_accumulation(passage.block.owner)
    if len(product.factors) > 1 or len(product.divisors) < 2 or not (named or beside or _is_accumulation(passage, product)):
        return None
    product = _called_in_front(product, written)
    number = count_at(passage.tokens, batch.at)
    if result is None or number is None or any(divisor.value is None for divisor in product.divisors):
        return None
    accumulation = StatedOperand(result.value, Name.GRADIENT_ACCUMULATION_STEPS, at)
    operands = [*product.divisors, accumulation._replace(name="")]
    value = prod(operand.value or 0 for operand in operands)
    if value > LARGEST_PRODUCT:
        return None
    named_ranks = [operand for operand in product.divisors if operand.name in _CONDITIONS]
    known = {operand.name for operand in (*operands, accumulation) if operand.name}
    found = claim(passage, batch.at, Name.GLOBAL_BATCH_SIZE, number, grammar=_GRAMMAR, known=known)
    found = _with_conditions(passage, found, [*named_ranks, accumulation])
    factors = tuple(_factor(passage, operand) for operand in operands)
    where = passage.span(product.first, at + 1)
    return found._replace(sum=StatedArithmetic(factors, (), number.value, number.holds, value, where))


def _called_in_front(product: Product, written: Sequence[Product]) -> Product:
    """`product` with its divisors called as in the names in front of it: `GBS / (world*lbs) = 8192 / (32*4)`."""
    names = next((each for each in written if each.stop == product.first - 1), None)
    called = (names.divisors or names.factors) if names is not None else ()
    if len(called) != len(product.divisors) or any(operand.value is not None for operand in called):
        return product
    divisors = zip(called, product.divisors, strict=True)
    return product._replace(divisors=tuple(divisor._replace(name=divisor.name or name.name) for name, divisor in divisors))


def _is_accumulation(passage: Passage, product: Product) -> bool:
    """Whether numbers are behind the accumulation and a formula of names: `GA = GBS / (world*lbs) = 8192 / (32*4) = 64`."""
    tokens, first = passage.tokens, product.first
    if product.factors[0].name or text_at(tokens, first - 1) != "=":
        return False
    start = next((i for i in range(first - 2, max(-1, first - _FAR), -1) if tokens[i].text == "="), 0)
    named = next((named for i in range(max(0, start - 3), start) if (named := name_at(tokens, i)) and named.stop == start), None)
    without_number = all(token.kind != NUMBER for token in tokens[start : first - 1])
    return named is not None and named.name == Name.GRADIENT_ACCUMULATION_STEPS and without_number


def _on_nodes(passage: Passage, product: Product) -> Product:
    """`product` with "8 GPUs" beside a number of nodes read as GPUs per node, and `4x8 H100` as nodes and GPUs on each."""
    read = {stated.at: stated.name for stated in hardware(passage.tokens) if stated.name != Name.WORLD_SIZE}
    factors = [o._replace(name=read[o.at]) if o.at in read and o.name in ("", Name.WORLD_SIZE) else o for o in product.factors]
    if any(operand.name == Name.NUM_NODES for operand in factors):
        factors = [o._replace(name=Name.GPUS_PER_NODE) if o.name == Name.WORLD_SIZE else o for o in factors]
    return product._replace(factors=tuple(factors))


def _of_each_gpu(passage: Passage, product: Product) -> Product:
    """`product` with its factors called what they are behind the key of a batch: `8 GPUs, 8 * 4 = 32`, GPUs and the batch of each."""
    before, plain = product.first - 1, len(product.operands) == 2 and not any(operand.name for operand in product.factors)
    if passage.block.placement != "trailing" or not is_batch(passage.block.owner) or is_accumulation(passage.block.owner):
        return product
    gpus = {each.value for each in hardware(passage.tokens) if each.stop == before and each.name == Name.WORLD_SIZE}
    if text_at(passage.tokens, before) not in (",", ":") or not plain or product.divisors or product.factors[0].value not in gpus:
        return product
    called = zip(product.factors, (Name.WORLD_SIZE, Name.MICRO_BATCH_SIZE), strict=True)
    return product._replace(factors=tuple(operand._replace(name=name) for operand, name in called))


def _claimed(passage: Passage, formula: StatedFormula, result: Result | None) -> Iterator[Declaration]:
    """Yield the claim that the arithmetic gives `result`; without one, what it gives is what is claimed."""
    product, name = formula.product, _name(formula, result)
    counted = [o for o in product.operands if name == Name.TOKENS_PER_STEP or o.name != Name.SEQUENCE_LENGTH]
    value = _value(product, counted)
    number = count_at(passage.tokens, result.at) if result else Numeral(value, (Interval(value, value),)) if value else None
    if number is None:
        return
    at = result.at if result else next(o.at for o in counted if o.value is not None)
    # A remark such as `GBS 128 (2 nodes x 8 GPUs)` need not be the whole arithmetic; with an equals sign it is.
    complete = len(product.factors) > 2 and not product.divisors and (not formula.names or formula.names >= _WHOLE)
    whole = formula.equated or complete or value is None or any(value in interval for interval in number.holds)
    known = {operand.name for operand in counted if operand.name}
    found = claim(passage, at, name, number, grammar=_GRAMMAR, unit=result.unit if result else "", known=known)
    found = _with_conditions(passage, found, [o for o in counted if o.name in (_CONDITIONS if whole else _CONDITIONS.union(RANK_FACTORS))])
    where = passage.span(product.first, product.stop)
    if result is None:
        found = found._replace(at=where)
    if whole and all(operand.value is not None for operand in counted) and not _is_part_of_more(passage, value, number):
        factors = tuple(_factor(passage, operand) for operand in product.factors if operand in counted)
        divisors = tuple(_factor(passage, operand) for operand in product.divisors if operand in counted)
        found = found._replace(sum=StatedArithmetic(factors, divisors, number.value, number.holds, value, where))
    yield found


def _is_part_of_more(passage: Passage, value: int | None, number: Numeral) -> bool:
    """Whether arithmetic that does not give its result is a part of what does: `3 nodes (8 GPUs each) * 2 * 4 accumulation = 192`."""
    if value is None or any(value in interval for interval in number.holds):
        return False
    found = (number_at(passage.tokens, i) for i in range(len(passage.tokens)))
    factors = [each for each in found if each not in (None, number.value)]
    return len(factors) <= _FAR and prod(factors) == number.value


def _name(formula: StatedFormula, result: Result | None) -> str:
    if result is not None and result.unit == "tokens":
        return Name.TOKENS_PER_STEP
    return formula.label.name if formula.label else Name.GLOBAL_BATCH_SIZE


def _with_conditions(passage: Passage, found: Declaration, named: list[StatedOperand]) -> Declaration:
    """`found` with the named factors as conditions, in place of what else their numbers may be; GPUs that are a factor are those in all."""
    stated = [(o.name, o.value, passage.place(o.at)) for o in named if o.value is not None]
    factors = {where for _, _, where in stated}
    others = [each for each in zip(found.conditions, found.condition_places, strict=True) if each[1] not in factors]
    return found._replace(
        conditions=(*(condition for condition, _ in others), *((name, value) for name, value, _ in stated)),
        condition_places=(*(where for _, where in others), *(where for _, _, where in stated)),
        ambiguous=found.ambiguous and any(name == Name.WORLD_SIZE for (name, _), _ in others),
    )


def _value(product: Product, counted: list[StatedOperand]) -> int | None:
    """What the arithmetic gives without its sequence length, where that is left out."""
    if len(counted) == len(product.operands) or product.divisors:
        return product.value
    numbers = [operand.value for operand in counted if operand.value is not None]
    value = prod(numbers)
    return value if len(numbers) == len(counted) and value <= LARGEST_PRODUCT else None


def _factor(passage: Passage, operand: StatedOperand) -> Factor:
    return Factor(operand.value or 0, "" if operand.name == Name.EXPERT_PARALLEL_SIZE else operand.name, passage.place(operand.at))
