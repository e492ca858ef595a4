"""Arithmetic that gives a batch: `8 nodes x 8 GPUs x 1 x 2 = 128`, `8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.core.declaration import Declaration, Factor, Grammar, Interval, Sum
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._arithmetic import Operand, Product, products
from pytest_gbs.declarations._batch import labels
from pytest_gbs.declarations._candidate import multiplies
from pytest_gbs.declarations._claim import claim
from pytest_gbs.declarations._formula import Formula, Result, formulas
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._meaning import OPERATORS, PARALLEL, RANKS, is_batch_formula
from pytest_gbs.declarations._sizes import EXPERTS, count_at
from pytest_gbs.declarations._statements import Statement, place, statements
from pytest_gbs.declarations._tokens import SIGN
from pytest_gbs.declarations.words import Numeral


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the batches that `block` works out."""
    found: list[Declaration] = []
    if not multiplies(block.text.lower()):
        return ()
    for statement in statements(block.text):
        if multiplies(statement.lower) and any(token.kind == SIGN and token.text in OPERATORS for token in statement.tokens):
            found.extend(_read(block, source, statement))
    return tuple(found)


def _read(block: CommentBlock, source: str, statement: Statement) -> Iterator[Declaration]:
    tokens = statement.tokens
    called = labels(statement.text, tokens)
    taken = {i for label in called for i in range(label.first, label.stop)}
    for formula in formulas(tokens, products(tokens, taken), called):
        formula = formula._replace(product=_on_nodes(statement, formula.product))
        if not is_batch_formula(block, statement, formula):
            continue
        result = next((each for each in formula.results if each.unit in ("", "samples", "prompts", "completions", "pairs")), None)
        tokens_result = next((each for each in formula.results if each.unit == "tokens"), None)
        if result is not None or not formula.results:
            yield from _claimed(block, source, statement, formula, result)
        if tokens_result is not None:
            for found in _claimed(block, source, statement, formula, tokens_result):
                yield found if result is None else found._replace(sum=None)


def _on_nodes(statement: Statement, product: Product) -> Product:
    """Return `product` with "8 GPUs" beside a number of nodes read as GPUs per node, and `4x8 H100` as nodes and GPUs on each."""
    read = {stated.at: stated.name for stated in hardware(statement.tokens) if stated.name != Name.WORLD_SIZE}
    factors = [o._replace(name=read[o.at]) if o.at in read and o.name in ("", Name.WORLD_SIZE) else o for o in product.factors]
    if any(operand.name == Name.NUM_NODES for operand in factors):
        factors = [o._replace(name=Name.GPUS_PER_NODE) if o.name == Name.WORLD_SIZE else o for o in factors]
    return product._replace(factors=tuple(factors))


def _claimed(block: CommentBlock, source: str, statement: Statement, formula: Formula, result: Result | None) -> Iterator[Declaration]:
    tokens, product = statement.tokens, formula.product
    name = Name.TOKENS_PER_STEP if result and result.unit == "tokens" else formula.label.name if formula.label else Name.GLOBAL_BATCH_SIZE
    counted = product.operands if name == Name.TOKENS_PER_STEP else tuple(o for o in product.operands if o.name != Name.SEQUENCE_LENGTH)
    value = _value(product, counted)
    number = count_at(tokens, result.at) if result else Numeral(value, (Interval(value, value),)) if value else None
    if number is None:
        return
    at = result.at if result else next(o.at for o in counted if o.value is not None)
    # A remark such as `GBS 128 (2 nodes x 8 GPUs)` need not be the whole arithmetic; with an equals sign it is.
    whole = result is None or formula.equated or value is None or any(value in interval for interval in number.holds)
    named = [o for o in counted if o.value is not None and o.name in (*RANKS, *PARALLEL, *(() if whole else _SETTINGS))]
    known = {operand.name for operand in counted if operand.name}
    found = claim(block, source, statement, at, name, number, GRAMMAR.name, result.unit if result else "", known)
    found = found._replace(
        conditions=(*found.conditions, *((o.name, o.value or 0) for o in named)),
        condition_places=(*found.condition_places, *(place(block, source, tokens[o.at]) for o in named)),
        ambiguous=found.ambiguous and Name.WORLD_SIZE not in known,
    )
    where = block.locate(source, tokens[product.first].start, tokens[product.stop - 1].stop)
    if result is None:
        found = found._replace(at=where)
    if any(operand.value is None for operand in counted) or not whole:
        yield found
        return
    factors = tuple(_factor(block, source, statement, operand) for operand in product.factors if operand in counted)
    divisors = tuple(_factor(block, source, statement, operand) for operand in product.divisors if operand in counted)
    yield found._replace(sum=Sum(factors, divisors, number.value, number.holds, value, where))


_SETTINGS = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)


def _value(product: Product, counted: tuple[Operand, ...]) -> int | None:
    """Return what the arithmetic gives without its sequence length, where that is left out."""
    if len(counted) == len(product.operands) or product.divisors:
        return product.value
    numbers = [operand.value for operand in counted]
    return None if any(value is None for value in numbers) else prod(value for value in numbers if value is not None)


def _factor(block: CommentBlock, source: str, statement: Statement, operand: Operand) -> Factor:
    name = "" if operand.name == EXPERTS else operand.name
    return Factor(operand.value or 0, name, place(block, source, statement.tokens[operand.at]))


GRAMMAR = Grammar(
    name="product",
    summary="arithmetic that gives a batch",
    examples=(
        "GBS = 8 x 16 x 1 = 128",
        "8 nodes x 8 GPUs x 1 x 2 = 128",
        "Effective batch-size is 128=16x(1)x8",
        "8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32",
        "batch_accumulation_per_replica * micro_batch_size * dp = 4 * 8 * 16 = 512",
        "GBS = 8*2*32*sequence_length = 512*sequence_length = 1M tokens",
    ),
    hint=("batch", "gpu", "node", "gbs", "accum", "global", "tok", "dp", "*", "×", " x "),
    read=read,
)
