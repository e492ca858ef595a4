"""The keys of a document by path, as its loader has them: merge keys and aliases followed, the last of repeated keys winning."""

from __future__ import annotations

from pytest_gbs.model.document import Alias, Duplicate, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_MERGED_KEYS
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.record import Final, TypeAlias
from pytest_gbs.readers.refusal import RefusedDocument
from pytest_gbs.readers.scalar import resolve

Entry: TypeAlias = tuple[Node, Node]
Index: TypeAlias = dict[KeyPath, Entry]

_MERGE_TAG: Final = "tag:yaml.org,2002:merge"


def text_of_key(key: Node) -> str | None:
    """The text of a scalar key, an alias followed; None for any other key."""
    node = key.target if type(key) is Alias else key
    return node.text if type(node) is Scalar else None


def is_merge(key: Node) -> bool:
    """Whether `key` is the merge key `<<` of YAML 1.1."""
    return type(key) is Scalar and key.text == "<<" and key.plain and key.tag in (None, _MERGE_TAG)


def duplicates(file: str, root: Node | None) -> tuple[Duplicate, ...]:
    """The keys that one mapping under `root`, a node of `file`, holds twice, in order."""
    found: list[Duplicate] = []
    _find_duplicates(file, root, (), found)
    return tuple(found)


def _find_duplicates(file: str, node: Node | None, path: KeyPath, found: list[Duplicate]) -> None:
    if type(node) is Sequence:
        for number, item in enumerate(node.items):
            _find_duplicates(file, item, (*path, number), found)
    if type(node) is not Mapping:
        return
    seen: dict[str, Node] = {}
    for key, value in node.entries:
        text = text_of_key(key)
        if text is None:
            continue
        place = (*path, text)
        first = seen.setdefault(text, key)
        if first is not key and not is_merge(key) and _same(first, key):
            one, two = (Location(file, each.start, each.stop, place) for each in (first, key))
            found.append(Duplicate(place, one, two))
        _find_duplicates(file, value, place, found)


def _same(first: Node, second: Node) -> bool:
    """Whether two keys of one text are one key to the loader: `8` and `"8"` are not."""
    one, two = (key.target if type(key) is Alias else key for key in (first, second))
    if type(one) is not Scalar or type(two) is not Scalar:
        return False
    left, right = resolve(one, Loader.PYYAML), resolve(two, Loader.PYYAML)
    return type(left) is type(right)


def follow(root: Node | None, most: int) -> Index:
    """The entries of `root` by path, those reached through aliases and merge keys included, at most `most` of them.

    Raises: Refused: a merge key has a value that cannot be merged, or merging goes too far.
    """
    keyed: Index = {}
    merger = _Merger()
    pending: list[tuple[KeyPath, Mapping]] = [((), root)] if type(root) is Mapping else []
    for path, mapping in pending:  # it grows: level by level, so that a cut takes what lies deepest
        for text, entry in merger.flatten(mapping, 0).items():
            if len(keyed) >= most:
                return keyed
            place = (*path, text)
            keyed[place] = entry
            value = entry[1].target if type(entry[1]) is Alias else entry[1]
            if type(value) is Mapping and len(place) < DEEPEST_DOCUMENT:
                pending.append((place, value))
    return keyed


class _Merger:
    """The entries of mappings after their merge keys, each mapping flattened once, as PyYAML's `flatten_mapping` does."""

    def __init__(self) -> None:
        self.flat: dict[int, dict[str, Entry]] = {}  # by identity: the nodes live as long as their root
        self.merged = 0

    def flatten(self, mapping: Mapping, depth: int) -> dict[str, Entry]:
        """The entries of `mapping` by key text: its own before merged ones, an earlier parent of a list before a later."""
        known = self.flat.get(id(mapping))
        if known is not None:
            return known
        merged: dict[str, Entry] = {}
        own: dict[str, Entry] = {}
        for entry in mapping.entries:
            key, value = entry
            if is_merge(key):
                if depth >= DEEPEST_DOCUMENT:
                    raise RefusedDocument(key.start, f"merge keys nested deeper than {DEEPEST_DOCUMENT} levels")
                for parent in reversed(_parents(value)):
                    more = self.flatten(parent, depth + 1)
                    self.merged += len(more)
                    if self.merged > MOST_MERGED_KEYS:
                        raise RefusedDocument(key.start, f"more than {MOST_MERGED_KEYS:,} keys are merged")
                    merged.update(more)
            elif (text := text_of_key(key)) is not None:
                own[text] = entry
        result = self.flat[id(mapping)] = merged | own
        return result


def _parents(value: Node) -> tuple[Mapping, ...]:
    """The mappings that a merge key with `value` includes; one that contains itself adds nothing."""
    node = value.target if type(value) is Alias else value
    found = []
    for each in node.items if type(node) is Sequence else (node,):
        parent = each.target if type(each) is Alias else each
        if type(parent) is Mapping:
            found.append(parent)
        elif parent is not None:
            raise RefusedDocument(value.start, "found a merge key whose value is neither a mapping nor a list of mappings")
    return tuple(found)
