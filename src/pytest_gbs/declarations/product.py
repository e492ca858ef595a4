"""Arithmetic that gives a batch: `8 nodes x 8 GPUs x 1 x 2 = 128`, `8 GPUs * micro_batch=1 * grad_accum=4 -> effective batch 32`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from pytest_gbs.core.declaration import Declaration, Factor, Grammar, Interval, Sum
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._arithmetic import Operand, Product, products
from pytest_gbs.declarations._batch import labels
from pytest_gbs.declarations._candidate import multiplies
from pytest_gbs.declarations._claim import claim
from pytest_gbs.declarations._formula import Formula, Result, formulas
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._owner import is_accumulation, is_batch, is_global_batch
from pytest_gbs.declarations._sizes import EXPERTS, count_at
from pytest_gbs.declarations._statements import Statement, place, statements
from pytest_gbs.declarations._tokens import SIGN
from pytest_gbs.declarations.words import Numeral

_OPERATORS: Final = ("x", "*", "/", "//")
_RANKS: Final = (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE, Name.DATA_PARALLEL_SIZE)
_PARALLEL: Final = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE)


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the batches that `block` works out."""
    found: list[Declaration] = []
    if not multiplies(block.text.lower()):
        return ()
    for statement in statements(block.text):
        if multiplies(statement.lower) and any(token.kind == SIGN and token.text in _OPERATORS for token in statement.tokens):
            found.extend(_read(block, source, statement))
    return tuple(found)


def _read(block: CommentBlock, source: str, statement: Statement) -> Iterator[Declaration]:
    tokens = statement.tokens
    called = labels(statement.text, tokens)
    taken = {i for label in called for i in range(label.first, label.stop)}
    for formula in formulas(tokens, products(tokens, taken), called):
        formula = formula._replace(product=_on_nodes(formula.product))
        if not _is_batch(block, statement, formula):
            continue
        result = next((each for each in formula.results if each.unit in ("", "samples", "prompts", "completions", "pairs")), None)
        tokens_result = next((each for each in formula.results if each.unit == "tokens"), None)
        if result is not None or not formula.results:
            yield from _claimed(block, source, statement, formula, result)
        if tokens_result is not None:
            for found in _claimed(block, source, statement, formula, tokens_result):
                yield found if result is None else found._replace(sum=None)


def _on_nodes(product: Product) -> Product:
    """Return `product` with "8 GPUs" beside a number of nodes read as GPUs per node."""
    if not any(operand.name == Name.NUM_NODES for operand in product.factors):
        return product
    factors = (o._replace(name=Name.GPUS_PER_NODE) if o.name == Name.WORLD_SIZE else o for o in product.factors)
    return product._replace(factors=tuple(factors))


def _is_batch(block: CommentBlock, statement: Statement, formula: Formula) -> bool:
    """Return whether the arithmetic gives a batch, by its label, its result, its factors, or the key it stands behind."""
    names, results = formula.names, formula.results
    if _is_part(statement, formula.product):
        return False
    if any(result.unit.startswith("?") for result in results) or any(o.unit in _UNCOUNTED for o in formula.product.operands):
        return False
    if formula.label is not None:
        return True
    if _is_called(statement, results):
        return True
    divided = {operand.name for operand in formula.product.divisors}
    if not divided <= {*_PARALLEL, EXPERTS}:
        return False
    ranks = bool(names & set(_RANKS))
    sizes = (Name.MICRO_BATCH_SIZE in names) + (Name.GRADIENT_ACCUMULATION_STEPS in names)
    if is_global_batch(block.owner) and block.placement == "trailing" and not results:
        return ranks or sizes > 0
    if not results:
        return False
    beside = block.placement == "trailing" and (is_global_batch(block.owner) or is_accumulation(block.owner))
    if sizes + ranks > 1 or (beside and not divided and results[0].unit in ("", "samples")):
        return True
    unnamed = sum(not operand.name for operand in formula.product.factors)
    if ranks and unnamed >= (1 if {Name.NUM_NODES, Name.GPUS_PER_NODE} <= names or is_batch(block.owner) else 2):
        return True
    return _follows_hardware(statement, formula) or (is_batch(block.owner) and results[0].unit == "tokens")


def _is_part(statement: Statement, product: Product) -> bool:
    """Return whether the arithmetic goes on where it could not be read: `num_steps * micro * accum`."""
    tokens = statement.tokens
    before = tokens[product.first - 1].text if product.first else ""
    behind = tokens[product.stop].text if product.stop < len(tokens) else ""
    return before in (*_OPERATORS, "+") or behind in (*_OPERATORS, "+")


_UNCOUNTED: Final = frozenset(("samples", "sample", "epoch", "epochs", "steps", "step", "hours", "days", "experts", "layers", "rows", "layer", "heads", "mib", "gib", "gb", "s"))


def _is_called(statement: Statement, results: tuple[Result, ...]) -> bool:
    """Return whether a result is called the batch, in front or behind: `-> effective batch 32`, `= 128 global batch size`."""
    tokens = statement.tokens
    if any(result.at > 0 and tokens[result.at - 1].text in _CALLED for result in results):
        return True
    behind = {result.at + 1 for result in results}
    return bool(behind) and any(label.first in behind for label in labels(statement.text, tokens))


_CALLED: Final = ("batch", "size", "gbs", "global", "effective")


def _follows_hardware(statement: Statement, formula: Formula) -> bool:
    """Return whether the arithmetic stands behind hardware that is one of its factors: `64 GPUs: 64 * 1 * 2 = 128`."""
    if formula.product.first == 0 or statement.tokens[formula.product.first - 1].text != ":" or len(formula.product.factors) < 3:
        return False
    counts = {stated.value for stated in hardware(statement.tokens) if stated.stop == formula.product.first - 1}
    return any(operand.value in counts for operand in formula.product.factors)


def _claimed(block: CommentBlock, source: str, statement: Statement, formula: Formula, result: Result | None) -> Iterator[Declaration]:
    tokens, product = statement.tokens, formula.product
    name = Name.TOKENS_PER_STEP if result and result.unit == "tokens" else formula.label.name if formula.label else Name.GLOBAL_BATCH_SIZE
    counted = product.operands if name == Name.TOKENS_PER_STEP else tuple(o for o in product.operands if o.name != Name.SEQUENCE_LENGTH)
    value = _value(product, counted)
    number = count_at(tokens, result.at) if result else Numeral(value, (Interval(value, value),)) if value else None
    if number is None:
        return
    at = result.at if result else next(o.at for o in counted if o.value is not None)
    known = {operand.name for operand in counted if operand.name}
    found = claim(block, source, statement, at, name, number, GRAMMAR.name, result.unit if result else "", known)
    conditions = [(o.name, o.value, place(block, source, tokens[o.at])) for o in counted if o.name in (*_RANKS, *_PARALLEL) and o.value is not None]
    found = found._replace(
        conditions=(*found.conditions, *((each, count) for each, count, _ in conditions)),
        condition_places=(*found.condition_places, *(where for _, _, where in conditions)),
        ambiguous=found.ambiguous and Name.WORLD_SIZE not in known,
    )
    whole = block.locate(source, tokens[product.first].start, tokens[product.stop - 1].stop)
    if result is None:
        found = found._replace(at=whole)
    if any(operand.value is None for operand in counted):
        yield found
        return
    factors = tuple(_factor(block, source, statement, operand) for operand in product.factors if operand in counted)
    divisors = tuple(_factor(block, source, statement, operand) for operand in product.divisors if operand in counted)
    yield found._replace(sum=Sum(factors, divisors, number.value, number.holds, value, whole))


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
    hint=("batch", "gpu", "node", "gbs", "accum", "global", "tok", "dp"),
    read=read,
)
