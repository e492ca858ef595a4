"""Sizes in the names of files and runs: `sft-2n8g`, `llama-bs128`, `_64gpu`. People find recipes by them, but they are weak witnesses."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE, MOST_GPUS
from pytest_gbs.claims.grammars.words import OTHER_BATCH, PART_OF_BATCH, is_rule_code
from pytest_gbs.model.declaration import Declaration, Interval
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern, re
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import Final

_LONGEST: Final = 500
# `batch3` is the third batch of something.
_LEAST_BATCH: Final = 8


# The words for sizes, each between signs that are neither letter nor digit.
_tokens = lazy_pattern(
    r"(?<![a-z\d])(?<!\d\.)(?:"
    r"(\d{1,5})n(\d{1,2})g"
    r"|(\d{1,5})x(\d{1,2})(?:gpus?|x?(?:[abh]\d00|gb[23]00))"
    r"|b(\d{1,5})x(\d{1,5})"
    r"|(\d{1,5})xb(?![123]00(?!\d))(\d{1,5})"  # `2xB200` are GPUs
    r"|(\d{1,5})gpus?"
    r"|(\d{1,5})nodes?"
    r"|(?:gbs|bsz|bs|batch[-_]?size|batch())[-_=]?(\d{1,7})"
    r"|gpus?(8|16|32|64|128|256|512)"  # `gpu4` may be the fifth of a machine
    r")(?![a-z\d]|\.\d)",
    re.IGNORECASE,
)


_DIGITS: Final = frozenset("0123456789")


def name_of_file(path: str) -> tuple[Declaration, ...]:
    """The sizes in the name of the file at `path`, where that file starts."""
    return read_name(path.rpartition("/")[2].rpartition(".")[0], Location(path))


def read_name(text: str, at: Location) -> tuple[Declaration, ...]:
    """The sizes in `text`, the name of a file or run: each at its characters, or at all of `at`, where the name is put together."""
    if _DIGITS.isdisjoint(text):
        return ()
    found: list[Declaration] = []
    for match in _tokens().finditer(text, 0, _LONGEST):
        for name, group in _sizes(match):
            value = int(match[group])
            place = _place(at, match, group)
            ambiguous = name == Name.WORLD_SIZE and value in GPUS_PER_NODE
            found.append(Declaration(name, value, (Interval(value, value),), place, match.group(), "name", ambiguous=ambiguous, weak=True))
        if match[5] or match[8]:
            found.append(_batch_of(match, at))
    return _on_its_hardware([declaration for declaration in found if declaration.value > 0])


def _on_its_hardware(found: list[Declaration]) -> tuple[Declaration, ...]:
    """What a name states, its one batch on the GPUs that it states: `sft-64gpus-gbs128`, `sft-2n8g-gbs128`."""
    hardware = [each for each in found if each.name != Name.GLOBAL_BATCH_SIZE]
    batches = [each for each in found if each.name == Name.GLOBAL_BATCH_SIZE]
    is_whole = [each.name for each in hardware] in ([Name.WORLD_SIZE], [Name.NUM_NODES, Name.GPUS_PER_NODE])
    if not is_whole or len(batches) != 1 or batches[0].conditions:
        return tuple(found)
    gpus, places = prod(each.value for each in hardware), tuple(each.at for each in hardware)
    batch = batches[0]._replace(conditions=((Name.WORLD_SIZE, gpus),), condition_places=places, ambiguous=hardware[0].ambiguous)
    return *hardware, batch


def _sizes(match: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Yield the sizes that a word of a name states, each with its group."""
    for nodes, per_node in ((1, 2), (3, 4)):
        if match[nodes] and int(match[per_node]) in GPUS_PER_NODE:
            yield Name.NUM_NODES, nodes
            yield Name.GPUS_PER_NODE, per_node
    if match[9] and int(match[9]) <= MOST_GPUS:
        yield Name.WORLD_SIZE, 9
    if match[10]:
        yield Name.NUM_NODES, 10
    if match[13]:
        yield Name.WORLD_SIZE, 13
    least = _LEAST_BATCH if match[11] is not None else 1
    if match[12] and int(match[12]) >= least and not is_rule_code(match[0][: -len(match[12])], match[12]) and not _of_something_else(match):
        yield Name.GLOBAL_BATCH_SIZE, 12


def _of_something_else(match: re.Match[str]) -> bool:
    words = re.split(r"[^a-z]+", match.string[: match.start()].lower())[-3:]
    return any(word in OTHER_BATCH or word in PART_OF_BATCH for word in words)


def _place(at: Location, match: re.Match[str], group: int = 0) -> Location:
    """Where a part of the name stands that `at` gives, in quotes or without."""
    quotes, odd = divmod(at.stop - at.start - len(match.string), 2)
    if odd or quotes not in (0, 1):
        return at
    start = at.start + quotes
    return at._replace(start=start + match.start(group), stop=start + match.end(group))


def _batch_of(match: re.Match[str], at: Location) -> Declaration:
    """The batch that `b32x8` and `8xb32` stand for: 32 on each of 8 GPUs."""
    groups = (5, 6) if match[5] else (8, 7)
    micro, gpus = (int(match[group]) for group in groups)
    places = tuple(_place(at, match, group) for group in groups)
    whole = _place(at, match)
    value = micro * gpus
    conditions = ((Name.MICRO_BATCH_SIZE, micro), (Name.WORLD_SIZE, gpus))
    interval = (Interval(value, value),)
    return Declaration(
        Name.GLOBAL_BATCH_SIZE, value, interval, whole, match.group(), "name", conditions=conditions, condition_places=places, weak=True
    )
