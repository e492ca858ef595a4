"""A statement that is false as it was read, read once more: `2 nodes, batch 4, 8 GPUs = 64`.

People write factors in any order and with few names. Where one way to read them is true of the recipe and leaves no number over,
that is what was meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import prod

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE
from pytest_gbs.claims.factors import stale_factor
from pytest_gbs.claims.grammars._hardware_words import devices_at, number_at
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import settings
from pytest_gbs.claims.grammars._statements import Passage, Statement, paragraphs, statements
from pytest_gbs.claims.grammars._tokens import Tokens, text_at
from pytest_gbs.claims.grammars.words import DEVICES, NODES, is_chip, words
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name, Quantity
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.run import Claim, Run

_LABELS: Final = NODES | {"nnodes"}
_NO_LABEL: Final = words("per each /")
# Micro batch, accumulation, nodes, GPUs and the batch, the last a few times, and a few ones.
_NUMBERS: Final = 10
_KINDS: Final = words("worker workers compute")
_shape: Final = Notation()
_TIMES_BEHIND: Final = _shape("WORD|(|)|/* x|*")
_TIMES_BEFORE: Final = _shape("x|* WORD|=|:* @")


class _Accounted(NamedTuple):
    """The hardware that a statement names, each size with its token, and the batch (token None if it doesn't say it)."""

    hardware: tuple[tuple[str, int], ...]
    batch: int | None
    total: int


def read_again(
    run: Run, claims: Iterable[Claim], own: tuple[Declaration, ...], blocks: tuple[CommentBlock, ...] = ()
) -> tuple[Declaration, ...] | None:
    """The declarations `own`, of documents or of the comments `blocks`, with those read anew whose `claims` the run contradicts.

    None if none can be read anew.

    A statement is read anew only if each of its numbers is then accounted for: micro batch and accumulation as the run has them (or
    left out where they are 1), its GPUs or its nodes and the GPUs of each, and the batch that is their product.
    """
    declarations = own
    for claim in claims:
        if _is_of_batch(claim.declaration):
            declarations = _with_one_anew(run, claim, declarations, blocks) or declarations
    return tuple(sorted(declarations, key=lambda each: each.at.start)) if declarations is not own else None


def _with_one_anew(
    run: Run, claim: Claim, declarations: tuple[Declaration, ...], blocks: tuple[CommentBlock, ...]
) -> tuple[Declaration, ...] | None:
    """`declarations` with what the statement of `claim` says when read anew, in place of all that was read in it; None if it can't be."""
    for passage in _passages(blocks, claim.declaration):
        here = passage.span(0, len(passage.tokens))
        within = [each for each in declarations if each.at.source == here.source and here.start <= each.at.start < here.stop]
        accounted = _accounted(run, passage, claim.declaration) if _is_contradicted(run, claim, within) else None
        if accounted is not None:
            return (*(each for each in declarations if each not in within), _read(claim.declaration, passage, accounted))
    return None


def _is_of_batch(declaration: Declaration) -> bool:
    return declaration.name == Name.GLOBAL_BATCH_SIZE and not (declaration.exact or declaration.per_rank)


def _is_contradicted(run: Run, claim: Claim, within: Iterable[Declaration]) -> bool:
    """Whether a claim is false for another reason than a setting that it names, or what is read with it contradicts it."""
    declaration = claim.declaration
    if any(_is_of_batch(each) and each.value != declaration.value for each in within):
        return True
    if claim.judgement.finding is None and claim.judgement.readings[0].holds is not False:
        stated = (each for each in within if each.name in HARDWARE)
        return any(run.geometry.value(each.name) not in (None, each.value) for each in stated)
    stale = stale_factor(run, declaration)
    return stale is None or stale[0].value == declaration.value  # `4 accum = 576`: the number behind the name is the batch


def _passages(blocks: Iterable[CommentBlock], declaration: Declaration) -> Iterator[Passage]:
    """Yield the statement that makes a claim, in one of the comments `blocks` or in its document, and then the paragraph around it."""
    at = declaration.at
    for block in blocks if declaration.paragraph is None else (declaration.paragraph,):
        if not block.pieces[0][1] <= at.start < block.stop:
            continue
        offset = block.offset(at.start)
        for start, stop in paragraphs(block.text):
            every = statements(block.text, start, stop) if start <= offset < stop else ()
            for statement in every:
                if statement.start <= offset < statement.stop:
                    yield Passage(block, at.source, statement)
                    begin, end = every[0].start, every[-1].stop
                    yield Passage(block, at.source, Statement(block.text, begin, end, block.text[begin:end].lower()))


def _accounted(run: Run, passage: Passage, declaration: Declaration) -> _Accounted | None:
    """The hardware with which all numbers of a statement are accounted for; what it says the batch is, is none."""
    tokens = passage.tokens
    known = {name: size.value for name in RANK_FACTORS if isinstance(size := run.geometry.get(name), Quantity)}
    if len(known) < len(RANK_FACTORS):
        return None
    numbers = {i: value for i in range(len(tokens)) if (value := number_at(tokens, i)) is not None}
    if len(numbers) > _NUMBERS:
        return None
    stated = [i for i in numbers if passage.place(i).start == declaration.at.start and not _is_multiplied(tokens, i)]
    factors = {i: value for i, value in numbers.items() if i not in stated}
    for hardware in _hardware(tokens, factors, run.geometry.value(Name.WORLD_SIZE)):
        rest = {i: value for i, value in numbers.items() if i not in [at for _, at in hardware]}
        if any(devices_at(tokens, i + 1) is not None and text_at(tokens, i + 1) not in ("x", "*") for i in rest):
            continue  # what is called GPUs is no setting: `16 * 1 * 8 GPUs (1 node)`
        total = prod(known.values()) * prod(numbers[at] for _, at in hardware)
        named = (each for each in settings(tokens) if each.name in known and each.value != total)
        said = _multiset(rest.values(), total)
        is_all = said == _multiset(known.values(), total) or (not said and len(hardware) > 1)  # `GBS 128, 2 x 8 GPUs` names no setting
        if is_all and all(each.value == known[each.name] for each in named) and all(numbers[i] == total for i in stated):
            return _Accounted(hardware, next((i for i, value in rest.items() if value == total), None), total)
    return None


def _is_multiplied(tokens: Tokens, i: int) -> bool:
    """Whether the number at token `i` is a factor of a product: `= 5 nodes * 8 GPUs`, `x num_nodes=3`."""
    return _TIMES_BEHIND.at(tokens, i + 1) is not None or _TIMES_BEFORE.at(tokens, i) is not None


def _multiset(values: Iterable[int], total: int) -> Counter[int]:
    """`values` without the total, which a statement may repeat, and without ones, which it may leave out."""
    return Counter(value for value in values if value not in (1, total))


def _hardware(tokens: Tokens, numbers: dict[int, int], gpus: int | None) -> Iterator[tuple[tuple[str, int], ...]]:
    """Yield each way in which the `numbers` of a statement may be hardware: the nodes and the GPUs of each, or the GPUs in all.

    A number that is not called so is one of GPUs only if the run has that many `gpus`.
    """
    nodes = [i for i in numbers if _counts_nodes(tokens, i)]
    if len(nodes) == 1:
        each = (i for i, value in numbers.items() if i != nodes[0] and value in GPUS_PER_NODE)
        yield from (((Name.NUM_NODES, nodes[0]), (Name.GPUS_PER_NODE, i)) for i in each)
    elif not nodes:
        grids = ((i, i + 2) for i in numbers if text_at(tokens, i + 1) in ("x", "*") and numbers.get(i + 2) in GPUS_PER_NODE)
        yield from (((Name.NUM_NODES, i), (Name.GPUS_PER_NODE, j)) for i, j in grids if devices_at(tokens, j + 1) is not None)
    if all(numbers[i] == 1 for i in nodes):
        yield from (((Name.WORLD_SIZE, i),) for i, value in numbers.items() if value == gpus or devices_at(tokens, i + 1) is not None)


def _counts_nodes(tokens: Tokens, i: int) -> bool:
    """Whether the number at token `i` is one of nodes: `2 nodes`, `4 H100 nodes`, `num_nodes=2`, `nodes: 4`."""
    behind = i + 1
    while _describes(tokens, behind):
        behind += 1
    if text_at(tokens, behind) in NODES:
        return True
    label = i - 1 - (text_at(tokens, i - 1) in ("=", ":", "of"))
    before = label - 1
    while _describes(tokens, before):
        before -= 1
    return text_at(tokens, label) in _LABELS and text_at(tokens, before) not in _NO_LABEL and number_at(tokens, before) is None


def _describes(tokens: Tokens, i: int) -> bool:
    """Whether token `i` may stand between a number and its nodes: `4 H100 nodes`."""
    text = text_at(tokens, i)
    return text in _KINDS or text in DEVICES or is_chip(text)


def _read(declaration: Declaration, passage: Passage, accounted: _Accounted) -> Declaration:
    """The claim of the batch with this hardware as what it is about."""
    return declaration._replace(
        value=accounted.total,
        holds=(Interval(accounted.total, accounted.total),),
        at=passage.place(accounted.batch) if accounted.batch is not None else declaration.at,
        conditions=tuple((name, number_at(passage.tokens, at) or 1) for name, at in accounted.hardware),
        condition_places=tuple(passage.place(at) for _, at in accounted.hardware),
        ambiguous=False,
        sum=None,
    )
