"""Whether arithmetic gives a batch, or something else: GPUs, steps, hours, another size."""

from __future__ import annotations

from pytest_gbs.claims.grammars._arithmetic import OPERATORS, Product
from pytest_gbs.claims.grammars._batch import GLOBAL_MARKS, labels, per_device
from pytest_gbs.claims.grammars._formula import Result, StatedFormula
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._owner import is_accumulation, is_batch, is_global_batch
from pytest_gbs.claims.grammars._statements import Passage
from pytest_gbs.claims.grammars._tokens import past_bracket, text_at
from pytest_gbs.claims.grammars.words import OTHER_BATCH, PART_OF_BATCH, words
from pytest_gbs.model.quantity import PARALLEL, RANK_FACTORS, RANKS, Name
from pytest_gbs.model.record import Final

_MACHINES: Final = (Name.NUM_NODES, Name.GPUS_PER_NODE)
_DIVIDING: Final = frozenset((*PARALLEL, Name.EXPERT_PARALLEL_SIZE))
# What is multiplied with these is not a batch.
_UNCOUNTED: Final = words("samples sample epoch epochs steps step hours days experts layers rows layer heads mib gib gb s")


def is_batch_formula(passage: Passage, formula: StatedFormula) -> bool:
    """Whether the arithmetic gives a batch, by its label, its result, its factors, or the key it is behind."""
    product, results = formula.product, formula.results
    if _goes_on(passage, product) or any(operand.unit in _UNCOUNTED for operand in product.operands):
        return False
    if any(result.unit.startswith("?") for result in results):
        return False
    if all(operand.name in _MACHINES for operand in product.operands) and (
        not results or text_at(passage.tokens, product.first - 1) == ","
    ):
        return False  # `micro batch 8, accumulation 5, 4 nodes x 8 GPUs => 1280` lists what the batch is the product of
    if _is_accumulation_of_all(passage, product):
        return False
    if formula.label is not None or _is_called(passage, results) or _is_batch_of_gpus(passage, formula):
        return True
    if _is_called_otherwise(passage, product):
        return False
    if not all(operand.name in _DIVIDING for operand in product.divisors):
        return False
    if not results:
        if {Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS} <= formula.names and is_global_batch(passage.block.owner):
            return True
        beside = passage.block.placement == "trailing" and is_global_batch(passage.block.owner)
        return beside and not formula.names.isdisjoint((*RANKS, *RANK_FACTORS))
    return _by_factors(passage, formula) or _follows_hardware(passage, product)


def _is_accumulation_of_all(passage: Passage, product: Product) -> bool:
    """Whether two numbers behind the accumulation give that of all GPUs: `# per GPU (global = 4 x 8 = 32)`."""
    words_before = [text_at(passage.tokens, product.first - back) for back in (2, 1)]
    plain = len(product.operands) == 2 and not any(operand.name for operand in product.operands)
    return plain and words_before == ["global", "="] and is_accumulation(passage.block.owner)


def _by_factors(passage: Passage, formula: StatedFormula) -> bool:
    """Whether the factors of arithmetic with a result are those of a batch, or the comment is behind one."""
    owner, names = passage.block.owner, formula.names
    unit = formula.results[0].unit
    if {Name.PROMPTS_PER_ROLLOUT, Name.NUM_GENERATIONS} <= names:
        return True
    ranks = not names.isdisjoint(RANKS)
    if sum(name in names for name in RANK_FACTORS) + ranks > 1:
        return True
    if passage.block.placement == "trailing" and (is_global_batch(owner) or is_accumulation(owner)) and not formula.product.divisors:
        return True
    if is_batch(owner) and unit == "tokens" and (names or passage.block.placement == "trailing"):
        return True
    unnamed = sum(not operand.name for operand in formula.product.factors)
    enough = 1 if {Name.NUM_NODES, Name.GPUS_PER_NODE} <= names or is_batch(owner) else 2
    return ranks and unnamed >= enough


def _goes_on(passage: Passage, product: Product) -> bool:
    """Whether the arithmetic goes on where it could not be read: `num_steps * micro * accum`."""
    tokens, signs = passage.tokens, (*OPERATORS, "+")
    return text_at(tokens, product.first - 1) in signs or text_at(tokens, past_bracket(tokens, product.stop)) in signs


def _is_called_otherwise(passage: Passage, product: Product) -> bool:
    """Whether the words in front say that it is not a batch: `per GPU: 2 x 4 = 8`, `1000 steps = 128 * 1000 = 128000 samples`."""
    tokens, sign = passage.tokens, product.first - 1
    if text_at(tokens, sign) not in (":", "="):
        return False
    return per_device(tokens, sign - 2) or text_at(tokens, sign - 1) in _UNCOUNTED


def _is_called(passage: Passage, results: tuple[Result, ...]) -> bool:
    """Whether a result is called the batch, in front or behind: `-> effective batch 32`, `= 128 global batch size`."""
    if not results:
        return False
    tokens = passage.tokens
    called = labels(passage.statement.text, tokens)
    for result in results:
        if any(label.stop == result.at or label.first == result.at + 1 for label in called):
            return True
        if text_at(tokens, result.at - 1) in ("global", "effective") or text_at(tokens, result.at + 1) in GLOBAL_MARKS:
            return True
        i = result.at - 1 - (text_at(tokens, result.at - 1) == "size")
        if text_at(tokens, i) == "batch" and text_at(tokens, i - 1) not in PART_OF_BATCH | OTHER_BATCH:
            return True
    return False


def _is_batch_of_gpus(passage: Passage, formula: StatedFormula) -> bool:
    """Whether a result of GPUs and what each has is called a batch behind it: `6 x 8 gpus = 48 batch size`."""
    tokens, found = passage.tokens, (result.at + 1 for result in formula.results if not formula.names.isdisjoint(RANKS))
    return any(text_at(tokens, at) == "batch" and not per_device(tokens, at + 1 + (text_at(tokens, at + 1) == "size")) for at in found)


def _follows_hardware(passage: Passage, product: Product) -> bool:
    """Whether the arithmetic is behind hardware that is one of its factors: `64 GPUs: 64 * 1 * 2 = 128`."""
    if text_at(passage.tokens, product.first - 1) != ":" or len(product.factors) < 3:
        return False
    counts = {stated.value for stated in hardware(passage.tokens) if stated.stop == product.first - 1}
    return any(operand.value in counts for operand in product.factors)
