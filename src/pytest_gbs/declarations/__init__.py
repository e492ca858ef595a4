"""Reading what people state about batch sizes and hardware in comments: one grammar per file, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.declaration import Declaration, Grammar
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.plugins import modules
from pytest_gbs.declarations._candidate import digit


@cache
def grammars() -> tuple[Grammar, ...]:
    """Return every grammar, by name."""
    found = [module.GRAMMAR for module in modules(__name__, __path__) if hasattr(module, "GRAMMAR")]
    return tuple(sorted(found, key=lambda grammar: grammar.name))


def read_declarations(blocks: tuple[CommentBlock, ...], source: str) -> tuple[Declaration, ...]:
    """Return what the comments of one file state, in the order of the file; each number once."""
    has_digit = digit().search
    found = [(block, read) for block in blocks if has_digit(block.text) and (read := _read(block, source))]
    if not found:
        return ()
    from pytest_gbs.declarations._resolve import resolved

    return resolved(found, blocks)


def _read(block: CommentBlock, source: str) -> tuple[Declaration, ...]:
    """Return what the grammars find in one block, each asked only where one of its words occurs."""
    text = block.text.lower()
    wanted = 0
    for hint, bits in _by_hint():
        if hint in text:
            wanted |= bits
    if not wanted:
        return ()
    return tuple(found for i, grammar in enumerate(grammars()) if wanted >> i & 1 for found in grammar.read(block, source))


@cache
def _by_hint() -> tuple[tuple[str, int], ...]:
    """Return each word that a grammar waits for, with the grammars that wait for it, as bits."""
    bits: dict[str, int] = {}
    for i, grammar in enumerate(grammars()):
        for hint in grammar.hint:
            bits[hint] = bits.get(hint, 0) | 1 << i
    return tuple(bits.items())
