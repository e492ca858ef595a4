"""What a YAML or JSON file says that a program loads by its name, as the value that the program has then."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache, reduce
from typing import Any, Final

from pytest_gbs.model.document import Document, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, LONGEST_LOADED, MOST_IMPORTED_MODULES
from pytest_gbs.model.location import KeyPath, Location, Source, endings, upwards
from pytest_gbs.model.program_context import Read
from pytest_gbs.readers.json_reader import read_json
from pytest_gbs.readers.python.results import CONFIGURATION, Entry, Items, Known, Lost, Made, Table, Value
from pytest_gbs.readers.scalar import loader_of, resolve
from pytest_gbs.readers.yaml_reader import read_yaml

_MERGES: Final = "<<"
_PYYAML: Final = "pyyaml"
_Span = tuple[int, int]


def loaded(name: str, folder: str | None, read: Read, span: _Span) -> Table | None:
    """The mapping in the one file called `name` in `folder` or above it; None if there are several, none, or no mapping in it.

    Without a folder `name` is the path of the file in the tree. Where the author has the tree is not known: of an absolute path the last
    three steps agree. All of the mapping is at `span`, where the program loads it.
    """
    if folder is None:
        source = read(name)
        return _table(source, span) if isinstance(source, Source) and name.endswith((".yaml", ".yml", ".json")) else None
    if not name.endswith((".yaml", ".yml", ".json")) or name.startswith(("~", "..")):
        return None
    names = endings(name, 3) if name.startswith("/") else (name.removeprefix("./"),)
    paths = dict.fromkeys(f"{at}/{each}".removeprefix("./").lstrip("/") for each in names for at in (folder, *upwards(folder), ""))
    found = [source for path in paths if isinstance(source := read(path), Source)]
    return _table(found[0], span) if len(found) == 1 else None


def configuration(table: Table) -> Made:
    """`table` as something whose keys are attributes, and those of the mappings in it."""
    entries: dict[str, Entry] = {key: (place, _open(value)) for key, (place, value) in table.entries.items()}
    return Made(CONFIGURATION, table._replace(entries=entries), None, table.start, table.stop)


def merged(values: list[Value], span: _Span) -> Made | None:
    """The configuration of mappings that are laid over each other, the first below; None if one of them is not known."""
    tables = [_closed(each) for each in values]
    if not tables or not all(isinstance(each, Table) for each in tables):
        return None
    found = reduce(_laid_over, (each for each in tables if isinstance(each, Table)))
    return configuration(found._replace(start=span[0], stop=span[1]))


def _laid_over(base: Table, over: Table) -> Table:
    """`over` with what only `base` has, unless `over` may have more than is known."""
    if over.rest is not None:
        return over
    entries = dict(base.entries)
    for key, (place, value) in over.entries.items():
        below, above = _closed(entries[key][1]) if key in entries else None, _closed(value)
        both = isinstance(below, Table) and isinstance(above, Table)
        entries[key] = place, configuration(_laid_over(below, above)) if both else value  # type: ignore[arg-type]
    return base._replace(entries=entries)


def _closed(value: Value) -> Value:
    return value.arguments if isinstance(value, Made) and value.name == CONFIGURATION else value


def composed(data: dict[Any, Any], given: dict[KeyPath, Location], span: _Span) -> Made:
    """The configuration that is `data`, of which a command line gives what has a place in `given`; all of it at `span`."""
    table = _composed(data, (), given, span)
    return configuration(table if isinstance(table, Table) else Table({}, *span, Lost(*span)))


def _composed(data: object, path: KeyPath, given: dict[KeyPath, Location], span: _Span) -> Value:
    if isinstance(data, (dict, list)) and len(path) >= DEEPEST_DOCUMENT:
        return Lost(*span)
    if isinstance(data, dict):
        return Table({str(key): (span, _composed(each, (*path, str(key)), given, span)) for key, each in data.items()}, *span)
    if isinstance(data, list):
        return Items(tuple(_composed(each, (*path, number), given, span) for number, each in enumerate(data)), *span)
    if isinstance(data, str) and "$" in data:
        return Lost(*span, given.get(path), data if path in given else "")  # what stands for a word that is not known
    known = data is None or isinstance(data, (bool, int, float, str))
    return Known(data, *span, given.get(path)) if known else Lost(*span, given.get(path))  # type: ignore[arg-type]


def _open(value: Value) -> Value:
    return configuration(value) if isinstance(value, Table) else value


@lru_cache(MOST_IMPORTED_MODULES)  # each use of its name asks for it, and each launch
def _table(source: Source, span: _Span) -> Table | None:
    if len(source.text) > LONGEST_LOADED:
        return None
    found = read_json(source) if source.path.endswith(".json") else read_yaml(source)
    document = found[0] if len(found) == 1 and isinstance(found[0], Document) else None
    if document is None or not isinstance(document.root, Mapping) or document.duplicates:
        return None
    value = _value(document.root, loader_of(document.syntax, _PYYAML), span, 0)
    return value if isinstance(value, Table) else None


def _value(node: Node, loader: str, span: _Span, depth: int) -> Value:
    if depth > DEEPEST_DOCUMENT:
        return Lost(*span)
    if isinstance(node, Mapping):
        entries: dict[str, Entry] = {key: (span, value) for key, value in _entries(node, loader, span, depth)}
        return Table(entries, *span, Lost(*span) if _MERGES in entries else None)
    if isinstance(node, Sequence):
        return Items(tuple(_value(each, loader, span, depth + 1) for each in node.items), *span)
    value = resolve(node, loader) if isinstance(node, Scalar) and "${" not in node.text else span
    return Known(value, *span) if value is None or isinstance(value, (bool, int, float, str)) else Lost(*span)


def _entries(node: Mapping, loader: str, span: _Span, depth: int) -> Iterator[tuple[str, Value]]:
    for key, value in node.entries:
        if isinstance(key, Scalar):
            yield key.text, _value(value, loader, span, depth + 1)
