"""The words and numbers that all grammars share: how people call GPUs, nodes, batches, and how they write a number down."""

from __future__ import annotations

from functools import lru_cache

from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.limits import LARGEST_PRODUCT, MOST_DIGITS
from pytest_gbs.model.record import Final, NamedTuple

_POWERS: Final = {"k": 1, "K": 1, "M": 2, "B": 3}
_POWERS_OF_TWO: Final = tuple(1 << power for power in range(10, 40))


def words(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


_SPELT_OUT: Final = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
COUNTED: Final = {word: value for value, word in enumerate(_SPELT_OUT.split(), start=1)}
SINGLE: Final = words("single one a an")
NODES: Final = words("node nodes machine machines server servers host hosts 节点 ノード 노드")
DEVICES: Final = words("gpu gpus npu npus hpu hpus device devices card cards accelerator accelerators")
_CHIPS: Final = words(
    "a10 a10g a30 a40 a100 a800 a6000 b100 b200 b300 gaudi gaudi2 gaudi3 gb200 gb300 gh200 h20 h100 h200 h800 l4 l20 l40 l40s p100 t4 v100"
    " mi100 mi210 mi250 mi250x mi300 mi300x mi325x mi355x rtx rtx3090 rtx4090 rtx5090 3090 4090 5090"
)
CHIPS: Final = _CHIPS | {f"{chip}s" for chip in _CHIPS}
SEPARATE: Final = NODES | DEVICES | words("bs acc")  # words that may be right behind a digit: `8gpus`

# A batch of something else than optimizer steps of training.
OTHER_BATCH: Final = words(
    "eval evals evaluate evaluation val valid validation test testing dev inference infer rollout rollouts generation generate gen decode"
    " prefill logprob logprobs prob probs encoder vae vit vision image map mapping dataloader loader tokenization tokenisation tokenizer"
    " preprocessing prefetch profile profiling fused bucket bucketing harness embedding teacher critic reward judge draft calibration"
    " warmup"
)
# A batch of one device, or of one pass.
PART_OF_BATCH: Final = words("micro mini local per device microbatch minibatch single sub each")
DEVICE_UNITS: Final = DEVICES | NODES | words("rank ranks worker workers replica process chip core instance dp")
APPROXIMATELY: Final = words("~ ~= about approximately approx around roughly circa nearly almost")
UNITS: Final = {
    **dict.fromkeys(words("samples sample sequences sequence seq seqs examples sentences conversations"), "samples"),
    **dict.fromkeys(words("tokens token tok toks"), "tokens"),
    **dict.fromkeys(words("prompts prompt questions"), "prompts"),
    **dict.fromkeys(words("completions completion responses trajectories"), "completions"),
    **dict.fromkeys(words("pairs pair"), "pairs"),
}
STEPS: Final = words("step steps batch batches iteration iterations iter iters update updates")


# No rule's number is a multiple of this; a batch that people write as three digits right behind "GBS" is.
_NO_RULE: Final = 32


def is_rule_code(name: str, digits: str) -> bool:
    """Whether `name` with `digits` right behind it is the code of a rule rather than a batch, such as 512."""
    return name.lower() == "gbs" and len(digits) == 3 and int(digits) % _NO_RULE != 0


def is_chip(word: str) -> bool:
    """Whether `word`, in lower case, is the name of a GPU model, plural or not."""
    return word in CHIPS


class Numeral(NamedTuple):
    """A number as written: its value as a whole number, and the whole numbers that it may stand for."""

    value: int
    holds: tuple[Interval, ...]


@lru_cache(maxsize=256)
def number(text: str, approximate: bool = False) -> Numeral | None:
    """What `text` (`128`, `1,048,576`, `4_096`, `2.1M`, `1k`, `2**10`, `eight`) may stand for, None if it is not a whole number.

    A plain number is exact. With a suffix it stands for all that rounds to it, in powers of 1000 and of 1024, and for the power of two
    that it cuts off (`65k`); trailing zeros are not significant (`500k`). `approximate` ("~", "about") adds 5 % to either side.
    """
    text = text.replace(",", "").replace("_", "")
    suffix = text[-1:] if text[-1:] in _POWERS else ""
    whole, _, decimals = text.removesuffix(suffix).partition(".")
    if suffix or decimals:
        return _rounded(whole, decimals, suffix, approximate)
    value = _exact(text)
    if value is None:
        return None
    return Numeral(value, (_around(value),) if approximate else (Interval(value, value),))


def _exact(text: str) -> int | None:
    if text in COUNTED:
        return COUNTED[text]
    base, _, exponent = text.replace("^", "**").partition("**")
    if not base.isdecimal() or len(base) > MOST_DIGITS:
        return None
    if not exponent:
        return int(base)
    if not exponent.isdecimal() or len(exponent) > 2 or len(base) > 2 or int(exponent) > 40:
        return None
    power: int = int(base) ** int(exponent)
    return power if power <= LARGEST_PRODUCT else None


def _rounded(whole: str, decimals: str, suffix: str, approximate: bool) -> Numeral | None:
    """The number `whole.decimals` with a suffix; a decimal number without one is not a size."""
    digits = whole + decimals
    if not suffix or not digits.isdecimal() or len(digits) > MOST_DIGITS or not int(digits):
        return None
    mantissa, scale = int(digits), len(decimals)
    power = _POWERS[suffix]
    binary, decimal = 1024**power, 1000**power
    # `1k`, `512k` and `0.5M` are meant in powers of two, `500k` and `2.1M` in powers of ten.
    base = binary if _is_power_of_two(mantissa, scale) else decimal
    value = mantissa * base // 10**scale
    exact = [_rounds_to(mantissa, scale, each) for each in (decimal, binary)]
    exact += [Interval(each, each) for each in _POWERS_OF_TWO if each * 10**scale // decimal == mantissa]  # 65k for 65,536
    loose = [_around(mantissa * each // 10**scale) for each in (decimal, binary)] if approximate else []
    return Numeral(value, _merged([*exact, *loose]))


def _is_power_of_two(mantissa: int, scale: int) -> bool:
    over: int = 10**scale
    larger, smaller = max(mantissa, over), min(mantissa, over)
    ratio, rest = divmod(larger, smaller)
    return rest == 0 and ratio.bit_count() == 1


def _rounds_to(mantissa: int, scale: int, base: int) -> Interval:
    """The whole numbers that, in units of `base`, round half up to `mantissa` at as many digits as are significant."""
    unit = 1
    while scale == 0 and mantissa % 10 == 0:
        mantissa, unit = mantissa // 10, unit * 10
    # Below 1, 10, 100 the next number of as many digits is ten times nearer: 950 rounds to 1k.
    below = 1 if mantissa in (1, 10, 100, 1000) else 10
    over = 20 * 10**scale
    low = -(-(20 * mantissa - below) * unit * base // over)
    high = -(-(20 * mantissa + 10) * unit * base // over) - 1
    return Interval(low, high)


def _around(value: int) -> Interval:
    return Interval(-(-value * 95 // 100), value * 105 // 100)


def _merged(intervals: list[Interval]) -> tuple[Interval, ...]:
    merged: list[Interval] = []
    for interval in sorted(intervals):
        if merged and interval.low <= merged[-1].high + 1:
            merged[-1] = Interval(merged[-1].low, max(merged[-1].high, interval.high))
        else:
            merged.append(interval)
    return tuple(merged)
