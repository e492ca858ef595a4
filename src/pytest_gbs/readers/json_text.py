"""Values in a text that is itself JSON: `accelerator_config: '{"split_batches": true}'` says what a mapping would."""

from __future__ import annotations

from pytest_gbs.model.document import Alias, Document, Node, Scalar
from pytest_gbs.model.limits import LONGEST_JSON_TEXT
from pytest_gbs.model.location import KeyPath


def value_node(document: Document, key: KeyPath) -> Node | None:
    """The value at `key`, also within a text that is a JSON object, whose place it then has; None if there is none."""
    entry = document.keyed.get(key)
    if entry is not None or len(key) < 2:
        return None if entry is None else entry[1]
    for depth in range(1, len(key)):
        above = document.keyed.get(key[:depth])
        if above is None:
            return None
        node = above[1].target if isinstance(above[1], Alias) else above[1]
        if isinstance(node, Scalar):
            return _within(node, key[depth:])
    return None


def _within(text: Scalar, key: KeyPath) -> Scalar | None:
    """The value at `key` of the JSON object that `text` is, None if it is not one or has no such value that is not a collection."""
    if not text.text.lstrip().startswith("{") or len(text.text) > LONGEST_JSON_TEXT:
        return None
    import json  # hardly any recipe has such a text

    try:
        value = json.loads(text.text)
    except (ValueError, RecursionError):
        return None
    for part in key:
        if not isinstance(value, dict) or part not in value:
            return None
        value = value[part]
    if isinstance(value, (dict, list)):
        return None
    return Scalar(text.start, text.stop, value if isinstance(value, str) else json.dumps(value), not isinstance(value, str))


__all__ = ["value_node"]
