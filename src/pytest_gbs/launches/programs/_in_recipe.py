"""Options that a launcher finds in the recipe it is given, as words at their places."""

from __future__ import annotations

from pytest_gbs.model.command import Command, Word, plain_word
from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.launch import LauncherContext
from pytest_gbs.model.location import KeyPath
from pytest_gbs.readers.scalar import loader_of, resolve


def document_of(recipe: Word | None, command: Command, context: LauncherContext) -> Document | None:
    """The recipe that a word names, None if it can't be read."""
    return context.document(recipe, command) if recipe is not None and context.document is not None else None


def word_at(document: Document, path: KeyPath) -> Word | None:
    """The value at `path` as a word of a command line, None if the recipe has no number or text there."""
    node, at = document.get(*path), document.locate(path)
    value = resolve(node, loader_of(document.syntax, Loader.PYYAML)) if isinstance(node, Scalar) else None
    if at is None or value is None or isinstance(value, bool):
        return None
    return plain_word(str(value), at)


def option_at(document: Document, key: str) -> tuple[Word, ...]:
    """`--key value` as the recipe's top level gives it; nothing if it does not."""
    value = word_at(document, (key,))
    return (plain_word(f"--{key}", value.at), value) if value is not None else ()
