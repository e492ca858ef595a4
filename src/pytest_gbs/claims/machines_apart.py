"""A claim that is false as it was read, read once more with its nodes and the GPUs of each apart: `2 nodes, batch 4, 8 GPUs = 64`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE
from pytest_gbs.claims.factors import stale_factor
from pytest_gbs.claims.grammars._hardware_words import memory
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._statements import Passage, Statement, paragraphs, statements
from pytest_gbs.claims.grammars._tokens import WordToken, text_at
from pytest_gbs.claims.grammars.words import DEVICES, NODES, is_chip, words
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.run import Claim, Run

_SETTINGS: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
_LABELS: Final = NODES | {"nnodes"}
_NO_LABEL: Final = DEVICES | {"per", "each", "/"}
_KINDS: Final = words("worker workers compute")


class _Machines(NamedTuple):
    """The tokens of the numbers that a statement says of its nodes, the GPUs of each, and the batch (None if it doesn't say)."""

    nodes: int
    gpus_per_node: int
    batch: int | None
    total: int


def read_apart(run: Run) -> tuple[Declaration, ...] | None:
    """What the recipe itself declares, each false claim read anew that is true of nodes and GPUs named apart; None if there is none.

    A statement is read so only if each of its numbers is then accounted for: micro batch and accumulation as the recipe has them (or
    left out where they are 1), nodes, the GPUs of each, and the batch that is their product.
    """
    declarations, found = tuple(each for each in run.declarations if each.at.source == run.path), False
    for claim in run.claims:
        for passage in _passages(run, claim) if _may_be_misread(run, claim) else ():
            machines = _machines(run, passage.tokens)
            if machines is not None:
                here = passage.span(0, len(passage.tokens))
                beside = (each for each in declarations if not here.start <= each.at.start < here.stop)
                declarations, found = (*beside, _read(claim.declaration, passage, machines)), True
                break
    return tuple(sorted(declarations, key=lambda each: each.at.start)) if found else None


def _may_be_misread(run: Run, claim: Claim) -> bool:
    """Whether a claim of the batch is false for another reason than a setting that it names."""
    declaration = claim.declaration
    if declaration.name != Name.GLOBAL_BATCH_SIZE or declaration.exact or declaration.per_rank or claim.judgement.finding is None:
        return False
    stale = stale_factor(run, declaration)
    return stale is None or stale[0].value == declaration.value  # `4 accum = 576`: the number behind the name is the batch


def _passages(run: Run, claim: Claim) -> Iterator[Passage]:
    """Yield the statement that makes a claim, if that is a comment of the recipe, and then the paragraph around it."""
    at = claim.declaration.at
    for block in run.document.comments if at.source == run.path else ():
        for start, stop in paragraphs(block.text) if block.pieces[0][1] <= at.start < block.stop else ():
            every = statements(block.text, start, stop)
            for statement in every:
                passage = Passage(block, at.source, statement)
                if any(passage.place(i).start == at.start for i in range(len(passage.tokens))):
                    yield passage
                    begin, end = every[0].start, every[-1].stop
                    yield Passage(block, at.source, Statement(block.text, begin, end, block.text[begin:end].lower()))


def _machines(run: Run, tokens: Sequence[WordToken]) -> _Machines | None:
    """Nodes and GPUs per node with which all numbers of a statement are accounted for."""
    sizes = [run.geometry.get(name) for name in _SETTINGS]
    settings = [size.value for size in sizes if isinstance(size, Quantity)]
    numbers = {i: value for i in range(len(tokens)) if (value := _number(tokens, i)) is not None}
    nodes = [i for i in numbers if _counts_nodes(tokens, i)]
    if len(settings) < len(_SETTINGS) or len(nodes) != 1:
        return None
    for i, each in numbers.items():
        if i == nodes[0] or each not in GPUS_PER_NODE:
            continue
        total = prod(settings) * numbers[nodes[0]] * each
        rest = Counter(value for at, value in numbers.items() if at not in (i, nodes[0]) and value not in (1, total))
        if rest == Counter(value for value in settings if value not in (1, total)):
            batch = next((at for at, value in numbers.items() if value == total and at not in (i, nodes[0])), None)
            return _Machines(nodes[0], i, batch, total)
    return None


def _number(tokens: Sequence[WordToken], i: int) -> int | None:
    """The number at token `i`, unless it is the memory or the model of a GPU."""
    if i < 0 or memory(tokens, i) or (i > 0 and is_chip(tokens[i].text)):
        return None
    found = count_at(tokens, i, spelt=True)
    return found.value if found is not None else None


def _counts_nodes(tokens: Sequence[WordToken], i: int) -> bool:
    """Whether the number at token `i` is one of nodes: `2 nodes`, `4 H100 nodes`, `num_nodes=2`, `nodes: 4`."""
    behind = i + 1
    while is_chip(text_at(tokens, behind)) or text_at(tokens, behind) in DEVICES or text_at(tokens, behind) in _KINDS:
        behind += 1
    if text_at(tokens, behind) in NODES:
        return True
    label = i - 1 - (text_at(tokens, i - 1) in ("=", ":", "of"))
    before = text_at(tokens, label - 1)
    return text_at(tokens, label) in _LABELS and not (before in _NO_LABEL or is_chip(before) or _number(tokens, label - 1))


def _read(declaration: Declaration, passage: Passage, machines: _Machines) -> Declaration:
    """The claim of the batch with these nodes and GPUs as the hardware that it is about."""
    places = (machines.nodes, machines.gpus_per_node)
    counts = (_number(passage.tokens, at) or 1 for at in places)
    return declaration._replace(
        value=machines.total,
        holds=(Interval(machines.total, machines.total),),
        at=passage.place(machines.batch) if machines.batch is not None else declaration.at,
        conditions=tuple(zip((Name.NUM_NODES, Name.GPUS_PER_NODE), counts, strict=True)),
        condition_places=tuple(map(passage.place, places)),
        ambiguous=False,
        sum=None,
    )
