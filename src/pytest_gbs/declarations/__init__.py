"""Reading what people state about batch sizes and hardware in comments: one grammar per file, found by listing this folder."""

from __future__ import annotations

from functools import cache

from pytest_gbs.core.declaration import Declaration, Grammar
from pytest_gbs.core.document import CommentBlock
from pytest_gbs.core.plugins import modules


@cache
def grammars() -> tuple[Grammar, ...]:
    """Return every grammar, by name."""
    found = [module.GRAMMAR for module in modules(__name__, __path__) if hasattr(module, "GRAMMAR")]
    return tuple(sorted(found, key=lambda grammar: grammar.name))


def read_declarations(blocks: tuple[CommentBlock, ...], source: str) -> tuple[Declaration, ...]:
    """Return what the comments of one file state, in the order of the file; each number once."""
    text = "\n".join([block.text for block in blocks]).lower()
    live = [grammar for grammar in grammars() if any(hint in text for hint in grammar.hint)]
    if not live:
        return ()
    from pytest_gbs.declarations._resolve import resolved

    found: list[tuple[CommentBlock, tuple[Declaration, ...]]] = []
    for block in blocks:
        lower = block.text.lower()
        read = [grammar.read(block, source) for grammar in live if any(hint in lower for hint in grammar.hint)]
        found.append((block, tuple(declaration for each in read for declaration in each)))
    return resolved(found)
