"""Keys within sections, written as people write them: `trainer.num_nodes`."""

from __future__ import annotations

from pytest_gbs.core.location import KeyPath


def dotted(words: str) -> tuple[KeyPath, ...]:
    """Return the keys that `words` names, a dot between a section and what it holds."""
    return tuple(tuple(word.split(".")) for word in words.split())


def key(word: str) -> KeyPath:
    """Return the one key that `word` names."""
    return tuple(word.split("."))
