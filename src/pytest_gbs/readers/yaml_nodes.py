"""PyYAML's events as nodes: one loop, no resolver, the exact span of every key and value."""

from __future__ import annotations

from collections.abc import Callable

import yaml
from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent

from pytest_gbs.model.document import Alias, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.limits import DEEPEST_DOCUMENT, MOST_NODES
from pytest_gbs.model.location import KeyPath
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Any, Final
from pytest_gbs.readers.index import Index
from pytest_gbs.readers.refusal import TOO_DEEP, TOO_MANY, RefusedDocument

# PyYAML without libyaml gives the same events, some ten times slower.
_Parser: Final[Any] = yaml.cyaml.CParser if yaml.__with_libyaml__ else yaml.SafeLoader  # type: ignore[attr-defined]

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes
# Blanks and comments matched at once: each repeat of a pattern takes memory until the whole has matched.
_AT_ONCE: Final = 1_000


class Composer:
    """A parser and its state on one text: the next event, and what the document at hand remembers between events.

    `flat` is the text with one kind of line break. `keyed` and `inner` index the entries by path, those within sequences in
    `inner`; `written` counts them, repeated ones too. `opaque` are the spans of quoted and block scalars, in which `#` is no
    comment. `indirect` is true once the loaders' index can't be derived from `keyed` alone: an alias of a mapping, or a key
    that is not a scalar. `may_merge` says whether the text contains `<<`.
    """

    __slots__ = ("anchors", "flat", "indirect", "inner", "keyed", "may_merge", "next_event", "opaque", "text", "written")

    def __init__(self, text: str) -> None:
        next_event = _Parser(text).get_event
        # A character gives at most two events, so that short texts need no counting.
        self.next_event: Callable[[], Any] = next_event if len(text) < MOST_NODES // 4 else _counted(next_event)
        self.text = text
        self.flat = _flatten(text)
        self.may_merge = "<<" in text
        self.begin()

    def begin(self) -> None:
        """Forget the last document."""
        self.keyed: Index = {}
        self.inner: Index = {}
        self.written = 0
        self.anchors: dict[str, Node | None] = {}
        self.opaque: list[tuple[int, int]] = []
        self.indirect = False

    def root(self) -> Node:
        """The root of the document whose first event is next, and fill the index."""
        return self._node(self.next_event(), 0)

    def key(self, event: Any, depth: int) -> Node:
        """A key that is not a scalar; what it holds is not indexed."""
        index = self.keyed, self.inner, self.written
        self.keyed, self.inner = {}, {}
        node = self._node(event, depth)
        self.keyed, self.inner, self.written = index
        self.indirect = True
        return node

    def _node(self, event: Any, depth: int) -> Node:
        kind = type(event)
        if kind is ScalarEvent:
            return self.scalar(event, event.start_mark.index, event.end_mark.index, event.value)
        if kind is AliasEvent:
            return self.alias(event)
        return _collection(self, event, depth)

    def scalar(self, event: Any, start: int, stop: int, text: str) -> Scalar:
        """The scalar of `event` where it is quoted, a block, over several lines, or has an anchor or a tag."""
        style = event.style
        if event.anchor or event.tag:
            start = self.content(start, stop)
        if style in ("|", ">"):
            self.opaque.append((self.header_end(start, stop), stop))
            stop = start + len(self.text[start:stop].rstrip())
        elif style:
            self.opaque.append((start, stop))
        tag = None if event.tag == "!" and not style else event.tag  # PyYAML resolves a plain scalar behind `!` as if it were not there
        node: Scalar = _new(Scalar, (start, stop, text, not style, tag))
        if event.anchor:
            self.anchor(event)
            self.anchors[event.anchor] = node
        return node

    def header_end(self, start: int, stop: int) -> int:
        """Where the first line of a block scalar ends: a comment may be in it."""
        end = self.flat.find("\n", start, stop)
        end = stop if end < 0 else end
        sign = self.flat.find("#", start, end)
        if sign >= 0 and self.flat[sign - 1] not in " \t":
            raise RefusedDocument(sign, "found '#' directly behind a block indicator")  # libyaml takes it, PyYAML's own scanner does not
        return end

    def alias(self, event: Any) -> Alias:
        """The alias of `event`; without target where it is within the node that it names."""
        start, name = event.start_mark.index, event.anchor
        if name not in self.anchors:
            raise RefusedDocument(start, f"found undefined alias '{name}'")
        target = self.anchors[name]
        if type(target) is Mapping:
            self.indirect = True
        return Alias(start, event.end_mark.index, name, target)

    def anchor(self, event: Any) -> None:
        """Note that the anchor of `event` names a node that is not complete yet."""
        if event.anchor in self.anchors:
            raise RefusedDocument(event.start_mark.index, f"found duplicate anchor '{event.anchor}'")
        self.anchors[event.anchor] = None

    def content(self, start: int, stop: int) -> int:
        """Where the content of a node begins whose event, with anchor and tag, spans `start` to `stop`."""
        while match := _properties().match(self.flat, start, stop):
            before, start = start, match.end()
            if start - before < _AT_ONCE:
                break
        return start


def _collection(composer: Composer, opening: Any, depth: int) -> Node:  # noqa: PLR0912, PLR0915
    """The collection that `opening` starts, and index its entries.

    This is the loop that nearly all time is spent in: it keeps its own stack, and is written out for the common case, a plain
    scalar as the value of a plain scalar. A scalar whose span is as long as its text has neither quotes nor anchor nor tag.
    """
    next_event, keyed, inner = composer.next_event, composer.keyed, composer.inner
    new, scalar, scalar_event, mapping_end = _new, Scalar, ScalarEvent, MappingEndEvent  # locals are found faster
    stack: list[Any] = []
    entries: list[Any] = []
    key: Any = None
    place: KeyPath = ()
    path: KeyPath = ()
    in_mapping = type(opening) is MappingStartEvent
    into = keyed if in_mapping else inner
    begun = _open(composer, opening, depth)
    while True:
        event = next_event()
        kind = type(event)
        if kind is scalar_event:
            start = event.start_mark.index
            stop = event.end_mark.index
            text = event.value
            plain = stop - start == len(text)
            key = new(scalar, (start, stop, text, True, None)) if plain else composer.scalar(event, start, stop, text)
            if not in_mapping:
                entries.append(key)
                continue
            place = path + (text,)  # noqa: RUF005 - measured: faster than unpacking
        elif kind is mapping_end or kind is SequenceEndEvent:
            stop = _stop(opening, event, entries, in_mapping)
            node: Node = new(Mapping if in_mapping else Sequence, (begun, stop, tuple(entries), opening.tag))
            if in_mapping:
                composer.written += len(entries)
            if opening.anchor:
                composer.anchors[opening.anchor] = node
            if not stack:
                return node
            in_mapping, path, into, entries, opening, begun, key, place = stack.pop()
            if in_mapping:
                into[place] = entry = (key, node)
                entries.append(entry)
            else:
                entries.append(node)
            continue
        elif in_mapping:
            key = composer.key(event, depth + len(stack) + 1)
            place = (*path, len(entries))  # never the path of a key with text
        if in_mapping:
            event = next_event()
            kind = type(event)
            if kind is scalar_event:
                start = event.start_mark.index
                stop = event.end_mark.index
                text = event.value
                if stop - start == len(text):
                    into[place] = entry = (key, new(scalar, (start, stop, text, True, None)))
                else:
                    into[place] = entry = (key, composer.scalar(event, start, stop, text))
                entries.append(entry)
                continue
        else:
            place = (*path, len(entries))
        if kind is AliasEvent:
            node = composer.alias(event)
            if in_mapping:
                into[place] = entry = (key, node)
                entries.append(entry)
            else:
                entries.append(node)
            continue
        if in_mapping:
            into[place] = _PENDING  # keeps its rank before the keys within
        stack.append((in_mapping, path, into, entries, opening, begun, key, place))
        opening, path, entries = event, place, []
        begun = _open(composer, event, depth + len(stack))
        in_mapping = kind is MappingStartEvent
        if not in_mapping:
            into = inner


def _stop(opening: Any, event: Any, entries: list[Any], in_mapping: bool) -> int:
    """Where a collection ends: at its bracket, else with its last node, not where the next one starts."""
    if opening.flow_style or not entries:
        return int(event.end_mark.index)
    last = entries[-1][1] if in_mapping else entries[-1]
    return int(last.stop)


# What is in the index for a collection that is being read.
_PENDING: Final = (Scalar(0, 0, "", True), Scalar(0, 0, "", True))


def _open(composer: Composer, event: Any, depth: int) -> int:
    """Where the collection that `event` starts begins, its anchor noted."""
    start: int = event.start_mark.index
    if depth >= DEEPEST_DOCUMENT:
        raise RefusedDocument(start, TOO_DEEP)
    if event.anchor:
        composer.anchor(event)
    return composer.content(start, event.end_mark.index) if event.anchor or event.tag else start


def _counted(next_event: Callable[[], Any]) -> Callable[[], Any]:
    """`next_event` with an end: it refuses the text after too many events."""
    left = MOST_NODES

    def count() -> Any:
        nonlocal left
        left -= 1
        event = next_event()
        if left < 0:
            raise RefusedDocument(event.start_mark.index, TOO_MANY)
        return event

    return count


def _flatten(text: str) -> str:
    """`text` at the same offsets with every line break of YAML 1.1 as a line feed: a comment ends at each of them."""
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    if not text.isascii():
        for line_break in "\x85\u2028\u2029":
            text = text.replace(line_break, "\n")
    return text


# Anchors and tags, and the comments and line breaks between them and the content.
_properties = lazy_pattern(rf"(?:[&!]\S*|\s|#[^\n]*){{0,{_AT_ONCE}}}")
