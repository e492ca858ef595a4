"""The comments of a YAML document as blocks of text, each with the key that it belongs to."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from pytest_gbs.model.document import CommentBlock, Mapping, Node, Scalar, Sequence
from pytest_gbs.model.record import Any, Final
from pytest_gbs.readers.owners import Block, Keys, Span, owners

_new: Final[Any] = tuple.__new__  # half the time that the constructor of a NamedTuple takes

# A `#` directly behind one of these can be a comment, if it is not part of a plain scalar; behind any other it cannot.
_TOKEN_ENDS: Final = "\"'[]{},:?"


def read_comments(flat: str, region: Span, opaque: list[Span], keys: Keys) -> tuple[CommentBlock, ...]:
    """The comments in `region`, the part of a text that holds the document of `keys`.

    `opaque` are the spans of quoted and block scalars, ascending: no comment starts within one.
    """
    blocks = _read_lines(flat, region, opaque, keys.root)
    found = [
        _new(CommentBlock, ("\n".join(lines), tuple(pieces), owner, placement))
        for (_, _, lines, pieces), (owner, placement) in zip(blocks, owners(blocks, keys), strict=True)
    ]
    return tuple(found)


def _read_lines(flat: str, region: Span, opaque: list[Span], root: Node | None) -> list[Block]:
    """The comments in `region` as blocks of lines.

    Comments on lines of their own that follow each other make one block. A comment behind something starts a block that
    goes on in the lines below it while they have their sign in the same column.
    """
    start, stop = region
    find = flat.find
    found: list[Block] = []
    lines: list[str] = []
    pieces: list[Span] = []
    plain: list[Span] | None = None
    number, last = 0, len(opaque)
    alone, length, next_line, column = False, 0, -1, -1
    place = find("#", start, stop)
    while place >= 0:
        while number < last and opaque[number][1] <= place:
            number += 1
        if number < last and opaque[number][0] <= place:
            place = find("#", opaque[number][1], stop)
            continue
        before = flat[place - 1] if place else "\n"
        if before not in " \n\t":
            if plain is None and before in _TOKEN_ENDS:
                plain = _plain_spans(root)
            if before not in _TOKEN_ENDS or _within(plain or [], place):
                place = find("#", place + 1, stop)
                continue
        end = find("\n", place, stop)
        if end < 0:
            end = stop
        raw = flat[place:end].rstrip()
        text = raw.lstrip("#").lstrip()
        origin = place + len(raw) - len(text)
        line = flat.rfind("\n", 0, place) + 1
        own = place == line or flat[line:place].isspace()
        if own and line == next_line and (alone or place - line == column):
            lines.append(text)
            pieces.append((length, origin))
            length += len(text) + 1
        else:
            alone, column, length = own, place - line, len(text) + 1
            lines, pieces = [text], [(0, origin)]
            found.append((place, own, lines, pieces))
        next_line = end + 1
        place = find("#", next_line, stop)
    return found


def _plain_spans(root: Node | None) -> list[Span]:
    """The spans of all plain scalars under `root`, ascending."""
    found: list[Span] = []
    pending = [root]
    while pending:
        node = pending.pop()
        if type(node) is Scalar and node.plain:
            found.append((node.start, node.stop))
        elif type(node) is Sequence:
            pending.extend(node.items)
        elif type(node) is Mapping:
            for entry in node.entries:
                pending.extend(entry)
    return sorted(found)


def _within(spans: list[Span], place: int) -> bool:
    number = bisect_right(spans, place, key=itemgetter(0)) - 1
    return number >= 0 and place < spans[number][1]


def stray_tab(flat: str, region: Span, opaque: list[Span], comments: tuple[CommentBlock, ...]) -> int | None:
    """The first tab in `region` that is neither in a quoted or block scalar nor in a comment, or None.

    libyaml takes a tab after `key:` and within a plain scalar. `yaml.safe_load`, which the frameworks call, is PyYAML's own
    scanner, and that stops at each: "found character '\\t' that cannot start any token" (PyYAML 6.0.3, yaml/scanner.py).
    """
    place = flat.find("\t", *region)
    if place < 0:
        return None
    signs = [flat.rfind("#", 0, origin) for block in comments for _, origin in block.pieces]
    covered = sorted([*opaque, *((sign, _line_end(flat, sign, region[1])) for sign in signs)])
    while place >= 0:
        number = bisect_right(covered, place, key=itemgetter(0)) - 1
        if number < 0 or covered[number][1] <= place:
            return place
        place = flat.find("\t", covered[number][1], region[1])
    return None


def _line_end(flat: str, place: int, stop: int) -> int:
    end = flat.find("\n", place, stop)
    return stop if end < 0 else end
