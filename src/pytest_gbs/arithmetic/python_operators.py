"""The operators of Python that reading a program, or a resolver that runs `eval`, calculates with."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from pytest_gbs.model.record import Final, TypeAlias

Number: TypeAlias = int | float

OPERATORS: Final[dict[type[ast.operator], Callable[[Number, Number], Number]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
"""What each gives of two numbers; division by zero raises ZeroDivisionError."""
