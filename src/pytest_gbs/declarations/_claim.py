"""A stated batch size put together: its number, its force, and the hardware and factors that the same statement names."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_gbs.core.declaration import Declaration, Force
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._force import batch_force, hardware_force
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._sizes import settings
from pytest_gbs.declarations._statements import Statement, place, shown
from pytest_gbs.declarations.words import Numeral

_HARDWARE = (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE)


def claim(
    block: CommentBlock,
    source: str,
    statement: Statement,
    at: int,
    name: str,
    number: Numeral,
    grammar: str,
    unit: str = "",
    known: Iterable[str] = (),
) -> Declaration:
    """Return the declaration that size `name` is `number`, which is token `at`, with the conditions that its statement names.

    `known` are sizes that the caller has better evidence of than the words nearby.
    """
    tokens = statement.tokens
    conditions: dict[str, tuple[int, int]] = {}
    ambiguous = False
    for stated in sorted(hardware(tokens), key=lambda each: abs(each.at - at)):
        force = hardware_force(statement, tokens[stated.first].start, tokens[stated.stop - 1].stop)
        if stated.name in known or stated.name in conditions or stated.at == at or force == Force.OTHER:
            continue
        conditions[stated.name] = (stated.value, stated.at)
        ambiguous = ambiguous or stated.ambiguous
    for setting in settings(tokens):
        if setting.name not in known and setting.name not in conditions and setting.at != at:
            conditions[setting.name] = (setting.value, setting.at)
    if Name.GPUS_PER_NODE in conditions and Name.NUM_NODES in conditions:
        ambiguous = False
    force = batch_force(statement, tokens[at].start, any(each in conditions for each in _HARDWARE))
    return Declaration(
        name,
        number.value,
        number.holds,
        place(block, source, tokens[at]),
        shown(statement, tokens[at]),
        grammar,
        unit,
        force,
        tuple((each, value) for each, (value, _) in conditions.items()),
        tuple(place(block, source, tokens[token]) for _, token in conditions.values()),
        ambiguous and Name.WORLD_SIZE in conditions,
    )
