"""A batch worked out over neighbouring lines, one size on each: number of gpus, batch size per gpu, accumulation, total batch size."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Final

from pytest_gbs.claims.grammars._batch import labels
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._sizes import EXPERTS, count_at, name_at
from pytest_gbs.claims.grammars._statements import Passage, paragraphs, statements
from pytest_gbs.claims.grammars._tokens import NUMBER, text_at
from pytest_gbs.claims.grammars.words import DEVICE_UNITS, UNITS
from pytest_gbs.model.declaration import Declaration, Factor, Grammar, StatedArithmetic
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple

_EQUATION: Final = (
    (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.WORLD_SIZE),
    (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE),
    (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.NUM_NODES, Name.GPUS_PER_NODE),
)
_SPLITS: Final = (Name.TENSOR_PARALLEL_SIZE, Name.PIPELINE_PARALLEL_SIZE, Name.CONTEXT_PARALLEL_SIZE, Name.SEQUENCE_PARALLEL_SIZE)


class _Line(NamedTuple):
    passage: Passage
    name: str
    value: int
    at: int


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the batches that `block` lists with their factors."""
    if not _is_candidate(block.text):
        return ()
    found: list[Declaration] = []
    for start, stop in paragraphs(block.text):
        read_here = (_line(Passage(block, source, statement)) for statement in statements(block.text, start, stop))
        lines = [line for line in read_here if line is not None]
        if len(lines) > 1 and len({line.name for line in lines}) == len(lines):
            found.extend(_listed(lines))
    return tuple(found)


def _is_candidate(text: str) -> bool:
    """Return whether a line of a text of several lines names the batch and ends with a number."""
    return "\n" in text and any(line[-1:].isdigit() and ("batch" in line or "gbs" in line) for line in text.lower().split("\n"))


def _line(passage: Passage) -> _Line | None:
    """Return the size that a statement of nothing else names: `batch size per gpu: 4`, `DP = 48 / (4*1*2) = 6`."""
    tokens = passage.tokens
    last = len(tokens) - 1
    while last > 0 and (tokens[last].text in (".", ",") or tokens[last].text in UNITS or tokens[last].text in DEVICE_UNITS):
        last -= 1
    if last < 2 or tokens[last].kind != NUMBER or tokens[last - 1].text not in (":", "="):
        return None
    label = next(iter(labels(passage.statement.text, tokens)), None)
    named = name_at(tokens, 0)
    name, stop = (label.name, label.stop) if label and label.first == 0 else (named.name, named.stop) if named else ("", 0)
    number = count_at(tokens, last)
    if number is None or not name or text_at(tokens, stop) not in (":", "="):
        return None
    return _Line(passage, name, number.value, last)


def _listed(lines: list[_Line]) -> Iterator[Declaration]:
    total = next((line for line in lines if line.name == Name.GLOBAL_BATCH_SIZE), None)
    number = count_at(total.passage.tokens, total.at) if total else None
    if total is None or number is None:
        return
    sizes = {line.name: line for line in lines if line is not total and line.name != EXPERTS}
    places = {name: line.passage.place(line.at) for name, line in sizes.items()}
    found = claim(total.passage, total.at, total.name, number, grammar=GRAMMAR.name, known=sizes)
    found = found._replace(
        conditions=(*found.conditions, *((name, line.value) for name, line in sizes.items())),
        condition_places=(*found.condition_places, *places.values()),
        ambiguous=False,
    )
    factors = next((names for names in _EQUATION if all(name in sizes for name in names)), ())
    if factors and not any(name in sizes for name in _SPLITS):
        stated = tuple(Factor(sizes[name].value, name, places[name]) for name in factors)
        found = found._replace(
            sum=StatedArithmetic(stated, (), number.value, number.holds, prod(factor.value for factor in stated), found.at)
        )
    yield found


GRAMMAR = Grammar(
    name="listed",
    summary="a batch worked out over neighbouring lines",
    examples=(
        "number of gpus: 256\nbatch size per gpu: 4\ngradient accumulation steps: 1\ntotal batch size: 1024",
        "DP = 48 / (4*1*2) = 6\nGBS = 4 * 6 = 24",
    ),
    hint=("gbs", "batch"),
    read=read,
)
