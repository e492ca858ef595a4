"""Reading what people state about batch sizes and hardware in comments: one grammar per file, found by listing this folder."""

from __future__ import annotations

from functools import cache, lru_cache

from pytest_gbs.claims.grammars._candidate import digit
from pytest_gbs.files.plugins import modules
from pytest_gbs.model.declaration import Declaration, Grammar
from pytest_gbs.model.document import CommentBlock
from pytest_gbs.model.limits import LONGEST_COMMENT, MOST_COMMENT_CHARACTERS, MOST_STATEMENTS
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.record import Final, NamedTuple

SAYS_TOO_MUCH: Final = (
    f"comments state more than {MOST_STATEMENTS:,} sizes, or have more than {MOST_COMMENT_CHARACTERS:,} characters: the rest is not read"
)
# How many comments are remembered, and how long they may be.
_MOST: Final = 512
_LONG: Final = 2_000


@cache
def grammars() -> tuple[Grammar, ...]:
    """Every grammar, by name."""
    found = [module.GRAMMAR for module in modules(__name__, __path__) if hasattr(module, "GRAMMAR")]
    return tuple(sorted(found, key=lambda grammar: grammar.name))


class StatedByComments(NamedTuple):
    """What the comments of a file state, in the order of the file.

    `ended` is the code point where reading them ended since they say more than is read, None if all were read.
    """

    declarations: tuple[Declaration, ...] = ()
    ended: int | None = None


def read_declarations(blocks: tuple[CommentBlock, ...], source: str) -> tuple[Declaration, ...]:
    """What the comments of one file state, in the order of the file; each number once."""
    return read_stated(blocks, source).declarations


def read_stated(blocks: tuple[CommentBlock, ...], source: str) -> StatedByComments:
    """What the comments of one file state, and where reading them ended."""
    has_digit = digit().search
    found: list[tuple[CommentBlock, tuple[Declaration, ...]]] = []
    statements, characters, ended = MOST_STATEMENTS, MOST_COMMENT_CHARACTERS, None
    for block in blocks:
        if not has_digit(block.text):
            continue
        characters -= min(len(block.text), LONGEST_COMMENT)
        read = _read(block, source) if characters >= 0 else ()
        if len(read) > statements:
            read = tuple(sorted(read, key=lambda each: each.at.start))
            read, ended = read[:statements], read[statements].at.start
        elif characters < 0:
            ended = block.pieces[0][1]
        statements -= len(read)
        if read:
            found.append((block, read))
        if ended is not None:
            break
    if not found:
        return StatedByComments((), ended)
    from pytest_gbs.claims.grammars._resolve import resolved

    return StatedByComments(resolved(found, blocks), ended)


def readable(block: CommentBlock) -> int:
    """How many characters of a comment are read: none of one without a number."""
    return min(len(block.text), LONGEST_COMMENT) if digit().search(block.text) else 0


def _read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """What the grammars find in one block."""
    if len(block.text) > _LONG:
        return _found(block, source)
    stated = _stated(block.text, block.owner, block.placement)
    return tuple(_moved(each, block, source) for each in stated) if stated else ()


@lru_cache(maxsize=_MOST)
def _stated(text: str, owner: KeyPath | None, placement: str) -> tuple[Declaration, ...]:
    """What a comment of this text states, at its places in the text: recipes of one folder repeat each other's comments."""
    return _found(CommentBlock(text, ((0, 0),), owner, placement), "")


def _found(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    return tuple(found for grammar in _candidates(block.text) for found in grammar.read(block, source))


def _moved(declaration: Declaration, block: CommentBlock, source: str) -> Declaration:
    """What the text of `block` states at its places in file `source`."""

    def there(at: Location) -> Location:
        start, stop = block.locate(source, at.start, at.start), block.locate(source, max(at.start, at.stop - 1), at.stop)
        return start._replace(stop=stop.stop)

    places = tuple(map(there, declaration.condition_places))
    summed = declaration.sum
    if summed is not None:
        factors, divisors = (tuple(f._replace(at=there(f.at)) for f in each) for each in (summed.factors, summed.divisors))
        summed = summed._replace(factors=factors, divisors=divisors, at=there(summed.at))
    return declaration._replace(at=there(declaration.at), condition_places=places, sum=summed)


def _candidates(text: str) -> tuple[Grammar, ...]:
    """The grammars that wait for a word of `text`."""
    lower = text.lower()
    wanted = 0
    for hint, bits in _by_hint():
        if bits & ~wanted and hint in lower:
            wanted |= bits
    return tuple(grammar for i, grammar in enumerate(grammars()) if wanted >> i & 1) if wanted else ()


@cache
def _by_hint() -> tuple[tuple[str, int], ...]:
    """Each word that a grammar waits for, with the grammars that wait for it, as bits."""
    bits: dict[str, int] = {}
    for i, grammar in enumerate(grammars()):
        for hint in grammar.hint:
            bits[hint] = bits.get(hint, 0) | 1 << i
    return tuple(bits.items())
