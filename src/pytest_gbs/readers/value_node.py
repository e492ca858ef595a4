"""Values that lie in a list, in a text that is itself JSON (`accelerator_config: '{"split_batches": true}'`), or behind a reference."""

from __future__ import annotations

from pytest_gbs.model.document import Document, Mapping, Node, Scalar, Sequence, followed
from pytest_gbs.model.limits import LONGEST_JSON_TEXT
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.record import Final
from pytest_gbs.readers.index import is_merge

EACH: Final = "*"
"""The part of a key that stands for each item of a list, or for each value of a mapping."""


def value_node(document: Document, key: KeyPath) -> Node | None:
    """The value at `key`, also within a text that is a JSON object, whose place it then has; None if there is none.

    `!ref <name>` is the value of the key that it names. `datasets.*.batch_size` is what all items of the list share; where
    they differ, or some have none, it is the list. A mapping of names is one too.
    """
    entry = document.keyed.get(key)
    if entry is not None:
        found = entry[1]
        if type(found) is not Scalar or found.tag is None:
            return found
        from pytest_gbs.readers.references import referred

        return referred(document, found)
    if len(key) < 2:
        return None
    for depth in range(1, len(key)):
        above = document.keyed.get(key[:depth])
        if above is None:
            return None
        node = followed(above[1])
        if isinstance(node, Scalar):
            return _within(node, key[depth:])
        if isinstance(node, Sequence) or (isinstance(node, Mapping) and key[depth] == EACH):
            return _of_each(node, key[depth:])
    return None


def _of_each(items: Sequence | Mapping, key: KeyPath) -> Node | None:
    """What each of `items` has at `key`, whose first part stands for each of them; None if none has anything there."""
    if key[0] != EACH:
        return None
    each = items.items if isinstance(items, Sequence) else [value for _, value in items.entries]
    nodes = [_below(item, key[1:]) for item in each]
    found = [node for node in nodes if node is not None]
    same = len(found) == len(nodes) and all(isinstance(node, Scalar) for node in found)
    texts = {(node.text, node.plain, node.tag) for node in found if isinstance(node, Scalar)}
    return (found[0] if same and len(texts) == 1 else items) if found else None


def _below(node: Node, key: KeyPath) -> Node | None:
    """What `node` has at `key`, None if there is nothing; the mapping where it includes others, which are not followed."""
    for depth, part in enumerate(key):
        target = followed(node)
        if isinstance(target, Sequence):
            return _of_each(target, key[depth:])
        entries = target.entries if isinstance(target, Mapping) else ()
        found = [value for name, value in entries if isinstance(name, Scalar) and name.text == part]
        if not found:
            return target if any(map(is_merge, (name for name, _ in entries))) else None
        node = found[-1]
    return followed(node)


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
