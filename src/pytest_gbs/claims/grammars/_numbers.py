"""Which number belongs to a name of the batch: `GBS 128`, `global batch size (across all GPUs): 512`, `a 128 global batch size`."""

from __future__ import annotations

from pytest_gbs.claims.grammars._batch import BATCH, Label, is_bare, is_list, per_device, unit_at
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import name_at
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, WORD, Tokens, past_bracket, text_at
from pytest_gbs.claims.grammars.words import APPROXIMATELY, DEVICE_UNITS, words
from pytest_gbs.model.record import Final

_LINKING: Final = APPROXIMATELY | words(
    "of is are was be should will becomes become equals equal at to = : - -> fixed set kept keep stay stays remains remain still held here"
    " size used this gives now exactly constant has would must in tokens samples sequences from increased reduced becoming ( > < >= <="
    " de as"
)
_HARDWARE: Final = words("on for with across over using")
_THROUGHOUT: Final = ("across", "over")
_LIKENING: Final = words("same such as")
_OPERATORS: Final = ("x", "*", "/", "//")
_FAR: Final = 14

_shape: Final = Notation(BATCH, LINK=_LINKING)
_NUMBERED: Final = _shape("[&SIGN !( LINK]? NUMBER")
# What may be between a name and its number, with a remark that a colon or an equals sign follows: `(across all GPUs): 512`.
_BETWEEN: Final = _shape("MARKED | ( ![ANY )] ~)* ) &:|=|is|of | LINK")
_OPEN: Final = _shape("+ [$ | ~NUMBER]")
_DIVIDED: Final = _shape("!PER_DEVICE ANY WORD")
_OF_A_PART: Final = _shape("per [$ | ~STEP|optimizer|training|global|gradient]")


def number_of(tokens: Tokens, label: Label) -> int | None:
    """The token that is the number of `label`, behind it or in front; None if there is none, or arithmetic, or several."""
    before = None if label.first == 0 or _NUMBERED.at(tokens, label.stop) else _in_front(tokens, label)
    if before is not None and text_at(tokens, label.stop) == "(":
        return before  # `48 samples per step (24 GPUs)`: the bracket explains the number in front
    at = _behind(tokens, label)
    return at if at is not None else before


def _behind(tokens: Tokens, label: Label) -> int | None:
    j = label.stop
    while j < len(tokens) and j - label.stop < _FAR and tokens[j].kind != NUMBER:
        past = _past(tokens, j)
        if past is None:
            return None
        j = past
    if j >= len(tokens) or tokens[j].kind != NUMBER or is_list(tokens, j):
        return None
    return j if _is_whole(tokens, label, j) else None


def _past(tokens: Tokens, j: int) -> int | None:
    """Where the next words or remark that may be between a name and its number end; None where token `j` ends the search."""
    text = tokens[j].text
    if text in _HARDWARE:
        return _past_hardware(tokens, j)
    if text == "as" and any(token.text in _LIKENING for token in tokens[max(0, j - _FAR) : j]):
        return None  # `the same global batch size as`
    past = _BETWEEN.at(tokens, j)
    return past.stop if past is not None else None


def _past_hardware(tokens: Tokens, j: int) -> int | None:
    """Where `on 8 GPUs:` ends: the hardware that a batch is stated for, in front of its number."""
    sized = name_at(tokens, j + 1) if tokens[j].text not in _THROUGHOUT else None
    for k in range(j + 1, min(j + _FAR, len(tokens))):
        if tokens[k].text in (":", "="):
            if sized is not None and sized.stop == k:
                return None  # `on dp=16`, `with GPUs: 8`: the number is that of the hardware
            return k if any(token.kind == WORD and token.text in DEVICE_UNITS for token in tokens[j + 1 : k]) else None
        if tokens[k].kind == SIGN and tokens[k].text not in ("x", "*", "(", ")", "-", "/", ","):
            return None
    return None


def _is_whole(tokens: Tokens, label: Label, at: int) -> bool:
    """Whether number `at` is the size itself, neither a factor nor a divisor: `7.5k examples / global batch 8 = 934`."""
    unit, stop = unit_at(tokens, at + 1)
    named = name_at(tokens, stop)
    if text_at(tokens, past_bracket(tokens, named.stop if named is not None else stop)) in ("x", "*"):
        return False  # `32 (prompts) * 8`, `1 per device * 8`
    if _is_multiplied(tokens, stop):
        return False
    if at == label.stop and text_at(tokens, label.first - 1) in _OPERATORS and not _is_listed(tokens, label.first - 1):
        return False
    if text_at(tokens, stop) == "+":
        return _OPEN.at(tokens, stop) is not None
    if text_at(tokens, stop) in ("/", "//"):
        # `GBS 64 / (LBS 4 x 8 GPUs) = 2`, `GBS: 128 / micro: 2`; but not `GBS = 512 / 8`, nor `128 / GPU`.
        equated = any(token.text in ("=", ":") for token in tokens[label.stop : at])
        return bool(_DIVIDED.at(tokens, stop)) if equated else not per_device(tokens, stop)
    if unit == "tokens":
        return not _OF_A_PART.at(tokens, stop)
    return text_at(tokens, stop) == "->" or is_bare(tokens, stop)


def _is_multiplied(tokens: Tokens, i: int) -> bool:
    """Whether words from token `i` on say what the number counts, and arithmetic goes on: `128 images per GPU * 8 GPUs`."""
    stop = next((j for j in range(i, min(i + _FAR, len(tokens))) if tokens[j].kind != WORD), i)
    return per_device(tokens, stop - 2) and text_at(tokens, stop) in ("x", "*")


def _is_listed(tokens: Tokens, i: int) -> bool:
    """Whether the slash at token `i` parts two settings that are written without a space: `lbs16/gbs512`."""
    if i < 2 or tokens[i].text != "/" or tokens[i - 1].kind != NUMBER or tokens[i - 2].kind != WORD:
        return False
    return all(tokens[j].stop == tokens[j + 1].start for j in range(i - 2, i + 2))


def _in_front(tokens: Tokens, label: Label) -> int | None:
    """The number in front of the label: `a 128 global batch size`, `512 samples per step`; never `16x`, a ratio."""
    at = label.first - 1
    while at > 0 and tokens[at].text in ("unique", "packed", "training"):
        at -= 1
    if tokens[at].kind != NUMBER or is_list(tokens, at) or not is_bare(tokens, label.stop):
        return None
    before = text_at(tokens, at - 1)
    listed = before in (",", "or", "and") and at > 1 and tokens[at - 2].kind == NUMBER
    return None if listed or before in (*_OPERATORS, "-", "+", "=") else at
