"""Reading a file again after an edit, as YAML 1.1 and as YAML 1.2: nothing but the intended values may have changed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pytest_gbs.arithmetic.wording import listing
from pytest_gbs.model.document import RECIPES, Alias, Document, Mapping, Node, Scalar, followed
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import MOST_REREAD_CHARACTERS
from pytest_gbs.model.location import KeyPath, Source, Unreadable, dotted
from pytest_gbs.model.outcome import Edit
from pytest_gbs.readers import read
from pytest_gbs.readers.scalar import loader_of, resolve

if TYPE_CHECKING:
    from ruamel.yaml.nodes import Node as RuamelNode


def unintended(before: Source, after: Source, edits: tuple[Edit, ...]) -> str:
    """In words what `edits` changed in a configuration beside the values that they stand in, or nothing.

    A key that an edit inserts is intended where its name is in the replacement. A launching file holds no such values.
    """
    if not before.path.lower().endswith(RECIPES):
        return ""
    old, new = read(before), read(after)
    if any(isinstance(each, Unreadable) for each in new) and not any(isinstance(each, Unreadable) for each in old):
        return "the file could no longer be read"
    if len(old) != len(new):
        return "the file would have another number of documents"
    for one, other in zip(old, new, strict=True):
        if isinstance(one, Document) and isinstance(other, Document):
            changed = list(_changed(one, other, edits))
            if changed:
                return f"{listing(changed[:3], last='and')} would change too"
    return _unintended_12(before, after, edits) if before.path.lower().endswith((".yaml", ".yml")) else ""


def _changed(old: Document, new: Document, edits: tuple[Edit, ...]) -> Iterator[str]:
    """Yield the key paths whose values differ, but for those whose own value an edit is in."""
    values, others = _values(old), _values(new)
    inserted = "\n".join(edit.replacement for edit in edits if not edit.expected)
    for path in [*values, *(path for path in others if path not in values)]:
        if path in values and path in others and values[path] == others[path]:
            continue
        if path in values and _stands_in(old, path, edits):
            continue
        if path not in values and str(path[-1]) in inserted:
            continue
        yield dotted(path)


def _stands_in(document: Document, path: KeyPath, edits: tuple[Edit, ...]) -> bool:
    node = document.keyed[path][1]
    return any(edit.at.start < node.stop and node.start < edit.at.stop for edit in edits)


def _values(document: Document) -> dict[KeyPath, object]:
    """The value at each key path as PyYAML has it: scalars resolved, of lists the scalars in them."""
    loader = loader_of(document.syntax, Loader.PYYAML)
    return {path: _value(entry[1], loader) for path, entry in document.keyed.items()}


def _value(node: Node, loader: str) -> object:
    """What can be compared of `node`: a mapping's own entries have key paths of their own."""
    target = followed(node)
    if isinstance(target, Scalar):
        value = resolve(target, loader)
        return (type(value).__name__, repr(value), target.tag)
    if isinstance(target, Mapping):
        return "mapping"
    return tuple(_scalars(target, loader)) if target is not None else None


def _scalars(node: Node, loader: str) -> Iterator[object]:
    """Yield the scalars below a list in order; what an alias repeats is compared where it is."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Scalar):
            value = resolve(current, loader)
            yield (type(value).__name__, repr(value), current.tag)
        elif isinstance(current, Alias):
            yield ("alias", current.name)
        elif isinstance(current, Mapping):
            yield ("mapping", len(current.entries))
            pending.extend(part for entry in reversed(current.entries) for part in reversed(entry))
        else:
            yield ("list", len(current.items))
            pending.extend(reversed(current.items))


def _unintended_12(before: Source, after: Source, edits: tuple[Edit, ...]) -> str:
    """What a YAML 1.2 reader sees changed beside the values that the edits stand in, or nothing."""
    if len(before.text) > MOST_REREAD_CHARACTERS:
        return f"the file has more than {MOST_REREAD_CHARACTERS:,} characters, too many to read it again as YAML 1.2"
    old = _nodes_12(before)
    if old is None:
        return ""  # nor could it be read before
    new = _nodes_12(after)
    if new is None:
        return "YAML 1.2 could no longer read the file"
    if any(not edit.expected and "\n" in edit.replacement for edit in edits):
        return ""  # inserted keys shift everything; the other reader has looked at the key paths
    if len(old) != len(new):
        return "YAML 1.2 would see another structure"
    for (tag, value, start, stop), (other_tag, other, _, _) in zip(old, new, strict=True):
        if (tag, value) != (other_tag, other) and not any(edit.at.start < stop and start < edit.at.stop for edit in edits):
            return f"YAML 1.2 would read {value[:40]!r} as {other[:40]!r}"
    return ""


def _nodes_12(source: Source) -> list[tuple[str, str, int, int]] | None:
    """Every node of the file as YAML 1.2 has it, in text order: tag, scalar text, and span; None if it can't be read."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="rt", pure=True)
    yaml.version = (1, 2)
    try:
        roots = list(yaml.compose_all(source.text))
    except (YAMLError, ValueError, RecursionError, AttributeError, NotImplementedError, AssertionError):
        return None
    return [each for root in roots if root is not None for each in _walk_12(root)]


def _walk_12(root: RuamelNode) -> Iterator[tuple[str, str, int, int]]:
    """Yield the nodes below `root` once each, whatever aliases lead to them."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

    pending, seen = [root], set()
    while pending:
        node = pending.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        text = str(node.value) if isinstance(node, ScalarNode) else str(len(node.value))
        yield str(node.tag), text, node.start_mark.index, node.end_mark.index
        if isinstance(node, MappingNode):
            pending.extend(part for entry in reversed(node.value) for part in reversed(entry))
        elif isinstance(node, SequenceNode):
            pending.extend(reversed(node.value))
