"""The words that name the global batch: `GBS`, `effective batch size`, `total samples per step`; never the batch of something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._sizes import count_at
from pytest_gbs.declarations._tokens import NUMBER, SIGN, WORD, Token
from pytest_gbs.declarations.words import DEVICE_UNITS, OTHER_BATCH, PART_OF_BATCH, STEPS, UNITS

_WHOLE: Final = frozenset(
    ("global", "effective", "total", "overall", "aggregate", "combined", "full", "equivalent", "golbal", "cumulative")
)
_BETWEEN: Final = frozenset(("train", "training", "fixed", "optimizer", "global", "effective", "optimization", "optimiser"))
_BATCH: Final = frozenset(("batch", "batchsize", "bs", "bsz", "bsize"))
_PHRASE: Final = 4  # so many words in front of and behind a label belong to it


class Label(NamedTuple):
    """Tokens `first` to `stop` (excluded) that name the global batch, or the prompts of it, where `name` says so."""

    first: int
    stop: int
    name: str = Name.GLOBAL_BATCH_SIZE


def labels(text: str, tokens: Sequence[Token]) -> tuple[Label, ...]:
    """Return the names of the global batch in a statement of the block text `text`, in order."""
    found: list[Label] = []
    i = 0
    while i < len(tokens):
        label = _label(text, tokens, i)
        if label is not None and not _of_something_else(tokens, label):
            found.append(label)
        i = label.stop if label else i + 1
    return tuple(found)


def _label(text: str, tokens: Sequence[Token], i: int) -> Label | None:
    token = tokens[i]
    if token.kind != WORD:
        return None
    if token.text == "gbs":
        # "GBs" are gigabytes.
        return None if text[token.start : token.stop] == "GBs" else Label(i, i + 1)
    if token.text in _WHOLE or token.text in _BETWEEN:
        return _named_batch(tokens, i)
    if token.text == "unique":
        label = _label(text, tokens, i + 1) if i + 1 < len(tokens) else None
        return label._replace(first=i) if label else None
    stop = _per_step(tokens, i + 1) if token.text in UNITS else 0
    if not stop:
        return None
    unit = UNITS[token.text]
    return Label(i, stop, Name.PROMPTS_PER_STEP) if unit == "prompts" else Label(i, stop) if unit == "samples" else None


def _per_step(tokens: Sequence[Token], i: int) -> int:
    """Return where "per step", "per optimizer step" or the like ends that starts at token `i`; 0 where there is none."""
    if _at(tokens, i) != "per":
        return 0
    i += 1
    while _at(tokens, i) in _BETWEEN or _at(tokens, i) in ("gradient", "weight", "parameter", "optim"):
        i += 1
    return i + 1 if _at(tokens, i) in STEPS else 0


def _named_batch(tokens: Sequence[Token], i: int) -> Label | None:
    """Return the label of words such as `global train batch size` and `full fixed batch size` from token `i` on."""
    j, whole = i, False
    while _at(tokens, j) in _WHOLE or _at(tokens, j) in _BETWEEN or (_at(tokens, j) == "," and whole and _at(tokens, j + 1) in _BETWEEN):
        whole = whole or tokens[j].text in _WHOLE
        j += 1
    if whole and _at(tokens, j) in UNITS and (stop := _per_step(tokens, j + 1)):
        return Label(i, stop)
    if not whole or _at(tokens, j) not in _BATCH:
        return None
    j += 1
    if tokens[j - 1].text == "batch" and _at(tokens, j) in ("size", "sz"):
        j += 1
    return None if _at(tokens, j) in ("sizes", "norm", "normalization", "dim") else Label(i, j)


def _at(tokens: Sequence[Token], i: int) -> str:
    return tokens[i].text if 0 <= i < len(tokens) else ""


def _of_something_else(tokens: Sequence[Token], label: Label) -> bool:
    """Return whether words close by make it a batch of evaluation, of one device, of another part of the program."""
    for j in range(label.first - 1, max(-1, label.first - 1 - _PHRASE), -1):
        text = tokens[j].text
        if tokens[j].kind == SIGN and text in ",;.)(=":
            break
        if text in OTHER_BATCH or (text in PART_OF_BATCH and j >= label.first - 2):
            return True
    return per_device(tokens, label.stop)


def per_device(tokens: Sequence[Token], i: int) -> bool:
    """Return whether "per GPU", "/device", "for evaluation" or the like stands at token `i`."""
    if _at(tokens, i) in ("per", "/", "a", "on") and _at(tokens, i + 1 + (_at(tokens, i + 1) in ("each", "every"))) in DEVICE_UNITS:
        return _at(tokens, i) in ("per", "/") or _at(tokens, i + 1) in ("each", "every")
    words = 0
    while i < len(tokens) and words < _PHRASE and (tokens[i].kind == WORD or tokens[i].text == "("):
        if tokens[i].text in OTHER_BATCH and tokens[i].text != "gen":
            return True
        i, words = i + 1, words + 1
    return False


def unit_at(tokens: Sequence[Token], i: int) -> tuple[str, int]:
    """Return the unit behind a number and where it ends: `samples`, `tokens`, ...; "" where none is said."""
    j = i + 1 if _at(tokens, i) in ("unique", "packed", "training", "preference") else i
    return (UNITS[tokens[j].text], j + 1) if j < len(tokens) and tokens[j].text in UNITS else ("", i)


def is_bare(tokens: Sequence[Token], i: int) -> bool:
    """Return whether a number that ends before token `i` counts samples: nothing behind it makes it steps, GPUs, a ratio, a range."""
    if i >= len(tokens):
        return True
    token = tokens[i]
    if token.kind == SIGN:
        return token.text in (")", ",", ".", ";", ":", "=", "(", "]", "'", '"', "`", "!", "?", "|", "~", "-", "}", "#", "…", "/") and not (
            token.text in (",", "-", "/") and i + 1 < len(tokens) and tokens[i + 1].kind == NUMBER
        )
    if token.kind == NUMBER or token.text in (
        "x",
        "or",
        "to",
        "steps",
        "step",
        "epochs",
        "epoch",
        "gpus",
        "gpu",
        "nodes",
        "node",
        "times",
        "gb",
        "devices",
    ):
        return False
    return not per_device(tokens, i)


def is_list(tokens: Sequence[Token], i: int) -> bool:
    """Return whether the number at token `i` is one of several: `16, 32, 64`, `64 or 128`, `64 and 128`, `64 / 128`."""
    return _at(tokens, i + 1) in (",", "or", "and", "/", "to", "-", "|") and count_at(tokens, i + 2) is not None
