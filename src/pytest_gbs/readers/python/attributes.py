"""Names with attributes: `cfg.train.batch_size`."""

from __future__ import annotations

import ast
from typing import TypeAlias

AttributePath: TypeAlias = tuple[str, ...]


def attribute_path(node: ast.AST) -> AttributePath:
    """The names of `cfg.train.global_batch_size`; none if it is anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return (node.id, *reversed(parts)) if isinstance(node, ast.Name) else ()


def dotted(node: ast.AST) -> str:
    """The text of a name or an attribute of one, `args.max_train_steps`; "" if it is anything else."""
    return ".".join(attribute_path(node))
