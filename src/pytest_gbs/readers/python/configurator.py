"""Files of plain names that a program executes over its own, `exec(open('configurator.py').read())`, as nanoGPT does."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.scopes import Scopes
from pytest_gbs.readers.python.values import Entry, Evaluator, Known, Lost, Table

_ACCUMULATION = "gradient_accumulation_steps"


def overridden(program: Program, modules: Modules) -> Iterator[tuple[str, Entry]]:
    """Yield what `train.py`, beside a file or in the folder above, sets before it executes such files, each at the start of the file.

    `configurator.shares` says whether it divides the accumulation among the processes afterwards. Nothing if there is no such program.
    """
    found = modules.file("train.py", program.source.path)
    if found is None or "configurator.py" not in found[0].text:
        return
    trains, scopes = found
    line = first_override(scopes)
    evaluator = Evaluator(trains, scopes)
    for name, bindings in scopes.module.names.items() if line else ():
        before = [each for each in bindings if isinstance(each.node, ast.Assign) and each.node.lineno < line]
        if len(before) == 1 and before[0].value is not None and before[0].item < 0:
            value = evaluator.value(before[0].value, scopes.module)
            yield name, ((0, 0), Known(value.value, 0, 0) if isinstance(value, Known) else Lost(0, 0))
    if line:
        yield "configurator", ((0, 0), Table({"shares": ((0, 0), Known(_shares(scopes), 0, 0))}, 0, 0))


def first_override(scopes: Scopes) -> int:
    """The line at which a program executes `configurator.py`, which overrides the names that it has set by then; 0 if it never does."""
    return next((call.lineno for call, scope in scopes.calls if scope is scopes.module and _executes(call)), 0)


def _executes(call: ast.Call) -> bool:
    """Whether `call` is `exec(open('configurator.py').read())`."""
    names = (each.value for each in ast.walk(call) if isinstance(each, ast.Constant))
    return isinstance(call.func, ast.Name) and call.func.id == "exec" and "configurator.py" in names


def _shares(scopes: Scopes) -> bool:
    """Whether the program divides the accumulation: `gradient_accumulation_steps //= ddp_world_size`."""
    nodes = (each.node for each in scopes.module.names.get(_ACCUMULATION, ()))
    return any(isinstance(node, ast.AugAssign) and isinstance(node.op, ast.FloorDiv) for node in nodes)
