"""The engines of DeepSpeed that a program starts by itself, with the configuration that it hands over as a dictionary."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.limits import MOST_HANDED_THROUGH
from pytest_gbs.readers.python.attributes import argument, given_parameters, is_unpacked
from pytest_gbs.readers.python.functions import returned_elsewhere
from pytest_gbs.readers.python.results import Entry, Known, Lost, Table, Value, sets_batch
from pytest_gbs.readers.python.scopes import Binding, Function, Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_STEPS: Final = "gradient_accumulation_steps"
_MICRO: Final = "train_micro_batch_size_per_gpu"
_DIVIDES: Final = frozenset(("mpu", "mesh_param"))  # arguments of deepspeed.initialize that say how the processes share the model


def engines(scopes: Scopes) -> Iterator[tuple[ast.Call, Scope]]:
    """Yield each call that starts an engine of DeepSpeed."""
    yield from (each for each in scopes.called.get("initialize", ()) if scopes.qualified(each[0].func) == "deepspeed.initialize")


def initialized(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield each configuration of an engine that the program trains, handed to `deepspeed.initialize` by name.

    What makes it may set keys that are not seen.
    """
    for call, scope in engines(scopes):
        given = argument(call, "config", "config_params")
        if not isinstance(given, ast.Name) or not _is_trained(frozenset(scope.named.get(call, ())), scopes, evaluator):
            continue
        table = _configuration(given, scope, evaluator)
        if isinstance(table, Table) and sets_batch(table):
            if evaluator.world is None and _DIVIDES.isdisjoint(each.arg for each in call.keywords):
                table = _of_each_process(table, given, scope, evaluator)
            table = _of_own_loaders(table, call, scopes, evaluator)
            divides = [each for each in call.keywords if each.arg in _DIVIDES and not isinstance(evaluator.value(each.value, scope), Known)]
            entries: dict[str, Entry] = {str(each.arg): (evaluator.program.span(each), evaluator.lost(each.value)) for each in divides}
            yield call, table._replace(entries=table.entries | entries)


def _of_own_loaders(table: Table, call: ast.Call, scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` without a micro batch that none of the program's own loaders has.

    DeepSpeed makes a loader of `training_data` alone, and else only counts with that number (DeepSpeed 007cca6, runtime/engine.py,
    __init__: deepspeed_io).
    """
    place, micro = table.entries.get(_MICRO, ((0, 0), None))
    given = [(each.value, scope) for made, scope in scopes.calls for each in made.keywords if each.arg == "batch_size"]
    has_own = bool(given) and argument(call, "training_data", position=4) is None
    if not isinstance(micro, Known) or not has_own or any(_is_micro(*each, micro, evaluator) for each in given):
        return table
    return table._replace(entries=table.entries | {_MICRO: (place, Lost(*place))})


def _is_micro(given: ast.expr, scope: Scope, micro: Known, evaluator: Evaluator) -> bool:
    """Whether a loader is given the micro batch: its number, or what the engine or its configuration says it is."""
    value = evaluator.value(given, scope)
    named = any(_MICRO in (getattr(each, "attr", ""), getattr(each, "value", "")) for each in ast.walk(given))
    return named or (isinstance(value, Known) and value.value == micro.value)


def _is_trained(names: frozenset[str], scopes: Scopes, evaluator: Evaluator) -> bool:
    """Whether one of `names` goes back: under this name, or as the argument of a function, here or in another file."""
    methods = (call.func.value for call, _ in scopes.called.get("backward", ()) if isinstance(call.func, ast.Attribute))
    if any(isinstance(each, ast.Name) and each.id in names for each in methods):
        return True
    return any(_goes_back(call, names, evaluator) for call, _ in scopes.calls)


def _goes_back(call: ast.Call, names: frozenset[str], evaluator: Evaluator) -> bool:
    """Whether `call` gives one of `names` to a function whose parameter goes back."""
    given = [*call.args, *(each.value for each in call.keywords)]
    if evaluator.modules is None or not any(isinstance(each, ast.Name) and each.id in names for each in given):
        return False
    defined = evaluator.modules.called(call, evaluator.program)
    if defined is None or is_unpacked(call):
        return False
    places = zip((each.arg for each in defined.function.args.args), call.args, strict=False)
    named = [*places, *((each.arg, each.value) for each in call.keywords)]
    parameters = {name for name, value in named if isinstance(value, ast.Name) and value.id in names}
    bases = (each.value for each in ast.walk(defined.function) if isinstance(each, ast.Attribute) and each.attr == "backward")
    return any(isinstance(each, ast.Name) and each.id in parameters for each in bases)


def _configuration(given: ast.Name, scope: Scope, evaluator: Evaluator, left: int = MOST_HANDED_THROUGH) -> Value:
    """The configuration called `given`, with the items that are set in one that something else makes, handed on at most `left` times."""
    table, found = evaluator.value(given, scope), scope.binding(given)
    if found is None:
        return table
    where, binding = found
    handed = _handed(binding, binding.parameter, evaluator.scopes) if binding.parameter is not None and left else None
    if handed is not None and not evaluator.is_changed(given.id, where, given.lineno):
        return _configuration(*handed, evaluator, left - 1)
    if not isinstance(table, Lost):
        return table
    call = binding.value if isinstance(binding.value, ast.Call) and binding.item < 0 else None
    written = returned_elsewhere(call, where, evaluator) if call is not None else None
    opened = written or Table({}, *evaluator.program.span(given), table)
    return evaluator.with_items(opened, given.id, given, where, given.lineno)


def _handed(binding: Binding, function: Function, scopes: Scopes) -> tuple[ast.Name, Scope] | None:
    """What the only call of `function` gives as the parameter of `binding`, if that has a name."""
    calls = scopes.called.get(function.name) or []
    given = given_parameters(calls[0][0], function) if len(calls) == 1 else None
    value = next((each for name, each in given or () if name == getattr(binding.node, "arg", "")), None)
    return (value, calls[0][1]) if isinstance(value, ast.Name) else None


def _of_each_process(table: Table, given: ast.Name, scope: Scope, evaluator: Evaluator) -> Table:
    """`table` with the accumulation instead of a batch that is computed from the processes, if each of them adds as much to it."""
    whole, micro = (table.get(key) for key in ("train_batch_size", _MICRO))
    if not isinstance(whole, Lost) or not isinstance(micro, Known) or _STEPS in table.entries:
        return table
    batches = []
    for evaluator.world in (1, 2):
        found = _configuration(given, scope, evaluator)
        batches.append(found.get("train_batch_size") if isinstance(found, Table) else None)
    evaluator.world = None
    one, two = (each.value if isinstance(each, Known) and type(each.value) is int else 0 for each in batches)
    if type(micro.value) is not int or micro.value < 1 or one < 1 or two != 2 * one or one % micro.value:
        return table
    place, at = table.entries["train_batch_size"][0], (whole.start, whole.stop)
    steps = {"train_batch_size": (place, Known(None, *at)), _STEPS: (place, Known(one // micro.value, *at))}
    return table._replace(entries=table.entries | steps)
