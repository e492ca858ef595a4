"""Lists and tables of settings in a document: what one GPU takes at a time, its accumulation, and the batch that they make.

`| per_device_train_batch_size | 4 |`, `- Gradient accumulation steps: 8 (effective batch size 32)`; a table with several columns of
numbers is one list for each column.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from pytest_gbs.claims.documents import cells_of, prose, read_sections
from pytest_gbs.claims.grammars import read_declarations
from pytest_gbs.claims.grammars._sizes import size_called
from pytest_gbs.model.declaration import Force
from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.launch import SettingList
from pytest_gbs.model.limits import MOST_DIGITS
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Origin, Quantity

_TOTAL: Final = tuple(f"{mark} {what}" for mark in ("effective", "global", "total") for what in ("batch size", "batch", "train batch size"))
# Of one device or of all.
_PLAIN: Final = ("batch size", "train batch size", "training batch size")

_item = lazy_pattern(r"[ \t]*[-*+][ \t]+([^:=|\n]{1,60}?)[*`_ \t]*[:=][*`_ \t]*")
_number = lazy_pattern(
    r"[*`_ \t]*(\d{1,3}(?:,\d{3})+|\d{1,9})[*`_ \t]*"
    r"(?:$|[(;]|[,.–—-](?:[ \t]|$)|per[ _-]?(?:device|gpu)|(?:step|sample|example|sequence)s?\b)"
)
_not_a_word = lazy_pattern(r"\([^()\n]{0,60}\)|[^a-z]+")

_Row = tuple[str, list[tuple[int, str]]]  # what it is called, and its cells, each with its place


def read_setting_lists(source: Source) -> Iterator[SettingList]:
    """Yield the lists of a document that state a batch, a micro batch and an accumulation."""
    for section in read_sections(source):
        rows: list[_Row] = []
        in_table = False
        for place, line in (*prose(source, section.start, section.stop), (section.stop, "")):
            item = _item().match(line)
            is_row = line.lstrip().startswith("|")
            if rows and (is_row != in_table or not (is_row or item or line.startswith((" ", "\t")))):
                yield from _lists(source, rows)
                rows = []
            in_table = is_row
            if is_row:
                cells = list(cells_of(place, line))
                rows += [(_words(cells[0][1]), cells[1:])] if cells else []
            elif item:
                rows.append((_words(item[1]), [(place + item.end(), line[item.end() :])]))


def _words(label: str) -> str:
    return _not_a_word().sub(" ", label.lower()).strip()


def _size(label: str) -> str | None:
    """The size that a row of this label is about, if it is one of a batch and its factors."""
    if label in _TOTAL:
        return Name.GLOBAL_BATCH_SIZE
    name = Name.MICRO_BATCH_SIZE if label in _PLAIN else size_called(label)
    return name if name in RANK_FACTORS else None


def _lists(source: Source, rows: Sequence[_Row]) -> Iterator[SettingList]:
    if not {_size(label) for label, _ in rows}.issuperset(RANK_FACTORS):
        return
    filled = [found for found in _columns(source, rows) if any(name in found for name in RANK_FACTORS)]
    if len(filled) == 1 and Name.GLOBAL_BATCH_SIZE not in filled[0]:
        filled[0][Name.GLOBAL_BATCH_SIZE] = [*_stated(source, rows)]
    for found in filled:
        if all(len({each.value for each in found.get(name, ())}) == 1 for name in (*RANK_FACTORS, Name.GLOBAL_BATCH_SIZE)):
            total, factors = found[Name.GLOBAL_BATCH_SIZE][0], tuple(found[name][0] for name in RANK_FACTORS)
            if factors[0].key not in _PLAIN or factors[0].value != total.value:
                yield SettingList(total, factors)


def _columns(source: Source, rows: Sequence[_Row]) -> Iterator[dict[str, list[Quantity]]]:
    """Yield the sizes that each column gives a number, of those that give any; one row may have thousands."""
    found: defaultdict[int, dict[str, list[Quantity]]] = defaultdict(dict)
    for label, cells in rows:
        name = _size(label)
        for number, (place, cell) in enumerate(cells if name is not None else ()):
            match = _number().match(cell)
            value = whole_number(match[1].replace(",", ""), MOST_DIGITS) if match else None
            if name is not None and match is not None and value:
                at = Location(source.path, place + match.start(1), place + match.end(1))
                found[number].setdefault(name, []).append(Quantity(name, value, Origin.COMMENT, key=label, at=at))
    yield from (found[number] for number in sorted(found))


def _stated(source: Source, rows: Sequence[_Row]) -> Iterator[Quantity]:
    """Yield the batches that the cells of `rows` state in words: `effective batch = 16`."""
    for _, cells in rows:
        for place, cell in cells:
            block = CommentBlock(cell, ((0, place),), None, "header")
            for each in read_declarations((block,), source.path) if "batch" in cell.lower() else ():
                if each.name == Name.GLOBAL_BATCH_SIZE and each.force == Force.STATES and each.unit != "tokens":
                    yield Quantity(each.name, each.value, Origin.COMMENT, at=each.at)
