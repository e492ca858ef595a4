"""Names with attributes, `cfg.train.batch_size`, and the arguments of calls."""

from __future__ import annotations

import ast
import sys
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


def unparsed(node: ast.AST) -> str:
    """The text of `node`, written the one way that Python writes it; of one nested too deeply for that, what no other has."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return f"<{id(node)}>"


def argument(call: ast.Call, *names: str, position: int = sys.maxsize) -> ast.expr | None:
    """What `call` gives under one of `names`, or else as the argument at `position`; None if it gives neither."""
    named = next((each.value for each in call.keywords if each.arg in names), None)
    return named if named is not None else call.args[position] if position < len(call.args) else None


def given_parameters(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[tuple[str | None, ast.expr]] | None:
    """What `call` gives each parameter of `function`, by name, None as that of `**more`; None if it is not plain which gets what."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if is_unpacked(call) or len(call.args) > len(names):
        return None
    return [*zip(names, call.args, strict=False), *((each.arg, each.value) for each in call.keywords)]


def is_unpacked(call: ast.Call) -> bool:
    """Whether a list is spread over the arguments of `call`, so that their positions are unknown: `f(*args)`."""
    return any(isinstance(each, ast.Starred) for each in call.args)
