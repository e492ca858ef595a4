"""Hardware that a comment names by itself: `# Config for 1 node of 8 x H100s (80GB)`, `# set up for 8 GPUs`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._candidate import counts
from pytest_gbs.claims.grammars._force import hardware_force
from pytest_gbs.claims.grammars._hardware import StatedHardware, alternatives, hardware
from pytest_gbs.claims.grammars._statements import Passage, passages
from pytest_gbs.model.declaration import Declaration, Force, Grammar, Interval
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_CHIPS: Final = ("00", "090", "l4", "h20", "mi250", "gaudi")  # a part of the name of each chip that is common
_UNITS: Final = ("gpu", "npu", "hpu", "node", "device", "machine", "card", "accelerator", *_CHIPS)
_LABELS: Final = (
    *("gpus:", "gpus=", "gpus =", "gpus :", "nodes:", "nodes=", "nodes ="),
    *("devices:", "devices=", "machines:", "world", "per node", "/node"),
)


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The nodes, GPUs per node and GPUs in all that `block` states."""
    return tuple(declaration for passage in passages(block, source, _is_candidate) for declaration in _read(passage))


def _is_candidate(text: str) -> bool:
    return counts(text, _UNITS) or any(label in text for label in _LABELS)


def _read(passage: Passage) -> Iterator[Declaration]:
    stated = hardware(passage.tokens)
    # "a single GPU" by itself says little; "a single node" does with the GPUs it has.
    several = any(not each.alone for each in stated)
    choices = alternatives(passage.tokens)
    for each in stated:
        if each.at not in choices and (not each.alone or (several and each.name == Name.NUM_NODES)):
            yield _declared(passage, each)


def _declared(passage: Passage, stated: StatedHardware) -> Declaration:
    tokens = passage.tokens
    force = hardware_force(passage.statement, tokens[stated.first].start, tokens[stated.stop - 1].stop)
    return Declaration(
        stated.name,
        stated.value,
        (Interval(stated.value, stated.value),),
        passage.place(stated.at),
        passage.shown(stated.at),
        GRAMMAR.name,
        force=force,
        ambiguous=stated.ambiguous and force != Force.OTHER,
    )


GRAMMAR = Grammar(
    name="hardware",
    summary="nodes and GPUs in prose",
    examples=(
        "Config for 16 nodes of 8 H100s with FSDP1",
        "Config for 1 node of 8 x H100s (80GB)",
        "note, this is set up for 8 GPUs",
        "4x8 GB200",
        "8 nodes x 8 H100-80GB = 64 GPUs",
        "number of gpus: 256",
    ),
    hint=(*_UNITS, "world"),
    read=read,
)
