"""A stated batch size put together: its number, its force, and the hardware and factors that the same statement names."""

from __future__ import annotations

from collections.abc import Collection

from pytest_gbs.claims.grammars._force import batch_force, hardware_force
from pytest_gbs.claims.grammars._hardware import alternatives, hardware
from pytest_gbs.claims.grammars._owner import is_batch
from pytest_gbs.claims.grammars._sizes import name_at, settings
from pytest_gbs.claims.grammars._statements import Passage, Statement
from pytest_gbs.claims.grammars._tokens import NUMBER, WORD, past_bracket
from pytest_gbs.claims.grammars.words import Numeral
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, Name


def claim(
    passage: Passage, at: int, name: str, number: Numeral, *, grammar: str, unit: str = "", known: Collection[str] = ()
) -> Declaration:
    """The declaration that size `name` is `number`, which is token `at`, with the conditions that its statement names.

    `known` are sizes that the caller has better evidence of than the words nearby.
    """
    conditions, ambiguous = _conditions(passage, at, known)
    force = batch_force(_of_this(passage), passage.tokens[at].start, any(each in HARDWARE for each in conditions))
    return Declaration(
        name,
        number.value,
        number.holds,
        passage.place(at),
        passage.shown(at),
        grammar,
        unit,
        force,
        tuple((each, value) for each, (value, _) in conditions.items()),
        tuple(passage.place(token) for _, token in conditions.values()),
        ambiguous,
    )


# Remarks behind a batch key that leave its number what it is: a paper's as well, that it is kept, and what the key was before.
_remark = lazy_pattern(
    r"\((?:the|as in the|same as the|like the) (?:original )?paper(?:'s)?\)"
    r"|^\W*keep(?= (?:the |an? )?(?:eff\w*|global|total)\b\D{1,20}\d[\d,]*\s*(?:$|[.;]|\(was\b))"
    r"|^\W*was \d[\d,x*× ]*(?:[—–;,]|--)(?= (?:keeps?|preserves|maintains) (?:the )?(?:eff\w*|global|total|gbs)\b)"
)


def _of_this(passage: Passage) -> Statement:
    """The statement without a remark behind a batch key: `512 (the paper's)`, `keep effective batch at 64`, `was 8, keeps GBS 64`."""
    block, statement = passage.block, passage.statement
    if block.placement != "trailing" or not is_batch(block.owner):
        return statement
    return statement._replace(lower=_remark().sub(lambda remark: " " * len(remark[0]), statement.lower))


def _conditions(passage: Passage, at: int, known: Collection[str]) -> tuple[dict[str, tuple[int, int]], bool]:
    """The sizes that the statement of the claim at token `at` names, each with its token, and whether its GPUs are ambiguous."""
    tokens = passage.tokens
    found: dict[str, tuple[int, int]] = {}
    ambiguous = False
    of = alternatives(tokens)
    for stated in sorted(hardware(tokens), key=lambda each: abs(each.at - at)):
        of_another = of.get(stated.at, at) != at or is_of_a_named_run(passage, stated.first)
        if stated.name in known or stated.name in found or stated.at == at or of_another:
            continue
        if hardware_force(passage.statement, tokens[stated.first].start, tokens[stated.stop - 1].stop) != Force.OTHER:
            found[stated.name] = (stated.value, stated.at)
            ambiguous = ambiguous or stated.ambiguous
    for setting in settings(tokens):
        if setting.name not in known and setting.name not in found and setting.at != at:
            found[setting.name] = (setting.value, setting.at)
    return found, ambiguous and Name.WORLD_SIZE in found and not {Name.GPUS_PER_NODE, Name.NUM_NODES} <= found.keys()


def is_of_a_named_run(passage: Passage, at: int) -> bool:
    """Whether token `at` is in a bracket that works the batch out for what it names first: `96 (Open-RS 4 A40 x 6 x 4 = 96)`."""
    tokens = passage.tokens
    first = next((i for i in range(at, -1, -1) if tokens[i].text in ("(", ")")), -1) + 1
    if not first or tokens[first - 1].text != "(" or not passage.statement.text[tokens[first].start].isupper():
        return False
    named = next((i for i in range(first, len(tokens)) if tokens[i].kind != WORD or name_at(tokens, i) is not None), first)
    works_out = any(token.text == "=" for token in tokens[at : past_bracket(tokens, first - 1)])
    return first < named <= at and tokens[named].kind == NUMBER and works_out
