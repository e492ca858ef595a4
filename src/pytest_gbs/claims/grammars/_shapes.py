"""Shapes of statements, in a notation: `nodes:COUNT MAKER|CHIP* NODE` is `4 nodes`, and `2 DGX H100 machines`.

A shape is a row of terms with blanks between, which read the tokens of a statement one after the other:

    per|/            one of these words and signs
    NODE|hosts       classes beside words: words that a notation has a name for, or kinds of tokens (`_KINDS`)
    ~NODE|per        any token but these
    DEVICES          a shape that a notation has a name for
    [per GPU | /]    terms together, or the first of several rows of terms that fits
    a?  a*  a+       a term that may be missing, or be repeated
    nodes:COUNT      a term whose place is asked for later
    &a  !a  <a       what comes next, what does not, and what is right in front; none of it is read
    ^  $             where the statement starts, and where it ends
    @                where the shape starts; what is before it is in front of the shape, and read from there to the left

What a term has read it does not give back, so that no shape takes longer than the tokens that it reads.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from functools import cached_property, partial

from pytest_gbs.arithmetic.admissible import GPUS_PER_NODE
from pytest_gbs.claims.grammars._sizes import count_at, exact_count
from pytest_gbs.claims.grammars._tokens import NUMBER, SIGN, WORD, Tokens
from pytest_gbs.claims.grammars.words import is_chip
from pytest_gbs.model.record import Any, Final, NamedTuple, TypeAlias


def _is_tight(tokens: Tokens, i: int) -> bool:
    """Whether token `i` is between two others without blanks."""
    return 0 < i < len(tokens) - 1 and tokens[i - 1].stop == tokens[i].start and tokens[i].stop == tokens[i + 1].start


def _is_memory(tokens: Tokens, i: int) -> bool:
    text = tokens[i].text
    return tokens[i].kind == WORD and text[:1].isdigit() and text.rstrip("gib").isdigit()


_Kind: TypeAlias = Callable[[Tokens, int], bool]
_KINDS: Final[dict[str, _Kind]] = {
    "NUMBER": lambda tokens, i: tokens[i].kind == NUMBER,
    "WORD": lambda tokens, i: tokens[i].kind == WORD,
    "SIGN": lambda tokens, i: tokens[i].kind == SIGN,
    "ANY": lambda *_: True,
    "TIGHT": _is_tight,
    "COUNTED": lambda tokens, i: count_at(tokens, i) is not None,  # a positive number in digits
    "COUNT": lambda tokens, i: exact_count(tokens, i) is not None,  # an exact one that may be a count of GPUs, in words too
    "DIGITS": lambda tokens, i: tokens[i].kind == NUMBER and exact_count(tokens, i) is not None,
    "FEW": lambda tokens, i: exact_count(tokens, i) in GPUS_PER_NODE,
    "ONE": lambda tokens, i: exact_count(tokens, i) == 1,
    "AMOUNT": lambda tokens, i: tokens[i].kind == NUMBER and not is_chip(tokens[i].text),  # no model of a GPU
    "MEMORY": _is_memory,  # `80gb`
}
_Places: TypeAlias = list[tuple[str, int]]
# Reads tokens from one on: the next one, None if it does not fit. Places that are asked for go to the list.
_Reader: TypeAlias = Callable[[Tokens, int, _Places], "int | None"]


class Found(NamedTuple):
    """A shape that was found: its first token, the one behind it, and the places that are asked for, of terms that read something."""

    first: int
    stop: int
    places: dict[str, int]


class Notation:
    """What the shapes of a grammar have names for: `classes` are words, or shapes; those of `others` are known too."""

    def __init__(self, *others: Notation, **classes: Container[str]) -> None:
        self.classes: dict[str, Any] = {}
        for other in others:
            self.classes |= other.classes
        self.classes |= classes

    def __call__(self, shape: str) -> Shape:
        """The shape that `shape` says."""
        return Shape(self, shape)

    def reader(self, shape: str, step: int = 1) -> _Reader:
        """What reads `shape`, to the left with a step of -1."""
        return self._rows(iter(shape.replace("[", "[ ").replace("]", " ]").split()), step)[0]

    def _rows(self, terms: Iterator[str], step: int) -> tuple[_Reader, str]:
        """What reads terms up to the bracket that closes them, and how often they may be there."""
        rows: list[list[_Reader]] = [[]]
        often = ""
        for term in terms:
            test, name, text, times = _parted(term)
            if text == "|":
                rows.append([])
                continue
            if text == "]":
                often = times
                break
            inner, times = self._rows(terms, step) if text == "[" else (self._one(text, -1 if test == "<" else step), times)
            inner = partial(_repeated, inner, times) if times else inner
            inner = partial(_named, name, inner) if name else inner
            rows[-1].append(partial(_tested, test, inner) if test else inner)
        every = [row[0] if len(row) == 1 else partial(_sequence, row[::step]) for row in rows]
        return (every[0] if len(every) == 1 else partial(_either, every)), often

    def _one(self, term: str, step: int) -> _Reader:
        """What reads one term without brackets."""
        if isinstance(self.classes.get(term), str):
            return self.reader(self.classes[term], step)
        if term in ("^", "$"):
            return lambda tokens, i, _: None if 0 <= i < len(tokens) else i
        excluded = term[:1] == "~" and len(term) > 1
        names = set(term[excluded:].split("|"))
        kinds = [_KINDS[name] for name in names if name in _KINDS]
        words = {word for name in names if name not in _KINDS for word in (self.classes[name] if name.isupper() else (name,))}
        if not excluded and not kinds:
            return partial(_word, words, step)
        of_kind = kinds[0] if len(kinds) == 1 else lambda tokens, i: any(kind(tokens, i) for kind in kinds)
        return partial(_token, lambda tokens, i: (tokens[i].text in words or of_kind(tokens, i)) != excluded, step)


def _parted(term: str) -> tuple[str, str, str, str]:
    """What a term tests, the name of what it reads, what that is, and how often it may be there."""
    test = term[0] if term[0] in "&!<" and term[1:2] not in ("", "|") else ""
    name, colon, text = term[len(test) :].partition(":")
    if not (colon and name.isidentifier() and text[:1] not in ("", "|")):
        name, text = "", term[len(test) :]
    times = text[-1] if text[-1] in "?*+" and text[-2:-1] not in ("", "|") else ""
    return test, name, text.removesuffix(times), times


def _word(words: set[str], step: int, tokens: Tokens, i: int, _: _Places) -> int | None:
    return i + step if 0 <= i < len(tokens) and tokens[i].text in words else None


def _token(fits: _Kind, step: int, tokens: Tokens, i: int, _: _Places) -> int | None:
    return i + step if 0 <= i < len(tokens) and fits(tokens, i) else None


def _sequence(readers: list[_Reader], tokens: Tokens, i: int | None, found: _Places) -> int | None:
    for read in readers:
        i = read(tokens, i, found)  # type: ignore[arg-type]
        if i is None:
            return None
    return i


def _either(rows: list[_Reader], tokens: Tokens, i: int, found: _Places) -> int | None:
    number = len(found)
    for read in rows:
        stop = read(tokens, i, found)
        if stop is not None:
            return stop
        del found[number:]
    return None


def _repeated(read: _Reader, times: str, tokens: Tokens, i: int, found: _Places) -> int | None:
    first = i
    while (stop := read(tokens, i, found)) not in (None, i):
        i = stop
        if times == "?":
            break
    return i if i != first or times != "+" else None


def _named(name: str, read: _Reader, tokens: Tokens, i: int, found: _Places) -> int | None:
    stop = read(tokens, i, found)
    if stop is not None and stop != i:
        found.append((name, i))
    return stop


def _tested(test: str, read: _Reader, tokens: Tokens, i: int, found: _Places) -> int | None:
    is_there = read(tokens, i - (test == "<"), found) is not None
    return i if is_there != (test == "!") else None


class Shape:
    """A shape of a notation."""

    def __init__(self, notation: Notation, shape: str) -> None:
        self.notation = notation
        self.front, self.marked, self.ahead = shape.rpartition("@")

    @cached_property
    def _front(self) -> _Reader | None:
        return self.notation.reader(self.front, -1) if self.marked else None

    @cached_property
    def _ahead(self) -> _Reader:
        return self.notation.reader(self.ahead)

    def at(self, tokens: Tokens, i: int) -> Found | None:
        """What it reads from token `i` on; None if it is not there."""
        places: _Places = []
        stop = self._ahead(tokens, i, places) if i >= 0 else None
        if stop is None or (self._front is not None and self._front(tokens, i - 1, []) is None):
            return None
        return Found(i, stop, dict(places))
