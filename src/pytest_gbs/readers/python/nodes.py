"""Values of a program as nodes of a document."""

from __future__ import annotations

from pytest_gbs.model.document import Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT
from pytest_gbs.readers.python.results import Items, Known, Lost, Made, Table, Value
from pytest_gbs.readers.scalar import COMPUTED


def mapping_of(table: Table, depth: int, left: list[int]) -> Mapping:
    """`table` as a node at this depth of a document, of which `left` more nodes are made."""
    entries = []
    for name, ((start, stop), value) in table.entries.items():
        left[0] -= 1
        if left[0] > 0 and depth < DEEPEST_DOCUMENT:
            entries.append((Scalar(start, stop, name, False), _node(value, depth + 1, left)))
    return Mapping(table.start, table.stop, tuple(entries), COMPUTED if depth and table.rest is not None else None)


def _node(value: Value, depth: int, left: list[int]) -> Node:
    """`value` as a node of a document; what the text does not fix is a scalar with the tag `COMPUTED`."""
    left[0] -= 1
    if left[0] < 0 or depth >= DEEPEST_DOCUMENT:
        return Scalar(value.start, value.stop, "", False, COMPUTED)
    if isinstance(value, Table):
        return mapping_of(value, depth, left)
    if isinstance(value, Made):
        return mapping_of(value.arguments, depth, left)
    if isinstance(value, Items):
        return Sequence(value.start, value.stop, tuple(_node(each, depth + 1, left) for each in value.items))
    if isinstance(value, Known):
        return _scalar(value)
    text = value.text if isinstance(value, Lost) else ""
    return Scalar(value.start, value.stop, text, False, None if text else COMPUTED)


def as_text(value: Value) -> str | None:
    """`value` as a word of a command line gives it, None if it is not known or no number, text or switch."""
    known = isinstance(value, Known) and value.value is not None
    return _scalar(value).text if known and isinstance(value, Known) else None


def _scalar(known: Known) -> Scalar:
    if isinstance(known.value, str):
        return Scalar(known.start, known.stop, known.value, False)
    words = {True: "true", False: "false", None: "null"}
    text = words[known.value] if known.value is None or isinstance(known.value, bool) else repr(known.value)
    return Scalar(known.start, known.stop, text, True)
