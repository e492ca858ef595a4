"""Which key a comment belongs to, by where it is among the entries of its document."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from pytest_gbs.model.document import Mapping, Node, Sequence
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.record import Final, NamedTuple, TypeAlias
from pytest_gbs.readers.index import Entry, Index, text_of_key

HEADER: Final = "header"
ABOVE: Final = "above"
TRAILING: Final = "trailing"
END: Final = "end"

Span: TypeAlias = tuple[int, int]
Owner: TypeAlias = tuple[KeyPath | None, str]
# A block of comment lines: where it starts, whether it is alone on its lines, its lines, and where each comes from.
Block: TypeAlias = tuple[int, bool, list[str], list[Span]]


class Keys(NamedTuple):
    """The entries of a document: `keyed` those reached through mappings alone, `inner` those within sequences.

    Where keys are `repeated` neither has all of them, and the nodes under `root` are asked.
    """

    keyed: Index
    inner: Index
    root: Node | None
    repeated: bool


class Ordered(NamedTuple):
    """Entries in the order of the text: where their keys start, their paths, and the entries themselves."""

    starts: list[int]
    paths: list[KeyPath]
    entries: list[Entry]


def ordered(index: Index) -> Ordered:
    """The entries of `index`, which holds them in the order of the text."""
    entries = list(index.values())
    return Ordered([entry[0].start for entry in entries], list(index), entries)


def owners(blocks: Iterable[Block], keys: Keys) -> list[Owner]:
    """The owner and placement of each block.

    A comment behind something belongs to the last key before it. One on lines of its own belongs to the next key below it,
    but to the key of the value around it if no other key follows in there: between the plain items of a sequence.
    """
    keyed, inner, root, repeated = keys
    outer = _written(root) if repeated else ordered(keyed)
    within = ordered({} if repeated else inner)
    starts, paths, entries = outer
    found: list[Owner] = []
    for place, alone, _, _ in blocks:
        number = bisect_right(starts, place)
        if not number:
            found.append(_owner_before_keys(place, alone, outer, within, root))
        elif not alone:
            found.append(((within.starts and _last_key(place, starts[number - 1], within)) or paths[number - 1], TRAILING))
        elif place < entries[number - 1][1].stop:
            found.append((_next_key(place, entries[number - 1][1].stop, (within, outer)) or paths[number - 1], ABOVE))
        else:
            found.append((paths[number], ABOVE) if number < len(paths) else (None, END))
    return found


def _owner_before_keys(place: int, alone: bool, outer: Ordered, inner: Ordered, root: Node | None) -> Owner:
    """The owner and placement of a block with no key reached through mappings before it."""
    if root is None or place < root.start:
        return None, HEADER
    if not alone:
        return _last_key(place, root.start - 1, inner), TRAILING
    return (_next_key(place, root.stop, (inner, outer)), ABOVE) if place < root.stop else (None, END)


def _last_key(place: int, start: int, inner: Ordered) -> KeyPath | None:
    """The last key of `inner` that starts between `start` and `place`, if there is one."""
    number = bisect_right(inner.starts, place)
    return inner.paths[number - 1] if number and inner.starts[number - 1] > start else None


def _next_key(place: int, stop: int, choices: tuple[Ordered, ...]) -> KeyPath | None:
    """The first key of the first of `choices` that has one between `place` and `stop`."""
    for ordered in choices:
        number = bisect_right(ordered.starts, place)
        if number < len(ordered.starts) and ordered.starts[number] < stop:
            return ordered.paths[number]
    return None


def _written(root: Node | None) -> Ordered:
    """Every entry under `root` in the order of the text, repeated keys included."""
    found: list[tuple[KeyPath, Entry]] = []
    _collect(root, (), found)
    return Ordered([entry[0].start for _, entry in found], [path for path, _ in found], [entry for _, entry in found])


def _collect(node: Node | None, path: KeyPath, found: list[tuple[KeyPath, Entry]]) -> None:
    if type(node) is Sequence:
        for number, item in enumerate(node.items):
            _collect(item, (*path, number), found)
    if type(node) is Mapping:
        for entry in node.entries:
            text = text_of_key(entry[0])
            if text is not None:
                found.append(((*path, text), entry))
                _collect(entry[1], (*path, text), found)
