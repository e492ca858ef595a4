"""Whether arithmetic gives a batch, or something else: GPUs, steps, hours, another size."""

from __future__ import annotations

from typing import Final

from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._arithmetic import Product
from pytest_gbs.declarations._batch import labels
from pytest_gbs.declarations._formula import Formula, Result
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._owner import is_accumulation, is_batch, is_global_batch
from pytest_gbs.declarations._sizes import EXPERTS
from pytest_gbs.declarations._statements import Statement

RANKS: Final = (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE, Name.DATA_PARALLEL_SIZE)
PARALLEL: Final = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE)
OPERATORS: Final = ("x", "*", "/", "//")
_CALLED: Final = ("batch", "size", "gbs", "global", "effective")
_UNCOUNTED: Final = frozenset("samples sample epoch epochs steps step hours days experts layers rows layer heads mib gib gb s".split())


def is_batch_formula(block: CommentBlock, statement: Statement, formula: Formula) -> bool:
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
    if not divided <= {*PARALLEL, EXPERTS}:
        return False
    ranks = bool(names & set(RANKS))
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
    return before in (*OPERATORS, "+") or behind in (*OPERATORS, "+")


def _is_called(statement: Statement, results: tuple[Result, ...]) -> bool:
    """Return whether a result is called the batch, in front or behind: `-> effective batch 32`, `= 128 global batch size`."""
    tokens = statement.tokens
    if any(result.at > 0 and tokens[result.at - 1].text in _CALLED for result in results):
        return True
    behind = {result.at + 1 for result in results}
    return bool(behind) and any(label.first in behind for label in labels(statement.text, tokens))


def _follows_hardware(statement: Statement, formula: Formula) -> bool:
    """Return whether the arithmetic stands behind hardware that is one of its factors: `64 GPUs: 64 * 1 * 2 = 128`."""
    if formula.product.first == 0 or statement.tokens[formula.product.first - 1].text != ":" or len(formula.product.factors) < 3:
        return False
    counts = {stated.value for stated in hardware(statement.tokens) if stated.stop == formula.product.first - 1}
    return any(operand.value in counts for operand in formula.product.factors)
