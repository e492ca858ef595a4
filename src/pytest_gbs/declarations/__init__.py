"""Reading what people state about batch sizes and hardware in comments: one grammar per file, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.declaration import Declaration, Grammar
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.plugins import modules
from pytest_gbs.declarations._candidate import has_digit


@cache
def grammars() -> tuple[Grammar, ...]:
    """Return every grammar, by name."""
    found = [module.GRAMMAR for module in modules(__name__, __path__) if hasattr(module, "GRAMMAR")]
    return tuple(sorted(found, key=lambda grammar: grammar.name))


def read_declarations(blocks: tuple[CommentBlock, ...], source: str) -> tuple[Declaration, ...]:
    """Return what the comments of one file state, in the order of the file; each number once."""
    text = "\n".join([block.text for block in blocks]).lower()
    live: list[tuple[Grammar, list[str]]] = []
    for grammar in grammars():
        hints = [hint for hint in grammar.hint if hint in text]
        if hints:
            live.append((grammar, hints))
    if not live:
        return ()
    found = [(block, read) for block in blocks if has_digit(block.text) and (read := _read(block, source, live))]
    if not found:
        return ()
    from pytest_gbs.declarations._resolve import resolved

    return resolved(found, blocks if "not-a-claim" in text else ())


def _read(block: CommentBlock, source: str, live: list[tuple[Grammar, list[str]]]) -> tuple[Declaration, ...]:
    """Return what the grammars find in one block, each asked only where one of its words occurs."""
    text = block.text.lower()
    found: list[Declaration] = []
    for grammar, hints in live:
        for hint in hints:
            if hint in text:
                found.extend(grammar.read(block, source))
                break
    return tuple(found)
