"""References of HyperPyYAML: `!ref <name>` stands for the value of another key (HyperPyYAML 1.2 core.py, recursive_resolve)."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.document import Document, Node, Scalar, followed
from pytest_gbs.model.limits import DEEPEST_CHAIN
from pytest_gbs.model.pattern import lazy_pattern

REFERENCE: Final = "!ref"


def referred(document: Document, node: Scalar) -> Node:
    """What `node`, whose tag is `!ref`, stands for, at its own place; `node` itself if it is more than one name, or names no key."""
    found: Node = node
    for _ in range(DEEPEST_CHAIN):
        target = followed(found)
        if not isinstance(target, Scalar) or target.tag != REFERENCE:
            return found
        match = _name().fullmatch(target.text)
        named = document.get(*match[1].replace("]", "").split("[")) if match else None
        if named is None:
            return node
        found = named
    return node


_name = lazy_pattern(r"\s*<([A-Za-z_]\w*(?:\[[A-Za-z_]\w*\])*)>\s*")
