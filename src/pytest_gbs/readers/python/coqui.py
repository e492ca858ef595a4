"""What Coqui's Trainer goes by in a program that makes one: its arguments, and the configuration of a model of TTS with the batch."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.readers.python.results import Entry, Known, Table
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_MODULES: Final = ("trainer", "trainer.trainer")
_BATCH: Final = "batch_size"
# The flag that gives a key another value when the program is started (coqui-ai/Trainer 7704b0f, trainer/trainer.py:673-690).
_FLAGS: Final = {"TrainerArgs": ("grad_accum_steps", "grad_accum_steps"), "config": (_BATCH, "coqpit.batch_size")}


def trained_by_coqui(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield the one Trainer of a program with its one TrainerArgs and the one configuration that has a batch, which nothing sets later."""
    calls = [_of_coqui("Trainer", scopes), _of_coqui("TrainerArgs", scopes)]
    calls += [_configurations(scopes)] if all(map(len, calls)) else []
    if [len(each) for each in calls] != [1, 1, 1] or _BATCH in scopes.attributes:
        return
    parts = zip(("coqui", "TrainerArgs", "config"), (each[0] for each in calls), strict=True)
    entries: dict[str, Entry] = {}
    for name, (call, scope) in parts:
        entries[name] = (evaluator.program.span(call.func), _read(name, call, scope, evaluator))
    yield calls[0][0][0], Table(entries, *evaluator.program.span(calls[0][0][0]))


def _read(name: str, call: ast.Call, scope: Scope, evaluator: Evaluator) -> Table:
    """The arguments of a call, the one among them that a flag can change as the command line has it."""
    found = evaluator.keywords(call, scope)
    if name not in _FLAGS:
        return found
    key, flag = _FLAGS[name]
    here = evaluator.program.span(call.func)
    place, value = found.entries.get(key, (here, Known(1, *here)))
    given = evaluator.from_command_line((flag,), value, call)
    return found._replace(entries=found.entries | {key: (place, given)}) if given is not value else found


def _of_coqui(name: str, scopes: Scopes) -> list[tuple[ast.Call, Scope]]:
    named = {f"{module}.{name}" for module in _MODULES}
    return [each for each in scopes.called.get(name, ()) if scopes.qualified(each[0].func) in named]


def _configurations(scopes: Scopes) -> list[tuple[ast.Call, Scope]]:
    """The calls of classes of TTS that are given a batch size."""
    given = (each for each in scopes.calls if any(keyword.arg == _BATCH for keyword in each[0].keywords))
    return [each for each in given if scopes.qualified(each[0].func).startswith("TTS.")]
