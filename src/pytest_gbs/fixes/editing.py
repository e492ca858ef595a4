"""Applying edits to texts: each replaces what it expects to find, and everything else stays as it is."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.outcome import Edit

Read: TypeAlias = "Callable[[str], Source | Unreadable]"


def by_source(edits: Iterable[Edit]) -> dict[str, tuple[Edit, ...]]:
    """The edits of each file in text order, equal ones once."""
    found: defaultdict[str, dict[Edit, None]] = defaultdict(dict)
    for edit in edits:
        found[edit.at.source].setdefault(bare(edit))
    return {path: tuple(sorted(of_file, key=lambda edit: edit.at[1:3])) for path, of_file in found.items()}


def bare(edit: Edit) -> Edit:
    """`edit` without its key path: two rules may reach one place in two ways."""
    return edit._replace(at=edit.at._replace(path=None))


def overlap(a: Edit, b: Edit) -> bool:
    """Whether two bare edits of one file touch each other; equal ones do not."""
    return a != b and a.at.start <= b.at.stop and b.at.start <= a.at.stop


def edit_all(edits: Mapping[str, tuple[Edit, ...]], read: Read) -> dict[str, Source] | str:
    """The files as they are after `edits` (`by_source`), by path, or in words why they can't be made."""
    changed: dict[str, Source] = {}
    for path, of_file in edits.items():
        source = read(path)
        if not isinstance(source, Source):
            return f"{path} can't be read: {source.reason}"
        text = _edited(source.text, of_file)
        if text is None:
            return f"{path} does not hold what is to be replaced"
        changed[path] = source._replace(text=text, digest=b"")
    return changed


def _edited(text: str, edits: tuple[Edit, ...]) -> str | None:
    """`text` after `edits`, which are in order; None if one finds something else than it expects, or two touch."""
    parts: list[str] = []
    here = 0
    for edit in edits:
        start, stop = edit.at.start, edit.at.stop
        if start < here or text[start:stop] != edit.expected or stop > len(text):
            return None
        parts += [text[here:start], edit.replacement]
        here = stop
    return "".join([*parts, text[here:]])


def shifting(edits: Mapping[str, tuple[Edit, ...]]) -> Callable[[str, int], int]:
    """A function that maps an offset of a file to its offset after `edits`."""
    tables: dict[str, tuple[list[int], list[int]]] = {}
    for path, of_file in edits.items():
        stops, shifts, shift = [], [], 0
        for edit in of_file:
            shift += len(edit.replacement) - len(edit.expected)
            stops.append(edit.at.stop)
            shifts.append(shift)
        tables[path] = (stops, shifts)

    def shifted(path: str, offset: int) -> int:
        if path not in tables:
            return offset
        stops, shifts = tables[path]
        number = bisect_right(stops, offset)
        return offset + (shifts[number - 1] if number else 0)

    return shifted
