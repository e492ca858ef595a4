"""Whether a condition of a framework's table is true of a document."""

from __future__ import annotations

from pytest_gbs.model.document import Alias, Document, Scalar
from pytest_gbs.model.framework import Condition
from pytest_gbs.readers.scalar import loader_of, resolve


def holds(condition: Condition, document: Document, loader: str) -> bool:
    """Return whether `condition` is true of `document`, its value resolved as the framework's loader does."""
    if condition.said and any(condition.said in block.text for block in document.comments):
        return not condition.negated
    node = document.keyed.get(condition.key)
    value: object = condition.default
    if node is not None:
        found = node[1].target if isinstance(node[1], Alias) else node[1]
        value = resolve(found, loader_of(document.syntax, loader)) if isinstance(found, Scalar) else found
    return any(value is wanted or (type(value) is type(wanted) and value == wanted) for wanted in condition.values) != condition.negated
