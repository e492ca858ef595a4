"""Arithmetic in Python that a program has OmegaConf do: `lambda x, y: (x + y - 1) // y`, and the text that `eval` gets."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial

from pytest_gbs.arithmetic.python_operators import OPERATORS, Number
from pytest_gbs.model.limits import LONGEST_FUNCTION


def calculate(text: str) -> Number:
    """The number that `text` gives: what `OmegaConf.register_new_resolver("eval", eval)` makes of it.

    Raises: ValueError: it is more than arithmetic with numbers.
    """
    return _value(_parsed(text), {})


def function_of(text: str) -> Callable[..., Number] | None:
    """What the lambda with which `text` begins computes of numbers; None if it is more than arithmetic with its arguments."""
    found = next((node for end in _ends(text) if isinstance(node := _expression(text[:end]), ast.Lambda)), None)
    names = [each.arg for each in found.args.args] if found is not None else []
    if found is None or not names or not _is_arithmetic(found.body, set(names)):
        return None
    return partial(_call, found.body, names)


def _call(body: ast.expr, names: list[str], *arguments: Number) -> Number:
    if len(names) != len(arguments):
        raise TypeError
    return _value(body, dict(zip(names, arguments, strict=True)))


def _ends(text: str) -> list[int]:
    """Where an expression at the start of `text` may end: its line without what follows a bracket or a comma, longest first."""
    line = text.partition("\n")[0][:LONGEST_FUNCTION]
    return [len(line), *(place for place in range(len(line) - 1, 0, -1) if line[place] in "),")][:16]


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _parsed(text: str) -> ast.expr:
    node = _expression(text) if len(text) <= LONGEST_FUNCTION else None
    if node is None:
        raise ValueError("more than arithmetic")
    return node


def _is_arithmetic(node: ast.expr, names: set[str]) -> bool:
    if isinstance(node, ast.BinOp):
        return type(node.op) in OPERATORS and _is_arithmetic(node.left, names) and _is_arithmetic(node.right, names)
    return node.id in names if isinstance(node, ast.Name) else isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _value(node: ast.expr, names: Mapping[str, Number]) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and type(node.value) is not bool:
        return node.value
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    raise ValueError("more than arithmetic")
