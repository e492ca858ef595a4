"""A plain "batch size" that what is around it makes the global one: `8 GPUs, so batch size 128`, `bs = 8 GPUs * 4 * 2 acc`."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.claims.grammars._batch import GLOBAL_MARKS, Label, per_device
from pytest_gbs.claims.grammars._hardware import hardware
from pytest_gbs.claims.grammars._sizes import count_at, name_at, settings
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, Tokens, past, text_at
from pytest_gbs.claims.grammars.words import UNITS, words
from pytest_gbs.model.quantity import RANK_FACTORS, RANKS, Name
from pytest_gbs.model.record import Final

_PLAIN: Final = words("batch bs bsz batchsize")
_FAR: Final = 24
_SHORTEST: Final = 256  # a factor as large may be the length of a sequence
_NEAR: Final = 16  # so many times another number arithmetic may give, and be meant to give it
_GLOBAL_MARKS_BEHIND: Final = words("efectivo efectiva efetivo efetiva effectif effective effettivo")
_SO: Final = words("so -> thus hence therefore gives giving")
# Words in front that leave a batch size plain; others may make it the batch of something else.
_SIMULATING: Final = words("simulate simulates simulated simulating emulate emulates emulating equivalent equals")
_LEADING: Final = words("a the training train with uses and an of")
_TRAINING: Final = ("train", "training")
_MEANS: Final = words("( , = which that this means is equals i.e. ie namely i e .")
_OF_EACH: Final = words("device gpu rank replica card core worker micro mini")


def plain_labels(tokens: Tokens, *, beside_batch: bool = False) -> Iterator[Label]:
    """Yield each "batch size" that follows from the hardware, or is marked as the global one after its number.

    `beside_batch` says that the statement belongs to a batch key.
    """
    micro = {setting.at for setting in settings(tokens) if setting.name == Name.MICRO_BATCH_SIZE}
    if beside_batch:
        yield from (Label(i, i + 1) for i, token in enumerate(tokens) if token.text == "ebs")
    for i in range(len(tokens) - 1):
        stop = i + 1 + (tokens[i + 1].text == "size")
        if tokens[i].text not in _PLAIN:
            continue
        if text_at(tokens, stop) in _GLOBAL_MARKS_BEHIND:
            yield Label(i, stop + 1)
            continue
        worked_out = (
            _is_worked_out(tokens, stop, beside_batch)
            or _is_multiplied_out(tokens, stop)
            or _is_multiplied(tokens, stop)
            or _is_explained(tokens, stop)
            or _is_shared(tokens, stop)
            or (micro and stop + 1 not in micro and _is_equated(tokens, i, stop))
        )
        if (_is_free(tokens, i) and worked_out) or (beside_batch and _is_simulated(tokens, i, stop)):
            yield Label(i, stop)
            continue
        if _follows(tokens, i) and not per_device(tokens, stop):
            yield Label(i, stop)
            continue
        if tokens[i].text != "batch" or tokens[i + 1].text != "size" or per_device(tokens, i + 2):
            continue
        if _is_free(tokens, i) and (_becomes(tokens, i + 2) or _is_marked_global(tokens, i + 2)):
            yield Label(i, i + 2)


def _is_simulated(tokens: Tokens, i: int, stop: int) -> bool:
    """Whether the batch at token `i` is what accumulation gives: `simulate a batch size of 8`, `equivalent to batch size 16`."""
    j = past(tokens, i - 1, ("a", "an", "to", "the", "of"), -1)
    return text_at(tokens, j) in _SIMULATING and not per_device(tokens, stop)


def _is_equated(tokens: Tokens, i: int, stop: int) -> bool:
    """Whether `batch=16` is at token `i`, a batch by itself."""
    return tokens[i].text == "batch" and text_at(tokens, stop) == "=" and count_at(tokens, stop + 1) is not None


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
    """Whether three factors and what they really give are behind the equals sign at token `i`: `= 4 * 4 * 2 = 32`; none is a length."""
    factors: list[int] = []
    while text_at(tokens, i) in (("*", "x") if factors else ("=", ":")) and (found := count_at(tokens, i + 1)) is not None:
        factors.append(found.value)
        i += 2
    result = count_at(tokens, i + 1) if text_at(tokens, i) == "=" else None
    return result is not None and len(factors) > 2 and max(factors) < _SHORTEST and prod(factors) == result.value


def _is_multiplied(tokens: Tokens, i: int) -> bool:
    """Whether GPUs and a setting are multiplied behind the equals sign at token `i`: `= 8 GPUs * 1 per device * 16 acc`."""
    return text_at(tokens, i) == "=" and count_at(tokens, i + 1) is not None and _multiplies_gpus(tokens, i + 2)


def _is_explained(tokens: Tokens, i: int) -> bool:
    """Whether a number with a formula of GPUs and a setting is at token `i`: `is 128, which means num_gpus * micro_batch * accum`."""
    at = i + (text_at(tokens, i) in ("=", ":", "of", "is"))
    return count_at(tokens, at) is not None and _multiplies_gpus(tokens, past(tokens, at + 1, _MEANS))


def _multiplies_gpus(tokens: Tokens, i: int) -> bool:
    """Whether a name is at token `i` with others behind it, some of GPUs and some of settings of each, and a sign for times."""
    first = name_at(tokens, i)
    if first is None or text_at(tokens, first.stop) not in ("x", "*"):
        return False
    names = {named.name for j in range(i, min(i + _FAR, len(tokens))) if (named := name_at(tokens, j)) is not None}
    return not names.isdisjoint(RANKS) and not names.isdisjoint(RANK_FACTORS)


def _is_shared(tokens: Tokens, i: int) -> bool:
    """Whether a number with the smaller one of each device in brackets is at token `i`: `of 32 (4 per device)`."""
    at = i + (text_at(tokens, i) in ("=", ":", "of"))
    whole, part = count_at(tokens, at), count_at(tokens, at + 2)
    if whole is None or part is None or text_at(tokens, at + 1) != "(" or part.value >= whole.value:
        return False
    return any(per_device(tokens, j) for j in (at + 3, at + 4))


def _is_free(tokens: Tokens, i: int) -> bool:
    """Whether nothing in front makes the batch size at token `i` one of something else: `per_device_train_batch_size`."""
    if text_at(tokens, i - 1) in _TRAINING and text_at(tokens, i - 2) in _OF_EACH:
        return False
    return i == 0 or tokens[i - 1].kind == SIGN or tokens[i - 1].text in _LEADING


def _follows(tokens: Tokens, i: int) -> bool:
    """Whether the batch size at token `i` follows from hardware: `designed for 8 GPUs, so batch size 128`."""
    before = i - 1 - (text_at(tokens, i - 1) == "a")
    return text_at(tokens, before) in _SO and any(stated.stop <= i for stated in hardware(tokens))


def _becomes(tokens: Tokens, i: int) -> bool:
    """Whether "will be" is at token `i`, in a statement that names hardware: `batch_size will be 16 if 16 gpus`."""
    return text_at(tokens, i) in ("will", "becomes") and bool(hardware(tokens))


def _is_marked_global(tokens: Tokens, i: int) -> bool:
    """Whether "(global)" is at token `i` or behind the number, or "across" with the hardware."""
    if is_marked_global_at(tokens, i):
        return True
    at = next((j for j in range(i, min(i + 4, len(tokens))) if tokens[j].kind == NUMBER), None)
    if at is None:
        return False
    behind = text_at(tokens, at + 1)
    if (
        is_marked_global_at(tokens, at + 1)
        or behind in ("total", "globally", "overall")
        or (behind, text_at(tokens, at + 2)) == ("in", "total")
    ):
        return True
    return behind in ("across", "over") and any(stated.first > at for stated in hardware(tokens))


def is_marked_global_at(tokens: Tokens, i: int) -> bool:
    """Whether "(global)" or the like is at token `i`."""
    return text_at(tokens, i) == "(" and text_at(tokens, i + 1) in GLOBAL_MARKS and text_at(tokens, i + 2) == ")"
