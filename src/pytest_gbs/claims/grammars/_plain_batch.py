"""A plain "batch size" that what is around it makes the global one: `8 GPUs, so batch size 128`, `bs = 8 GPUs * 4 * 2 acc`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.claims.grammars._batch import BATCH, Label
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._shapes import Notation
from pytest_gbs.claims.grammars._sizes import count_at, name_at, settings
from pytest_gbs.claims.grammars._tokens import Tokens, text_at
from pytest_gbs.claims.grammars.words import UNITS, words
from pytest_gbs.model.quantity import RANK_FACTORS, RANKS, Name
from pytest_gbs.model.record import Final

_PLAIN: Final = words("batch bs bsz batchsize")
_FAR: Final = 24
_SHORTEST: Final = 256  # a factor as large may be the length of a sequence
_NEAR: Final = 16  # so many times another number arithmetic may give, and be meant to give it

_shape: Final = Notation(BATCH, PLAIN=_PLAIN)
_GLOBAL_BEHIND: Final = _shape("efectivo|efectiva|efetivo|efetiva|effectif|effective|effettivo")
# `simulate a batch size of 8`, `equivalent to batch size 16`: what accumulation gives.
_SIMULATED: Final = _shape(
    "simulate|simulates|simulated|simulating|emulate|emulates|emulating|equivalent|equals a|an|to|the|of* @ PLAIN size? !PER_DEVICE"
)
# Nothing in front makes it a batch of something else: `per_device_train_batch_size`.
_FREE: Final = _shape(
    "[^ | SIGN|a|the|training|train|with|uses|and|an|of] ![device|gpu|rank|replica|card|core|worker|micro|mini train|training] @"
)
_EQUATED: Final = _shape("batch size? = COUNTED")
# Three factors and what they give: `= 4 * 4 * 2 = 32`.
_MULTIPLIED_OUT: Final = _shape("=|: COUNTED x|* COUNTED [x|* COUNTED]+ = COUNTED")
_MULTIPLIED: Final = _shape("= COUNTED")  # `= 8 GPUs * 1 per device * 16 acc`
# `is 128, which means num_gpus * micro_batch * accum`.
_EXPLAINED: Final = _shape("=|:|of|is? COUNTED (|,|=|which|that|this|means|is|equals|i.e.|ie|namely|i|e|.*")
# `of 32 (4 per device)`: the smaller one is that of each device.
_SHARED: Final = _shape("=|:|of? whole:COUNTED ( part:COUNTED [PER_DEVICE | ANY PER_DEVICE]")
_FOLLOWS: Final = _shape("so|->|thus|hence|therefore|gives|giving a? @ PLAIN size? !PER_DEVICE")
_BATCH_SIZE: Final = _shape("batch size !PER_DEVICE")
_BECOMES: Final = _shape("will|becomes")  # `batch_size will be 16 if 16 gpus`
_MARKED: Final = _shape("MARKED")
_NUMBER_MARKED: Final = _shape("~NUMBER? ~NUMBER? ~NUMBER? number:NUMBER [MARKED | total|globally|overall | in total | of:across|over]")


def plain_labels(tokens: Tokens, *, beside_batch: bool = False) -> Iterator[Label]:
    """Yield each "batch size" that follows from the hardware, or is marked as the global one after its number.

    `beside_batch` says that the statement belongs to a batch key.
    """
    micro = {setting.at for setting in settings(tokens) if setting.name == Name.MICRO_BATCH_SIZE}
    if beside_batch:
        yield from (Label(i, i + 1) for i, token in enumerate(tokens) if token.text == "ebs")
    for i, token in enumerate(tokens[:-1]):
        if token.text not in _PLAIN:
            continue
        stop = i + 1 + (tokens[i + 1].text == "size")
        if _GLOBAL_BEHIND.at(tokens, stop):
            yield Label(i, stop + 1)
            continue
        worked_out = (
            _is_worked_out(tokens, stop, beside_batch)
            or _is_multiplied_out(tokens, stop)
            or (_MULTIPLIED.at(tokens, stop) and _multiplies_gpus(tokens, stop + 2))
            or ((explained := _EXPLAINED.at(tokens, stop)) and _multiplies_gpus(tokens, explained.stop))
            or _is_shared(tokens, stop)
            or (micro and stop + 1 not in micro and _EQUATED.at(tokens, i))
        )
        if (
            (worked_out and _FREE.at(tokens, i))
            or (beside_batch and _SIMULATED.at(tokens, i))
            or (_FOLLOWS.at(tokens, i) and any(stated.stop <= i for stated in hardware(tokens)))
        ):
            yield Label(i, stop)
        elif _BATCH_SIZE.at(tokens, i) and _FREE.at(tokens, i) and (_becomes(tokens, i + 2) or _is_marked_global(tokens, i + 2)):
            yield Label(i, i + 2)


def _is_worked_out(tokens: Tokens, i: int, beside_batch: bool) -> bool:
    """Whether a number with its three factors is at token `i`: `128 (4 x 4 x 8)`, `128 = 4 x 4 x 8`; not `3 (3 x 224 x 224)`.

    Beside a batch key the factors may give another number that is as large, by mistake: `128 (4 x 4 x 16)`.
    """
    at = i + (text_at(tokens, i) in ("=", ":", "of"))
    whole = count_at(tokens, at)
    at += UNITS.get(text_at(tokens, at + 1)) == "samples"  # `512 sequences (32 x 4 x 4)`
    if whole is None or text_at(tokens, at + 1) not in ("(", "="):
        return False
    ends = (")",) if text_at(tokens, at + 1) == "(" else (",", ".", ";", "(", "=")
    stop = next((j for j in range(at + 2, min(at + _FAR, len(tokens))) if tokens[j].text in ends), len(tokens) if ends[1:] else 0)
    signs = [token.text for token in tokens[at + 2 : stop] if token.text in ("x", "*", "/", "//")]
    factors = [found.value for j in range(at + 2, stop) if (found := count_at(tokens, j)) is not None]
    given = prod(factors)
    near = beside_batch and len(factors) == len(signs) + 1 and max(given, whole.value) <= _NEAR * min(given, whole.value)
    return len(signs) > 1 and "/" not in "".join(signs) and (given == whole.value or near)


def _is_multiplied_out(tokens: Tokens, i: int) -> bool:
    """Whether three factors and what they really give are behind the equals sign at token `i`; none of them is a length."""
    match = _MULTIPLIED_OUT.at(tokens, i)
    numbers = [found.value for at in range(i + 1, match.stop, 2) if (found := count_at(tokens, at))] if match is not None else [0, 1]
    return max(numbers[:-1]) < _SHORTEST and prod(numbers[:-1]) == numbers[-1]


def _multiplies_gpus(tokens: Tokens, i: int) -> bool:
    """Whether a name is at token `i` with others behind it, some of GPUs and some of settings of each, and a sign for times."""
    first = name_at(tokens, i)
    if first is None or text_at(tokens, first.stop) not in ("x", "*"):
        return False
    names = {named.name for j in range(i, min(i + _FAR, len(tokens))) if (named := name_at(tokens, j)) is not None}
    return not names.isdisjoint(RANKS) and not names.isdisjoint(RANK_FACTORS)


def _is_shared(tokens: Tokens, i: int) -> bool:
    """Whether a number with the smaller one of each device in brackets is at token `i`."""
    match = _SHARED.at(tokens, i)
    whole, part = (count_at(tokens, match.places[name]) for name in ("whole", "part")) if match is not None else (None, None)
    return whole is not None and part is not None and part.value < whole.value


def _becomes(tokens: Tokens, i: int) -> bool:
    """Whether "will be" is at token `i`, in a statement that names hardware."""
    return _BECOMES.at(tokens, i) is not None and bool(hardware(tokens))


def _is_marked_global(tokens: Tokens, i: int) -> bool:
    """Whether "(global)" is at token `i` or behind the number, or "across" with the hardware."""
    if _MARKED.at(tokens, i):
        return True
    match = _NUMBER_MARKED.at(tokens, i)
    if match is None or "of" not in match.places:
        return match is not None
    return any(stated.first > match.places["number"] for stated in hardware(tokens))
