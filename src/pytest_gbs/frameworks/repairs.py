"""Whole-number repairs: which single setting, changed to which value, gives the size that is wanted, and the edit that does it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import gcd, prod
from typing import Final

from pytest_gbs.arithmetic.near_miss import nearest
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.framework import Row, Treatment
from pytest_gbs.model.location import KeyPath, Location, dotted
from pytest_gbs.model.outcome import Applicability, Edit, Fix
from pytest_gbs.model.quantity import PARALLEL, RANKS, Name, Origin, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run

# What a recipe may state of its batch as a whole: each is a factor of what follows from it.
_TARGETS: Final = (Name.GLOBAL_BATCH_SIZE, Name.PROMPTS_PER_STEP, Name.GENERATION_BATCH_SIZE)
# In the order in which they are changed: accumulation costs no memory, and a target that is stated is wanted.
ORDER: Final = (Name.GRADIENT_ACCUMULATION_STEPS, Name.MICRO_BATCH_SIZE, *_TARGETS)
# Numbers of processes, which are for memory and machines to decide.
_OTHERS: Final = (
    *RANKS,
    *PARALLEL,
    Name.EXPERT_PARALLEL_SIZE,
    Name.REPLICATE_SIZE,
    Name.SHARD_SIZE,
    Name.NODES_PER_REPLICA,
    Name.GENERATION_NODES,
    Name.GENERATION_GPUS_PER_NODE,
    Name.JOB_NODES,
    Name.ENVIRONMENT_NODES,
)
_LARGEST: Final = 10**9


class Repair(NamedTuple):
    """Settings with the values that they would need, and the fix where their places are known: `words` is "key to value".

    `key` and `value` are those of the first of them.
    """

    words: str
    fix: Fix | None
    key: str
    value: int


def reaching(run: Run, size: Quantity, wanted: int) -> list[Repair]:
    """The changes of one setting with which `size` would be `wanted`, best first; of two where no single one does.

    Each of these settings is a factor of `size`, or `size` itself.
    """
    asked = next((leaf for leaf in leaves(size) if leaf.name == size.name), None) if size.because else None
    if asked is not None:
        return _asking(run, size, asked, wanted)
    settings = [leaf for leaf in _settings(size) if (row := _row(run, leaf)) is None or row.reading.text != Treatment.UNSET]
    if any(_is_misspelt(run, row.key) for leaf in settings if (row := _row(run, leaf)) is not None):
        return []  # the repair is to spell it right
    single = [(leaf, wanted * leaf.value // size.value) for leaf in settings if size.value > 0 and wanted * leaf.value % size.value == 0]
    found = [_repair(run, ((leaf, value),)) for leaf, value in single if 0 < value <= _LARGEST]
    if found:
        return found
    pair = [leaf for leaf in settings if leaf.name in ORDER[:2]]
    if len(pair) != 2 or size.value <= 0 or wanted * prod(leaf.value for leaf in pair) % size.value:
        return []
    accumulation, micro = pair
    both = wanted * micro.value * accumulation.value // size.value
    smaller = next((value for value in range(min(micro.value, both, 10_000), 0, -1) if both % value == 0), 0)
    if not smaller:
        return []
    return [_repair(run, ((accumulation, both // smaller), (micro, smaller)))]


def _asking(run: Run, size: Quantity, asked: Quantity, wanted: int) -> list[Repair]:
    """The change of what is `asked` for with which `wanted` trains, where `size` is what is left of it in whole parts."""
    part = prod(factor.value for factor in size.because if not any(leaf == asked for leaf in leaves(factor)))
    return [_repair(run, ((asked, wanted),))] if part > 0 and wanted % part == 0 and asked.key and 0 < wanted <= _LARGEST else []


def _settings(size: Quantity) -> list[Quantity]:
    """The settings that `size` is a product of, in order of preference, each once."""
    found = {leaf.name: leaf for leaf in reversed(leaves(size)) if leaf.name in ORDER and leaf.key and leaf.value > 0}
    if not size.because and size.origin in (Origin.FILE, Origin.LAUNCH) and size.key and size.name not in _OTHERS:
        found.setdefault(size.name, size)
    return sorted(found.values(), key=lambda leaf: ORDER.index(leaf.name) if leaf.name in ORDER else len(ORDER))


def _repair(run: Run, changes: tuple[tuple[Quantity, int], ...]) -> Repair:
    words = " and ".join(f"{leaf.key} to {value}" for leaf, value in changes)
    edits = [edit(run, leaf, value) for leaf, value in changes]
    title = f"change {words}"
    known = tuple(each for each in edits if each is not None)
    fix = Fix(title, Applicability.SETTINGS, known) if len(known) == len(edits) else None
    return Repair(words, fix, changes[0][0].key, changes[0][1])


def fixes(repairs: Iterable[Repair]) -> tuple[Fix, ...]:
    """The fixes of those of `repairs` whose places are known."""
    return tuple(repair.fix for repair in repairs if repair.fix is not None)


def change(run: Run, leaf: Quantity, value: int) -> Fix | None:
    """The fix that gives one setting another value, or None if its place is not known."""
    return _repair(run, ((leaf, value),)).fix if 0 < value <= _LARGEST else None


def dividing(run: Run, top: Sequence[Quantity], bottom: Sequence[Quantity]) -> list[Repair]:
    """The changes with which the product of `top` is divisible by that of `bottom`: the nearest value of one setting each."""
    top, bottom = _without_quotients(top, bottom)
    dividend, divisor = prod(size.value for size in top), prod(size.value for size in bottom)
    if dividend < 1 or divisor < 1:
        return []
    upper = {leaf.name: leaf for size in top for leaf in _settings(size)}
    lower = {leaf.name: leaf for size in bottom for leaf in _settings(size)}
    found: list[tuple[int, int, Quantity, int]] = []
    for name, leaf in upper.items():
        if name not in lower and dividend % leaf.value == 0:
            found += [(0, abs(v - leaf.value), leaf, v) for v in _multiples(dividend // leaf.value, divisor, leaf.value)]
    for name, leaf in lower.items():
        if name not in upper and divisor % leaf.value == 0 and dividend % (divisor // leaf.value) == 0:
            found += [(1, abs(v - leaf.value), leaf, v) for v in divisors(dividend // (divisor // leaf.value), leaf.value)]
    found.sort(key=lambda each: (each[0], _rank(each[2]), each[1], each[3]))
    repairs = (_repair(run, ((leaf, value),)) for _, apart, leaf, value in found if apart)
    return [repair for repair in repairs if repair.fix is not None]


def _without_quotients(top: Sequence[Quantity], bottom: Sequence[Quantity]) -> tuple[list[Quantity], list[Quantity]]:
    """Both sides of a division with what a rounded quotient was divided by on the other side: 100 // 8 % 4 is 100 % 32."""
    upper: list[Quantity] = []
    lower = list(bottom)
    for size in top:
        first, *rest = size.because or (size,)
        divisor = prod(part.value for part in rest)
        if rest and divisor and first.value // divisor == size.value and first.value * divisor != size.value:
            upper.append(first)
            lower += rest
        else:
            upper.append(size)
    return upper, lower


def at_least(run: Run, top: Sequence[Quantity], bottom: Sequence[Quantity], least: int) -> list[Repair]:
    """The changes with which the product of `top` is at least `least` times that of `bottom`: the smallest value of one setting."""
    top, bottom = _without_quotients(top, bottom)
    dividend, divisor = prod(size.value for size in top), prod(size.value for size in bottom)
    lower = {leaf.name for size in bottom for leaf in _settings(size)}
    found: list[Repair] = []
    for leaf in sorted({leaf.name: leaf for size in top for leaf in _settings(size)}.values(), key=_rank):
        if leaf.name not in lower and dividend > 0 and dividend % leaf.value == 0:
            value = -(-least * divisor // (dividend // leaf.value))
            repair = _repair(run, ((leaf, value),))
            found += [repair] if repair.fix is not None and 0 < value <= _LARGEST else []
    return found


def _rank(leaf: Quantity) -> int:
    """The place of a setting among those that may be changed for a division: what is wanted in all comes first."""
    return 0 if leaf.name in _TARGETS or leaf.name not in ORDER else 1 + ORDER.index(leaf.name)


def _multiples(rest: int, divisor: int, value: int) -> list[int]:
    """The numbers nearest to `value`, below and above, of which `rest` times each is a multiple of `divisor`."""
    step = divisor // gcd(rest, divisor)
    below = value // step * step
    return [number for number in (below, below + step) if 0 < number <= _LARGEST]


def divisors(number: int, value: int) -> list[int]:
    """The divisors of `number` nearest to `value`, below and above."""
    below = next((each for each in range(min(value, number, 100_000), 0, -1) if number % each == 0), 0)
    above = next((each for each in range(value, min(number, 4 * value) + 1) if number % each == 0), 0)
    return [each for each in dict.fromkeys((below, above)) if each]


def edit(run: Run, leaf: Quantity, value: int) -> Edit | None:
    """The edit that gives setting `leaf` another value, inserting its key if it has its default; None if there is none."""
    if leaf.at is None:
        return _insertion(run, leaf, value) if leaf.origin == Origin.DEFAULT else None
    written = _written(run, leaf.at, leaf.value)
    return None if written is None else Edit(leaf.at, written, written.replace(str(leaf.value), str(value)))


def _written(run: Run, at: Location, value: int) -> str | None:
    """The number at `at` as it is there, quotes included; None if it is there in another way."""
    plain = str(value)
    if at.source != run.path or run.places is not None:
        return plain if at.stop - at.start == len(plain) else None  # the editor compares
    text = run.document.source.text[at.start : at.stop]
    return text if text.strip("\"'") == plain else None


def _insertion(run: Run, leaf: Quantity, value: int) -> Edit | None:
    """The edit that puts the key of `leaf` behind another size of the same mapping, in the style of that one."""
    row = _row(run, leaf)
    if row is None or run.places is not None or run.launch is not None or row.key in run.document.keyed:
        return None
    for name in ORDER:
        for other in run.framework.rows:
            if other.name == name and other.key[:-1] == row.key[:-1] and other.key in run.document.keyed:
                return _behind(run, other.key, str(row.key[-1]), value)
    return None


def _row(run: Run, leaf: Quantity) -> Row | None:
    """The row whose default `leaf` is, or None if it has none of its own."""
    rows = run.framework.rows if leaf.at is None and leaf.origin == Origin.DEFAULT else ()
    return next((row for row in rows if row.name == leaf.name and dotted(row.key) == leaf.key), None)


def _is_misspelt(run: Run, key: KeyPath) -> bool:
    """Whether a key of the same mapping was probably meant to be `key`: then it is not a default that is missing."""
    beside = (path[-1] for path in run.document.keyed if path[:-1] == key[:-1])
    return any(nearest(str(word), (str(key[-1]),)) is not None for word in beside)


def _behind(run: Run, sibling: tuple[str | int, ...], key: str, value: int) -> Edit | None:
    text, path = run.document.source.text, run.path
    name, node = run.document.keyed[sibling]
    if not isinstance(name, Scalar) or not isinstance(node, Scalar) or "\n" in text[name.start : node.stop]:
        return None
    new = text[name.start : name.stop].replace(name.text, key) + text[name.stop : node.start]
    indent = text[max(text.rfind("\n", 0, name.start), text.rfind("\r", 0, name.start)) + 1 : name.start]
    ending = "\r\n" if "\r\n" in text else "\n"
    own_line = not indent.strip()
    comma = "," if run.document.syntax == "json" or not own_line else ""
    start = node.stop if comma else _line_stop(text, node.stop)
    number = f"{ending}{indent}{new}{value}" if own_line else f" {new}{value}"
    return Edit(Location(path, start, start, (*sibling[:-1], key)), "", comma + number)


def _line_stop(text: str, offset: int) -> int:
    ends = [end for sign in "\r\n" if (end := text.find(sign, offset)) >= 0]
    return min(ends, default=len(text))


def spelt(written: str, value: int) -> str:
    """`value` with the grouping of digits that `written` has."""
    if "," in written:
        return f"{value:,}"
    return f"{value:_}" if "_" in written else str(value)


def in_comment(run: Run, changes: Iterable[tuple[Location, int]]) -> Fix:
    """The fix that puts numbers in the place of others in the recipe's comments."""
    edits = tuple(_in_comment(run, dict(changes)))
    first, *others = edits
    more = "".join(f" and {each.expected} to {each.replacement}" for each in others)
    return Fix(f"change {first.expected} in the comment to {first.replacement}{more}", Applicability.DECLARATIONS, edits)


def _in_comment(run: Run, changes: dict[Location, int]) -> Iterator[Edit]:
    text = run.document.source.text
    for at, value in sorted(changes.items(), key=lambda change: change[0].start):
        written = text[at.start : at.stop]
        yield Edit(at, written, spelt(written, value))
