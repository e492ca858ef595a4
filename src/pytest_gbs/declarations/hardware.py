"""Hardware that a comment names by itself: `# Config for 1 node of 8 x H100s (80GB)`, `# set up for 8 GPUs`."""

from __future__ import annotations

from pytest_gbs.core.declaration import Declaration, Force, Grammar, Interval
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.declarations._force import hardware_force
from pytest_gbs.declarations._hardware import Stated, hardware
from pytest_gbs.declarations._statements import Statement, place, shown, statements


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the nodes, GPUs per node and GPUs in all that `block` states."""
    found: list[Declaration] = []
    for statement in statements(block.text):
        if not any(hint in statement.lower for hint in GRAMMAR.hint):
            continue
        stated = hardware(statement.tokens)
        several = any(not other.lone for other in stated)
        found.extend(_declared(block, source, statement, each) for each in stated if not each.lone or (several and each.name == "num_nodes"))
    return tuple(found)


def _declared(block: CommentBlock, source: str, statement: Statement, stated: Stated) -> Declaration:
    tokens = statement.tokens
    token = tokens[stated.at]
    force = hardware_force(statement, tokens[stated.first].start, tokens[stated.stop - 1].stop)
    return Declaration(
        stated.name,
        stated.value,
        (Interval(stated.value, stated.value),),
        place(block, source, token),
        shown(statement, token),
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
    hint=("gpu", "node", "device", "machine", "world", "h100", "a100", "h200", "b200", "b300", "mi300", "v100", "h800", "a800", "l40", "cards", "h20", "4090"),
    read=read,
)
