"""A batch that is named and given its number: `GBS 128`, `effective batch size of 1k on 32 GPUs`, `512 samples per step`."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.grammars._batch import Label, labels, unit_at
from pytest_gbs.claims.grammars._candidate import multiplies
from pytest_gbs.claims.grammars._claim import claim
from pytest_gbs.claims.grammars._numbers import number_of
from pytest_gbs.claims.grammars._owner import is_batch
from pytest_gbs.claims.grammars._plain_batch import plain_labels
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at
from pytest_gbs.claims.grammars._statements import Passage, passages
from pytest_gbs.claims.grammars._tokens import NUMBER, Tokens, names_batch, text_at
from pytest_gbs.claims.grammars.words import STEPS, Numeral, words
from pytest_gbs.model.declaration import Declaration, Force, Grammar, Interval
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_ALLOWED: Final = words("allowed options option choices valid supported possible choose")
# `effective batch 6 -> 15,162 optimizer steps` says how long training is, not what the batch becomes.
_BECOMES: Final = Notation(DURATION=STEPS - {"batch", "batches"} | words("epoch epochs"))(
    "-> COUNTED ![optimizer|optimization|training|train|gradient|weight|total? DURATION]"
)
_NAMING: Final = (
    *("global", "eff", "total", "overall", "aggregate", "combined", "full", "equivalent", "cumulative", "golbal", "across", "over"),
    *("so batch", "> batch", "→ batch", "⇒ batch", "thus batch", "hence batch", "therefore batch"),
    *("giving batch", "gives batch", "gives a batch"),
    *("> bs", "→ bs", "⇒ bs"),
    *("size will", "size becomes"),
)
_SIMULATED: Final = ("simulat", "emulat", "equal", "efecti", "efeti", "effecti", "effetti")
_PER_STEP: Final = ("per step", "per optim", "per update", "per batch", "per iter", "per global", "per train", "/step", "/update")


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """The global batch sizes that `block` states in words."""
    return tuple(declaration for passage in passages(block, source, _is_candidate) for declaration in _read(passage))


def _is_candidate(text: str) -> bool:
    if "gbs" in text or any(per in text for per in _PER_STEP) or names_batch(text):
        return True
    if "ebs" in text or (any(sign in text for sign in _SIMULATED) and "batch" in text):
        return True
    if "batch=" in text and ("micro" in text or "mbs" in text):
        return True
    return ("batch" in text or "bs" in text) and (
        any(word in text for word in _NAMING) or multiplies(text) or ("(" in text and " per " in text)
    )


def _read(passage: Passage) -> Iterator[Declaration]:
    tokens = passage.tokens
    for label in (*labels(passage.statement.text, tokens), *plain_labels(tokens, beside_batch=is_batch(passage.block.owner))):
        allowed = _allowed(tokens, label)
        if allowed:
            yield _choice(passage, label, allowed)
            continue
        at = number_of(tokens, label)
        number = None if at is None else count_at(tokens, at)
        if at is not None and number is not None and not (at == label.stop and _in_a_name(passage, label, at)):
            yield _claimed(passage, label, at, number)


def _in_a_name(passage: Passage, label: Label, at: int) -> bool:
    """Whether label and number are a part of the name of a run or a file, with a word of its own: `sft-gbs96-lr1e5`; not `lbs16/gbs512`."""
    tokens, text = passage.tokens, passage.statement.text
    start, stop = tokens[label.first].start, tokens[at].stop
    if tokens[label.stop - 1].stop != tokens[at].start:
        return False
    before, behind = _ends_name().search(text, 0, start), _starts_name().match(text, stop)
    return before is not None and behind is not None and _own_word().search(f"{before[0]} {behind[0]}") is not None


_ends_name = lazy_pattern(r"[\w.-]{0,100}\Z", re.ASCII)
_starts_name = lazy_pattern(r"[\w.-]{0,100}", re.ASCII)
_own_word = lazy_pattern(r"(?<![A-Za-z0-9])[A-Za-z]{2,}(?![A-Za-z0-9])")


def _claimed(passage: Passage, label: Label, at: int, number: Numeral) -> Declaration:
    """The claim that the batch of `label` is `number`, or what it is changed to: `32 -> 16`."""
    tokens = passage.tokens
    unit, stop = unit_at(tokens, at + 1)
    if not unit and at < label.first:
        unit = unit_at(tokens, label.first)[0]
    if not unit:
        unit = next((unit_at(tokens, j + 1)[0] for j in range(label.stop, at) if tokens[j].text == "in"), "")
    if unit == "tokens" or tokens[at].text[-1:] in "MB":
        name, unit = Name.TOKENS_PER_STEP, "tokens"
    else:
        name = label.name
    becomes = count_at(tokens, stop + 1) if _BECOMES.at(tokens, stop) else None
    if becomes is not None:
        return claim(passage, stop + 1, name, becomes, grammar=GRAMMAR.name, unit=unit)._replace(force=Force.DELTA)
    found = claim(passage, at, name, number, grammar=GRAMMAR.name, unit=unit)
    return found._replace(force=Force.ADVISES) if text_at(tokens, at + 1) == "+" else found


def _allowed(tokens: Tokens, label: Label) -> list[int]:
    """The tokens that are the numbers of `allowed values are 16, 32 and 64` behind the label."""
    if not any(token.text in _ALLOWED for token in tokens[label.stop : label.stop + 4]):
        return []
    found: list[int] = []
    for j in range(label.stop, len(tokens)):
        if tokens[j].kind == NUMBER and count_at(tokens, j) is not None:
            found.append(j)
        elif found and tokens[j].text not in (",", "and", "or", "/"):
            break
    return found


def _choice(passage: Passage, label: Label, allowed: list[int]) -> Declaration:
    """The statement that the batch may be any of several numbers."""
    values = [number.value for j in allowed if (number := count_at(passage.tokens, j)) is not None]
    numeral = Numeral(values[0], tuple(Interval(value, value) for value in values))
    return claim(passage, allowed[0], label.name, numeral, grammar=GRAMMAR.name)._replace(force=Force.ALLOWS)


GRAMMAR = Grammar(
    name="batch-phrase",
    summary="a batch that is named and given its number",
    examples=(
        "Config for 8 nodes with GBS 128",
        "global batch size: 512",
        "effective batch size 128 with 4 nodes",
        "Default learning parameters are set for effective batch size of 1k on 32 GPUs",
        "designed for 8 GPUs, so batch size 128",
        "the full, fixed batch size of 512 (with gradient accumulation)",
        "512 samples per optimizer step",
    ),
    hint=("gbs", "batch", "bs", "批", "バッチ", "배치", "per step", "per optim", "per update", "per iter", "/step", "/update"),
    read=read,
)
