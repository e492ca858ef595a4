"""Files of plain names that a program executes over its own, as nanoGPT does: `exec(open('configurator.py').read())`, or what that does."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.model.document import NOTEBOOK
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.readers.python.modules import Modules
from pytest_gbs.readers.python.parents import bound
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Entry, Known, Lost, Table, Value
from pytest_gbs.readers.python.scopes import Scopes
from pytest_gbs.readers.python.values import Evaluator

_ACCUMULATION: Final = "gradient_accumulation_steps"
_EXECUTED: Final = "configurator.py"
_EXECUTES: Final = "exec("
_NAMED: Final = "config_file"  # what configurator.py calls the file that the command line names


def overridden(program: Program, modules: Modules) -> Iterator[tuple[str, Entry]]:
    """Yield what the program beside a file or in the folder above sets before it executes such files, each at the start of the file.

    `configurator.shares` says whether it divides the accumulation among the processes afterwards. A name on which several such programs
    do not agree is lost. Nothing if there is none.
    """
    found = [{name: _without_place(value) for name, value in _set_before(each)} for each in _programs(program, modules)]
    for name in dict.fromkeys(name for names in found for name in names):
        values = [names.get(name) for names in found]
        yield name, ((0, 0), values[0] if values[0] is not None and all(each == values[0] for each in values) else Lost(0, 0))


def executed_over(trains: Program, files: Iterable[Program]) -> tuple[dict[str, Entry], dict[KeyPath, Location]]:
    """What a program has that executes `files` over its own names, and where the value of each is; nothing if it executes none."""
    given = [(trains, dict(_entries(trains))), *((file, bound(file.scopes, Evaluator(file))) for file in files)]
    entries: dict[str, Entry] = {}
    places: dict[KeyPath, Location] = {}
    for file, own in given if given[0][1] else ():
        entries |= own
        places |= {(name,): Location(file.source.path, value.start, value.stop) for name, (_, value) in own.items()}
    return entries, places


def _entries(trains: Program) -> Iterator[tuple[str, Entry]]:
    for name, value in _set_before(trains):
        yield name, ((value.start, value.stop), value)


def _without_place(value: Value) -> Value:
    """`value` as another file takes it."""
    if isinstance(value, Known):
        return Known(value.value, 0, 0)
    return value if isinstance(value, Table) else Lost(0, 0)


def simulates(scopes: Scopes) -> bool:
    """Whether the program multiplies the accumulation where it is a single process: `gradient_accumulation_steps *= 8`."""
    return _is_changed_by(scopes, ast.Mult)


def _programs(program: Program, modules: Modules) -> list[Program]:
    """`train.py` where that is such a program, else all in its place that accumulate, whatever they are called; none takes a notebook."""
    if program.source.path.endswith(NOTEBOOK):
        return []
    named = modules.file("train.py", program.source.path)
    if named is not None and first_override(named.scopes):
        return [named]
    found = modules.beside(program.source.path, (_EXECUTES, _ACCUMULATION))
    return [each for each in found if first_override(each.scopes)]


def _set_before(trains: Program) -> Iterator[tuple[str, Value]]:
    """Yield the names that a program sets before it executes such files, each with its value."""
    scopes, evaluator = trains.scopes, Evaluator(trains)
    line = first_override(scopes)
    for name, bindings in scopes.module.names.items() if line else ():
        before = [each for each in bindings if isinstance(each.node, ast.Assign) and each.node.lineno < line]
        if len(before) == 1 and before[0].value is not None and before[0].item < 0:
            yield name, evaluator.value(before[0].value, scopes.module)
    if line:
        divides = _is_changed_by(scopes, ast.FloorDiv)  # `gradient_accumulation_steps //= ddp_world_size`
        yield "configurator", Table({"shares": ((0, 0), Known(divides, 0, 0))}, 0, 0)


def first_override(scopes: Scopes) -> int:
    """The line at which a program executes files over the names that it has set by then; 0 if it never does."""
    return next((call.lineno for call, scope in scopes.calls if scope is scopes.module and _executes(call)), 0)


def _executes(call: ast.Call) -> bool:
    """Whether `call` is `exec(open('configurator.py').read())`, or what is in that file: `exec(open(config_file).read())`."""
    if not (isinstance(call.func, ast.Name) and call.func.id == "exec"):
        return False
    opened = [each for each in ast.walk(call) if isinstance(each, ast.Call) and isinstance(each.func, ast.Name) and each.func.id == "open"]
    names = [node for each in opened for argument in each.args for node in ast.walk(argument)]
    return any(getattr(each, "value", None) == _EXECUTED or getattr(each, "id", None) == _NAMED for each in names)


def _is_changed_by(scopes: Scopes, operator: type[ast.operator]) -> bool:
    nodes = (each.node for each in scopes.module.names.get(_ACCUMULATION, ()))
    return any(isinstance(node, ast.AugAssign) and isinstance(node.op, operator) for node in nodes)
