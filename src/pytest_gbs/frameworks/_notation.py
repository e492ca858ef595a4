"""What makes a description of a framework short: parts that tables share, variants, and words that stand for longer ones.

A description is what TOML gives. `expand` returns the plain descriptions it stands for, one for each variant, in which nothing is
inherited, named or abbreviated any more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_gbs.core.typed import Any, Final

Raw = dict[str, Any]

# Lists of which a table has its own and those that it inherits, by where they stand; every other list is replaced.
_JOINED: Final = {
    (): frozenset(
        ("equations", "constraints", "exclusions", "requirements", "switches", "texts", "removals", "also", "names", "companions")
    ),
    ("recognise",): frozenset(("all-of", "none-of", "marks")),
}
# What a description has for itself: no other inherits it.
_OWN: Final = frozenset(("variants", "parts"))
_MOST_INHERITED: Final = 9  # descriptions, one inheriting from the next
_DEEPEST: Final = 9  # words that stand for words
_LONGEST: Final = 10_000  # characters of a text in which words were put in


class NotationError(Exception):
    """A description inherits from one that is not there, in a circle, or grows without end. The message says which."""


def expand(raw: Raw, find: Callable[[str], Raw | None]) -> tuple[Raw, ...]:
    """Return the plain descriptions of `raw`: one, or one for each of its variants; `find` gives the description of a name.

    A variant may inherit from the `parts` of its own file as well, and `without` leaves parts of the file's top level out of it, too.

    Raises:
        NotationError: it inherits from a description that does not exist, or from itself.
    """
    parts: Raw = raw.get("parts", {})

    def nearest(name: str) -> Raw | None:
        return parts[name] if name in parts else find(name)

    whole = inherited({key: value for key, value in raw.items() if key != "parts"}, find)
    variants = whole.pop("variants", None) or [{}]
    return tuple(_with_words(merge(whole, _variant(variant, nearest))) for variant in variants)


def _variant(raw: Raw, find: Callable[[str], Raw | None]) -> Raw:
    return {**inherited(raw, find), "without": raw.get("without", ())}


def inherited(raw: Raw, find: Callable[[str], Raw | None], depth: int = 0) -> Raw:
    """Return `raw` over all that it inherits; of several parents the later is nearer.

    Raises:
        NotationError: as for `expand`.
    """
    if depth > _MOST_INHERITED:
        raise NotationError("inherits from itself")
    base: Raw = {}
    for name in words(raw.get("inherits", ())):
        parent = find(name)
        if parent is None:
            raise NotationError(f'inherits "{name[:80]}", and there is no such table')
        base = merge(base, {key: value for key, value in inherited(parent, find, depth + 1).items() if key not in _OWN})
    return merge(base, {key: value for key, value in raw.items() if key != "inherits"})


def merge(base: Raw, own: Raw) -> Raw:
    """Return `base` with `own` over it: tables are merged, own list entries go before inherited ones, all else is replaced.

    `own["without"]` names what is left out of `base` first: paths such as `keys.max_steps`, the last part of which may have dots, and
    `keys.training.*` for all that start so. Entries of a list go by what they are for: `equations.world_size`,
    `constraints.group-not-divisible`, `switches.finds-batch-size`.
    """
    kept = dict(base)
    for path in words(own.get("without", ())):
        kept = _without(kept, path)
    return _merged(kept, {key: value for key, value in own.items() if key != "without"}, ())


def _merged(base: Raw, own: Raw, path: tuple[str, ...]) -> Raw:
    merged = dict(base)
    for key, value in own.items():
        inside = (*path, key)
        there = merged.get(key)
        if isinstance(value, dict) and isinstance(there, dict):
            merged[key] = _merged(there, value, inside)
        elif there is not None and key in _JOINED.get(path, ()):
            own_entries, others = _listed(value), _listed(there)
            merged[key] = [*own_entries, *(_not_replaced(others, own_entries) if key == "equations" else others)]
        else:
            merged[key] = value
    return merged


def _not_replaced(inherited_equations: list[Any], own: list[Any]) -> Iterator[Any]:
    """Yield the inherited equations but those for sizes that an own equation gives in the same versions."""
    replaced = {_given_by(equation) for equation in own}
    return (equation for equation in inherited_equations if _given_by(equation) not in replaced)


def _given_by(equation: str | Raw) -> tuple[str, str | None, str | None]:
    """Return the size that an equation gives, and the versions since and until which it does."""
    described = {"formula": equation} if isinstance(equation, str) else equation
    return described["formula"].partition("=")[0].strip(), described.get("since"), described.get("until")


def _without(raw: Raw, path: str) -> Raw:
    first, _, rest = path.partition(".")
    if rest and isinstance(raw.get(first), list):
        return {**raw, first: [entry for entry in raw[first] if rest not in _called(entry)]}
    if not rest or not isinstance(raw.get(first), dict):
        return {key: value for key, value in raw.items() if key != path and (rest or key != first)}
    if rest in raw[first]:
        return {**raw, first: {key: value for key, value in raw[first].items() if key != rest}}
    if rest.endswith("*"):
        return {**raw, first: {key: value for key, value in raw[first].items() if not key.startswith(rest[:-1])}}
    return {**raw, first: _without(raw[first], rest)}


def _called(entry: Any) -> tuple[Any, ...]:
    """Return what an entry of a list is for: an equation's size, a constraint's rule, a switch's condition, a key."""
    described = entry if isinstance(entry, dict) else {"formula": str(entry)}
    size = described.get("formula", "").partition("=")[0].strip()
    return size, described.get("rule"), described.get("condition"), described.get("key")


def words(stated: Any) -> tuple[str, ...]:
    """Return the words of a text or of a list of texts: `marks = "packing max_length"` says what a list of the two says."""
    return tuple(stated.split()) if isinstance(stated, str) else tuple(word for each in stated for word in each.split())


def _listed(stated: Any) -> list[Any]:
    return stated.split() if isinstance(stated, str) else list(stated)


def _with_words(raw: Raw) -> Raw:
    """Return `raw` without its `let`, each word of which stands in braces elsewhere: `{section}.lr`."""
    known = raw.get("let", {})
    for _ in range(_DEEPEST):
        settled = {word: _put_in(value, known) for word, value in known.items()}
        if settled == known:
            break
        known = settled
    return {_put_in(key, known): _put_in(value, known) for key, value in raw.items() if key != "let"} if known else raw


def _put_in(value: Any, known: Raw) -> Any:
    if isinstance(value, str):
        return _text(value, known) if "{" in value else value
    if isinstance(value, dict):
        return {_put_in(key, known): _put_in(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_put_in(each, known) for each in value]
    return value


def _text(text: str, known: Raw) -> Any:
    whole = text[1:-1]
    if text[0] == "{" and text[-1] == "}" and whole in known:
        return known[whole]  # a number stays one
    found = "".join(_pieces(text, known))
    if len(found) > _LONGEST:
        raise NotationError("puts words into words without end")
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
