"""A batch that is named and given its number: `GBS 128`, `effective batch size of 1k on 32 GPUs`, `512 samples per step`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.core.declaration import Declaration, Force, Grammar, Interval
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.quantity import Name
from pytest_gbs.declarations._batch import Label, is_bare, is_list, labels, per_device, unit_at
from pytest_gbs.declarations._candidate import has_digit
from pytest_gbs.declarations._claim import claim
from pytest_gbs.declarations._hardware import hardware
from pytest_gbs.declarations._sizes import count_at
from pytest_gbs.declarations._statements import Statement, statements
from pytest_gbs.declarations._tokens import NUMBER, SIGN, WORD, Token
from pytest_gbs.declarations.words import APPROXIMATELY, DEVICE_UNITS, STEPS, Numeral

_LINKING: Final = frozenset(
    ("of", "is", "are", "was", "be", "should", "will", "becomes", "become", "equals", "equal", "at", "to", "=", ":", "-", "->", "fixed", "set", "kept",
     "keep", "stay", "stays", "remains", "remain", "still", "held", "here", "size", "used", "this", "gives", "now", "exactly", "constant", "has", "would",
     "must", "in", "tokens", "samples", "sequences", "used", "~", "from", "increased", "reduced", "becoming", "(")
)  # fmt: skip
_NAMING: Final = (
    "global", "effective", "total", "overall", "aggregate", "combined", "full", "equivalent", "cumulative", "golbal",
    "across", "over", "so batch", "> batch", "→ batch", "⇒ batch", "thus batch", "hence batch", "therefore batch", "giving batch", "gives batch", "size will", "size becomes",
)  # fmt: skip
_PER_STEP: Final = ("per step", "per optim", "per update", "per batch", "per iter", "per global", "per train")
_SO: Final = frozenset(("so", "->", "=>", "thus", "hence", "therefore", "gives", "giving", "i.e"))
_TOLD: Final = frozenset(("global", "total", "effective", "overall"))
_ALLOWED: Final = frozenset(("allowed", "options", "option", "choices", "valid", "supported", "possible", "choose"))
_FAR: Final = 14


def read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return the global batch sizes that `block` states in words."""
    found: list[Declaration] = []
    if not has_digit(block.text) or not _is_candidate(block.text.lower()):
        return ()
    for statement in statements(block.text):
        if _is_candidate(statement.lower):
            found.extend(_read(block, source, statement))
    return tuple(found)


def _is_candidate(text: str) -> bool:
    if "gbs" in text or any(per in text for per in _PER_STEP):
        return True
    return ("batch" in text or "bs" in text) and any(word in text for word in _NAMING)


def _read(block: CommentBlock, source: str, statement: Statement) -> Iterator[Declaration]:
    tokens = statement.tokens
    for label in (*labels(statement.text, tokens), *_plain(tokens)):
        allowed = _allowed(tokens, label)
        if allowed:
            holds = tuple(Interval(value, value) for value in allowed)
            first = next(j for j in range(label.stop, len(tokens)) if tokens[j].kind == NUMBER)
            found = claim(block, source, statement, first, label.name, Numeral(allowed[0], holds), GRAMMAR.name)
            yield found._replace(force=Force.ALLOWS)
            continue
        at = _behind(tokens, label)
        if at is None and label.first > 0 and not is_followed_by_number(tokens, label):
            at = _in_front(tokens, label)
        if at is not None:
            yield from _claimed(block, source, statement, label, at)


def is_followed_by_number(tokens: Sequence[Token], label: Label) -> bool:
    """Return whether the token behind the label, or behind a sign that links it, is a number."""
    behind = tokens[label.stop : label.stop + 2]
    return bool(behind) and (behind[0].kind == NUMBER or (len(behind) > 1 and behind[0].kind == SIGN and behind[1].kind == NUMBER))


def _claimed(block: CommentBlock, source: str, statement: Statement, label: Label, at: int) -> Iterator[Declaration]:
    tokens = statement.tokens
    number = count_at(tokens, at)
    if number is None:
        return
    unit, stop = unit_at(tokens, at + 1)
    if not unit:
        unit = next((unit_at(tokens, j + 1)[0] for j in range(label.stop, at) if tokens[j].text == "in"), "")
    name = Name.TOKENS_PER_STEP if unit == "tokens" or tokens[at].text[-1:] in "MB" else label.name
    found = claim(block, source, statement, at, name, number, GRAMMAR.name, "tokens" if name == Name.TOKENS_PER_STEP else unit)
    if at + 1 < len(tokens) and tokens[at + 1].text == "+":
        found = found._replace(force=Force.ADVISES)
    change = at + 2 if stop == at + 1 and stop < len(tokens) and tokens[stop].text == "->" else 0
    becomes = count_at(tokens, change) if change else None
    if becomes is not None:
        found = claim(block, source, statement, change, name, becomes, GRAMMAR.name, unit)._replace(force=Force.DELTA)
    yield found


def _plain(tokens: Sequence[Token]) -> Iterator[Label]:
    """Yield "batch size" without a word in front that makes it the global one, where the words around it do.

    It follows from the hardware (`8 GPUs, so batch size 128`), or it is told so behind its number (`batch size 128 (global)`,
    `batch size of 128 across 8 GPUs`).
    """
    for i in range(len(tokens) - 2):
        if tokens[i].text != "batch" or tokens[i + 1].text != "size" or per_device(tokens, i + 2):
            continue
        free = i == 0 or tokens[i - 1].kind == SIGN or tokens[i - 1].text in ("a", "the", "training", "train", "with", "uses", "and")
        follows = i > 0 and tokens[i - 1].text in _SO and any(stated.stop <= i for stated in hardware(tokens))
        becomes = tokens[i + 2].text in ("will", "becomes") and free and bool(hardware(tokens))
        if follows or becomes or (free and _is_told_global(tokens, i + 2)):
            yield Label(i, i + 2)


def _is_told_global(tokens: Sequence[Token], i: int) -> bool:
    """Return whether "(global)" stands behind "batch size" or its number, or "across" with the hardware."""
    at = next((j for j in range(i, min(i + 4, len(tokens))) if tokens[j].kind == NUMBER), None)
    for j in (i, at + 1 if at is not None else i):
        words = [token.text for token in tokens[j : j + 3]]
        if words[:1] == ["("] and words[1:2] and words[1] in _TOLD and words[2:] == [")"]:
            return True
        if j > i and words and (words[0] in ("total", "globally", "overall") or words[:2] == ["in", "total"]):
            return True
    across = at is not None and at + 1 < len(tokens) and tokens[at + 1].text in ("across", "over")
    return across and any(stated.first >= (at or 0) for stated in hardware(tokens))


def _allowed(tokens: Sequence[Token], label: Label) -> list[int]:
    """Return the numbers of `allowed values are 16, 32 and 64` behind the label."""
    if not any(token.text in _ALLOWED for token in tokens[label.stop : label.stop + 4]):
        return []
    found: list[int] = []
    for j in range(label.stop, len(tokens)):
        number = count_at(tokens, j)
        if number is not None:
            found.append(number.value)
        elif found and tokens[j].text not in (",", "and", "or", "/"):
            break
    return found


def _behind(tokens: Sequence[Token], label: Label) -> int | None:
    """Return the number that belongs to the label in front of it; None where there is none, or arithmetic, or several."""
    j, linked = label.stop, False
    while j < len(tokens) and j - label.stop < _FAR and tokens[j].kind != NUMBER:
        text = tokens[j].text
        if text in ("on", "for", "with", "across", "over", "using"):
            past = _past_hardware(tokens, j)
            if past is None:
                return None
            j, linked = past, True
            continue
        if text == "(" and tokens[min(j + 1, len(tokens) - 1)].text in _TOLD and tokens[min(j + 2, len(tokens) - 1)].text == ")":
            j, linked = j + 3, True
            continue
        if text == "(" and tokens[min(j + 2, len(tokens) - 1)].text != ")" and (past_bracket := _past_bracket(tokens, j)) is not None:
            j, linked = past_bracket, True
            continue
        if text not in _LINKING and text not in APPROXIMATELY:
            return None
        linked, j = True, j + 1
    if j >= len(tokens) or tokens[j].kind != NUMBER or is_list(tokens, j):
        return None
    return j if _is_whole_claim(tokens, label, j, linked) else None


def _is_whole_claim(tokens: Sequence[Token], label: Label, at: int, linked: bool) -> bool:
    """Return whether number `at` is the size itself, not a factor of arithmetic and not a divisor: `7.5k examples / global batch 8 = 934`."""
    unit, stop = unit_at(tokens, at + 1)
    behind = tokens[stop].text if stop < len(tokens) else ""
    if label.first > 0 and tokens[label.first - 1].text in ("/", "//", "*", "x") and not linked:
        return False
    if behind in ("x", "*", "+", "//", "/"):
        if behind == "+":
            return stop + 1 >= len(tokens) or tokens[stop + 1].kind != NUMBER
        listed = stop + 1 < len(tokens) and tokens[stop + 1].kind == WORD  # `GBS: 128 / micro: 2`
        equated = linked and any(token.text in ("=", ":") for token in tokens[label.stop : at])
        return behind in ("/", "//") and not per_device(tokens, stop) and (listed or not equated)
    if behind == "->":
        return True
    if unit == "tokens":
        return not _is_rate(tokens, stop)
    return is_bare(tokens, stop)


def _is_rate(tokens: Sequence[Token], i: int) -> bool:
    """Return whether tokens are counted per second, rank or the like, not per step."""
    return i + 1 < len(tokens) and tokens[i].text in ("/", "per") and tokens[i + 1].text not in STEPS


def _past_hardware(tokens: Sequence[Token], j: int) -> int | None:
    """Return where `on 8 GPUs:` ends: the hardware that a batch is stated for, in front of its number."""
    for k in range(j + 1, min(j + _FAR, len(tokens))):
        if tokens[k].text in (":", "="):
            inside = tokens[j + 1 : k]
            return k if any(token.kind == WORD and token.text in DEVICE_UNITS for token in inside) else None
        if tokens[k].kind == SIGN and tokens[k].text not in ("x", "*", "(", ")", "-", "/", ","):
            return None
    return None


def _past_bracket(tokens: Sequence[Token], j: int) -> int | None:
    """Return where a bracketed remark ends that a colon or an equals sign follows: `(across all GPUs): 512`."""
    for k in range(j + 1, min(j + _FAR, len(tokens) - 1)):
        if tokens[k].text == ")":
            return k + 1 if tokens[k + 1].text in (":", "=", "is", "of") else None
    return None


def _in_front(tokens: Sequence[Token], label: Label) -> int | None:
    """Return the number in front of the label: `a 128 global batch size`, `512 samples per step`; never `16x`, a ratio."""
    at = label.first - 1
    while at > 0 and tokens[at].text in ("unique", "packed", "training"):
        at -= 1
    if tokens[at].kind != NUMBER or is_list(tokens, at) or not is_bare(tokens, label.stop):
        return None
    front = tokens[at - 1].text if at > 0 else ""
    return None if front in ("/", "//", "*", "x", ",", "or", "and", "-", "+", "=") else at


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
    hint=("gbs", "batch", "bs", "per step", "per optim", "per update", "per iter"),
    read=read,
)
