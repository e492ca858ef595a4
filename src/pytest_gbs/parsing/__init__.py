"""The reading layer: bytes to text, text to documents with the span of every node and the owner of every comment."""

from __future__ import annotations

from pytest_gbs.core.document import Document
from pytest_gbs.core.location import Source, Unreadable
from pytest_gbs.parsing.decode import decode

__all__ = ["decode", "read"]


def read(source: Source) -> tuple[Document | Unreadable, ...]:
    """Return the documents of `source` in order, and last, where reading failed, why.

    The suffix decides: `.json` is JSON, everything else YAML. A TOML file has no documents yet.
    """
    path = source.path.lower()
    if path.endswith(".json"):
        from pytest_gbs.parsing.json_reader import read_json

        return read_json(source)
    if path.endswith(".toml"):
        return ()
    from pytest_gbs.parsing.yaml_reader import read_yaml

    return read_yaml(source)
