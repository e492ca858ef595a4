"""What `${...}` does to a known value: a part of it, another case, a prefix or suffix taken off, text replaced."""

from __future__ import annotations

from pytest_gbs.model.command import Part
from pytest_gbs.model.location import Location
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.shell import patterns
from pytest_gbs.shell.limits import LONGEST_LIST, LONGEST_VALUE, TOO_LONG
from pytest_gbs.shell.state import made_of, text_of, unknown
from pytest_gbs.shell.text import Parts


class Expanded(NamedTuple):
    """What an expansion gives: one value, or several (`spread`) that are words of their own even between quotes."""

    elements: tuple[Parts, ...]
    spread: bool = False

    @property
    def parts(self) -> Parts:
        """The parts of all elements."""
        return tuple(part for element in self.elements for part in element)


def one(parts: Parts) -> Expanded:
    """One value."""
    return Expanded((parts,))


def joined(elements: tuple[Parts, ...], at: Location) -> Parts:
    """Elements as one value, with blanks between them."""
    found: list[Part] = []
    for number, element in enumerate(elements):
        found += [Part(" ", at, at), *element] if number else element
    return tuple(found)


def all_of(items: tuple[Parts, ...], sign: str, at: Location, *, quoted: bool) -> Expanded:
    """All items of an array, or all arguments: one value for a quoted `*`, as many words as items for `@`."""
    return one(joined(items, at)) if sign == "*" and quoted else Expanded(items, spread=True)


def any_number(arguments: tuple[Parts, ...] | None) -> tuple[bool, bool]:
    """Whether it is unknown how many `arguments` there are, and whether there are no others unless a user gives some."""
    if arguments is None:
        return True, True
    open_ = [parts[0] for parts in arguments if len(parts) == 1 and parts[0].text is None and parts[0].many]
    return bool(open_), bool(open_) and all(part.default for part in open_)


def is_longer(parts: Parts, most: int = LONGEST_VALUE) -> bool:
    """Whether a value has more than `most` characters, or so many parts that it would be slow to read."""
    return len(parts) > LONGEST_VALUE // 10 or sum(len(part.text or "") for part in parts) > most


def without_lists(parts: Parts) -> Parts:
    """`parts` with each long text that holds no option (the paths of all training data, say) unknown, the blanks around it kept."""
    found: list[Part] = []
    for part in parts:
        text = part.text or ""
        if len(text) < LONGEST_LIST or _option().search(text) is not None:
            found.append(part)
            continue
        start, stop = len(text) - len(text.lstrip()), len(text.rstrip())
        found += [part.cut(0, start), unknown(TOO_LONG, part.use), part.cut(stop, len(text))]
    return tuple(part for part in found if part.text != "")


_option = lazy_pattern(r"(?:^|\s)-|=")


def sliced(name: str, found: Expanded, bounds: list[int | None], at: Location) -> Expanded:
    """Some characters of a value or some items of an array: `${A:1}`, `${A:0:2}`, `${A[@]:1}`."""
    if len(bounds) > 2 or any(bound is None or bound < 0 for bound in bounds):
        return Expanded(((unknown(name, at, many=found.spread),),), found.spread)
    start = bounds[0] or 0
    stop = None if len(bounds) == 1 else start + (bounds[1] or 0)
    if found.spread:
        if any(part.many for part in found.parts):
            return Expanded(((unknown(name, at, many=True, default=name in "@*"),),), spread=True)
        items = ((), *found.elements) if name in "@*" else found.elements
        return Expanded(items[start:stop], spread=True)
    text = text_of(found.parts)
    if text is None:
        return one((unknown(name, at),))
    return one(_cut(found.parts, text, start, len(text) if stop is None else min(stop, len(text)), at))


def stripped(parts: Parts, text: str, sign: str, pattern: str, at: Location) -> Parts | None:
    """A value after `%`, `%%`, `#` or `##`; None if it is unknown."""
    strip = patterns.without_suffix if sign[0] == "%" else patterns.without_prefix
    left = strip(text, pattern, longest=len(sign) == 2)
    if left is None:
        return None
    start = 0 if sign[0] == "%" else len(text) - len(left)
    return _cut(parts, text, start, start + len(left), at)


def with_text(parts: Parts, text: str, at: Location) -> Parts:
    """`parts` if `text` is what they are, else `text` as something that was made of them at a place."""
    return parts if text == text_of(parts) else (made_of(parts, text, at),)


def with_case(text: str, sign: str) -> str:
    """A text after `^`, `^^`, `,` or `,,`."""
    change = str.upper if sign[0] == "^" else str.lower
    return change(text) if len(sign) == 2 else change(text[:1]) + text[1:]


def _cut(parts: Parts, text: str, start: int, stop: int, at: Location) -> Parts:
    """The characters `start` to `stop` of a value, with their own places if they are from one part."""
    if len(parts) == 1:
        return (parts[0].cut(start, stop),) if stop > start else ()
    return (made_of(parts, text[start:stop], at),)
