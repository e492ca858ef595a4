"""What makes a description of a framework short: parts that tables share, variants, versions, and words that stand for longer ones.

A description is what TOML gives. `expand` returns the plain descriptions it stands for, one for each variant, in which nothing is
inherited or abbreviated any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from pytest_gbs.model.limits import (
    DEEPEST_INHERITED,
    DEEPEST_WORDS,
    LONGEST_WORDS,
    MOST_DESCRIBED,
    MOST_INHERITED,
    MOST_VARIANTS,
    MOST_VERSIONS,
    MOST_WORD_CHARACTERS,
)
from pytest_gbs.model.location import dotted
from pytest_gbs.model.record import NamedTuple

Raw = dict[str, Any]
Find = Callable[[str], Raw | None]
Path = tuple[str | int, ...]

# Lists of which a table has its own and those that it inherits, by where they are; every other list is replaced.
_JOINED: Final = {
    (): frozenset(
        (
            "equations",
            "constraints",
            "exclusions",
            "requirements",
            "switches",
            "texts",
            "removals",
            "also",
            "names",
            "companions",
            "includes",
        )
    ),
    ("recognise",): frozenset(("all-of", "none-of", "marks")),
}
# What a description has for itself: no other inherits it.
_OWN: Final = frozenset(("title", "variants", "parts"))


class NotationError(Exception):
    """A description inherits from one that is not there, in a circle, or grows without end.

    The message is the rest of a sentence that starts with the key at `path`.
    """

    def __init__(self, path: Path, message: str) -> None:
        super().__init__(message)
        self.path = path


class Plain(NamedTuple):
    """A plain description, the words that were put into it, and the number of the variant it is, None if there are none."""

    raw: Raw
    words: Raw
    variant: int | None


def expand(raw: Raw, find: Find) -> tuple[Plain, ...]:
    """The plain descriptions of `raw`: one, or one for each of its variants; `find` gives the description of a name.

    A variant may inherit from the `parts` of its own file as well.

    Raises:
        NotationError: it inherits from a description that does not exist, or from itself, or it stands for more than it may.
    """
    parts: Raw = raw.get("parts", {})
    whole = _Family(find).over({}, {key: value for key, value in raw.items() if key not in ("parts", "variants")})
    variants = raw.get("variants", ())
    if len(variants) > MOST_VARIANTS:
        raise NotationError(("variants",), f"are more than {MOST_VARIANTS}")
    putting = _Putting()
    if not variants:
        return (_plain(whole, putting, None),)
    family = _Family(lambda name: parts[name] if name in parts else find(name))
    found = []
    for number, variant in enumerate(variants):
        try:
            found.append(_plain(family.over(whole, variant), putting, number))
        except NotationError as error:
            error.path = ("variants", number, *error.path)
            raise
    return tuple(found)


class _Family:
    """Descriptions that inherit from each other, each put together once."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self._known: dict[str, Raw] = {}
        self._asked: list[str] = []

    def over(self, base: Raw, raw: Raw) -> Raw:
        """`raw` over all that it inherits, and that over `base`; of several parents the later is nearer.

        Raises:
            NotationError: as for `expand`.
        """
        names = dict.fromkeys(words(raw.get("inherits", ())))
        if len(names) > MOST_INHERITED:
            raise NotationError(("inherits",), f"names more than {MOST_INHERITED} tables")
        for name in names:
            base = merge(base, self._whole(name))
        return merge(base, {key: value for key, value in raw.items() if key != "inherits"})

    def _whole(self, name: str) -> Raw:
        """What others inherit from the description of that name."""
        if name in self._known:
            return self._known[name]
        parent = self._find(name)
        if parent is None:
            raise NotationError(("inherits",), f'is "{name[:80]}", and there is no table of that name')
        if name in self._asked:
            raise NotationError(("inherits",), f'is "{name[:80]}", which refers back to itself')
        if len(self._asked) >= DEEPEST_INHERITED:
            raise NotationError(("inherits",), f"is more than {DEEPEST_INHERITED} tables deep")
        self._asked.append(name)
        try:
            whole = self.over({}, parent)
        except NotationError as error:
            raise NotationError(("inherits",), f'is "{name[:80]}", where {dotted(error.path)} {error}') from error
        self._asked.pop()
        found = self._known[name] = {key: value for key, value in whole.items() if key not in _OWN}
        return found


def merge(base: Raw, own: Raw) -> Raw:
    """`base` with `own` over it: tables are merged, own list entries go before inherited ones, all else is replaced.

    `own["without"]` names what is left out of `base` first: paths such as `keys.max_steps`, the last part of which may have dots, and
    `keys.training.*` for all that start so. Entries of a list go by what they are for: `equations.world_size`,
    `constraints.group-not-divisible`, `switches.finds-batch-size`.
    """
    kept = base
    for path in words(own.get("without", ())):
        less = _without(kept, path)
        if less is None:
            raise NotationError(("without",), f"leaves out {path[:80]}, which is not there")
        kept = less
    return _merged(kept, {key: value for key, value in own.items() if key != "without"}, ())


def _merged(base: Raw, own: Raw, path: tuple[str, ...]) -> Raw:
    merged = dict(base)
    for key, value in own.items():
        there = merged.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            merged[key] = _merged(there, value, (*path, key))
        elif there is not None and key in _JOINED.get(path, ()):
            entries = _listed(value)
            merged[key] = [*entries, *_others(key, _listed(there), entries)]
        else:
            merged[key] = value
    return merged


def _others(key: str, inherited_entries: list[Any], own: list[Any]) -> Iterator[Any]:
    """Yield the inherited entries of a list but those that stand among its own, and equations for sizes that an own one gives."""
    if key != "equations":
        return (entry for entry in inherited_entries if entry not in own)
    given = {_given_by(equation) for equation in own}
    return (equation for equation in inherited_entries if _given_by(equation) not in given)


def _given_by(equation: str | Raw) -> tuple[str, str | None, str | None, str]:
    """The size that an equation gives, the versions since and until which it does, and when."""
    described: Raw = {"formula": equation} if isinstance(equation, str) else equation
    return described["formula"].partition("=")[0].strip(), described.get("since"), described.get("until"), str(described.get("when", ""))


def _without(raw: Raw, path: str) -> Raw | None:
    """`raw` without what is at `path`; None if nothing is there."""
    first, _, rest = path.partition(".")
    inside = raw.get(first)
    if not rest:
        return {key: value for key, value in raw.items() if key != first} if first in raw else None
    if isinstance(inside, list):
        return _less(raw, first, [entry for entry in inside if rest not in _called(entry)])
    if not isinstance(inside, dict):
        return None
    if rest in inside:
        return _less(raw, first, {key: value for key, value in inside.items() if key != rest})
    if rest.endswith("*"):
        return _less(raw, first, {key: value for key, value in inside.items() if not key.startswith(rest[:-1])})
    deeper = _without(inside, rest)
    return None if deeper is None else {**raw, first: deeper}


def _less(raw: Raw, key: str, rest: Any) -> Raw | None:
    return None if len(rest) == len(raw[key]) else {**raw, key: rest}


def _called(entry: Any) -> tuple[Any, ...]:
    """What an entry of a list is for: an equation's size, a constraint's rule, a switch's condition, a key."""
    described: Raw = entry if isinstance(entry, dict) else {"formula": str(entry)}
    size = described.get("formula", "").partition("=")[0].strip()
    return size, described.get("rule"), described.get("condition"), described.get("key")


def words(stated: Any) -> tuple[str, ...]:
    """The words of a text or of a list of texts: `marks = "packing max_length"` says what a list of the two says."""
    return tuple(stated.split()) if isinstance(stated, str) else tuple(word for each in stated for word in each.split())


def _listed(stated: Any) -> list[Any]:
    return stated.split() if isinstance(stated, str) else list(stated)


def _plain(whole: Raw, putting: _Putting, variant: int | None) -> Plain:
    """`whole` with its words put in, and each version of `before` as the whole description that it is."""
    newest = {key: value for key, value in whole.items() if key != "before"}
    versions: Raw = whole.get("before", {})
    if len(versions) > MOST_VERSIONS:
        raise NotationError(("before",), f"has more than {MOST_VERSIONS} versions")
    known = putting.settled(whole.get("let", {}))
    plain = putting.into(newest, known)
    if versions:
        plain["before"] = {version: putting.into(_era(newest, version, changes), known) for version, changes in versions.items()}
    return Plain(plain, known, variant)


def _era(newest: Raw, version: str, changes: Raw) -> Raw:
    try:
        return merge(newest, changes)
    except NotationError as error:
        error.path = ("before", version, *error.path)
        raise


def put_in(value: Any, words: Raw) -> Any:
    """A part of a description with its words put in."""
    return _Putting().value(value, words)


class _Putting:
    """Puts words into descriptions, as many and as long as one file may have them."""

    def __init__(self) -> None:
        self._characters = MOST_WORD_CHARACTERS
        self._values = MOST_DESCRIBED

    def settled(self, known: Raw) -> Raw:
        """The words of a `let` with the words in them put in."""
        for _ in range(DEEPEST_WORDS):
            settled = {word: self._text(value, known) if isinstance(value, str) else value for word, value in known.items()}
            if settled == known:
                break
            known = settled
        return known

    def into(self, raw: Raw, known: Raw) -> Raw:
        """`raw` without its `let`, each word of which is in braces elsewhere: `{section}.lr`."""
        return {self._key(key, known): self.value(value, known) for key, value in raw.items() if key != "let"}

    def value(self, value: Any, known: Raw) -> Any:
        """`value` with the words in it put in."""
        self._values -= 1
        if self._values < 0:
            raise NotationError((), f"covers more than {MOST_DESCRIBED:,} values")
        if isinstance(value, str):
            return self._text(value, known)
        if isinstance(value, dict):
            return {self._key(key, known): self.value(each, known) for key, each in value.items()}
        return [self.value(each, known) for each in value] if isinstance(value, list) else value

    def _key(self, key: str, known: Raw) -> str:
        found = self._text(key, known)
        return found if isinstance(found, str) else str(found)

    def _text(self, text: str, known: Raw) -> Any:
        if "{" not in text:
            return text
        whole = text[1:-1]
        if text[0] == "{" and text[-1] == "}" and whole in known:
            return known[whole]  # a number stays one
        found = "".join(_pieces(text, known))
        self._characters -= len(found)
        if len(found) > LONGEST_WORDS or self._characters < 0:
            raise NotationError(("let",), "puts words into words without end")
        return found


def _pieces(text: str, known: Raw) -> Iterator[str]:
    """Yield the pieces of `text`, words in braces replaced; braces around anything else stay as they are."""
    first, *pieces = text.split("{")
    yield first
    for piece in pieces:
        word, closed, rest = piece.partition("}")
        if closed and word in known:
            yield f"{known[word]}{rest}"
        else:
            yield "{" + piece
