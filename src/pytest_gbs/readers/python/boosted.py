"""What ColossalAI's booster trains in a program: its plugin, the data loader that it boosts, and when the optimizer takes a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.readers.python.attributes import argument
from pytest_gbs.readers.python.data_loaders import Loader
from pytest_gbs.readers.python.loops import TrainingLoops
from pytest_gbs.readers.python.results import STEPS, Entry, Known, Lost, Made, Table
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_PLACE_OF_LOADER: Final = 3  # boost(model, optimizer, criterion, dataloader, lr_scheduler)
_PIPELINE: Final = "pp_size"
# The plugins, each with what its table is called in the document; those with which each process has a replica have the same.
_PLUGINS: Final = {
    "HybridParallelPlugin": "HybridParallelPlugin",
    "MoeHybridParallelPlugin": "MoeHybridParallelPlugin",
    "GeminiPlugin": "GeminiPlugin",
    "LowLevelZeroPlugin": "replica",
    "TorchDDPPlugin": "replica",
    "TorchFSDPPlugin": "replica",
}
# Trainers that take a step when they have accumulated so many batches (ColossalChat coati/trainer), among those of that package.
_PACKAGE: Final = "coati.trainer."
_SEQUENCE: Final = "sp_size"
_READ: Final = ("tp_size", _PIPELINE)
_OVER_TENSOR_RANKS: Final = ("split_gather", "ring")
_TRAINERS: Final = frozenset(("SFTTrainer", "DPOTrainer", "RewardModelTrainer", "ORPOTrainer", "KTOTrainer"))


def boosted(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield the one call of `booster.boost` that is given a data loader which a plugin prepares, with its batch and the accumulation.

    Nothing if it is not plain which batch that is; nor if a trainer of another kind than those that accumulate trains it.
    """
    calls = [(call, scope, argument(call, "dataloader", position=_PLACE_OF_LOADER)) for call, scope in scopes.called.get("boost", ())]
    given = [(call, scope, loader) for call, scope, loader in calls if loader is not None]
    if len(given) != 1 or not any(name.startswith("colossalai.") for name in scopes.imported.values()):
        return
    call, scope, loader = given[0]
    prepared = list(_prepared(loader, scope)) if isinstance(loader, ast.Name) else []
    batches = [evaluator.value(batch, where) if batch is not None else evaluator.lost(each) for each, batch, where in prepared]
    reading = TrainingLoops(scopes, evaluator)
    steps = _steps(reading)
    if not prepared or steps is None:
        return
    first, span = prepared[0][0], evaluator.program.span
    batch = batches[0] if len(batches) == 1 else reading.same([(span(first), each) for each in batches])[1]
    plugin = _plugin(first, scope, evaluator)
    at, each = steps
    if not _is_one(plugin[1].entries.get(_PIPELINE), plugin[0]) and not (isinstance(each, Known) and each.value == 1):
        each = evaluator.lost(call)
    entries: dict[str, Entry] = {
        "Booster": (span(call.func), Table({}, *span(call.func))),
        "DataLoader": reading.entry(Loader(first, scope, prepared=True, batch=batch)),
        plugin[0]: (span(first.func), plugin[1]),
        STEPS: (at, each),
    }
    yield call, Table(entries, *span(call))


def _prepared(loader: ast.Name, scope: Scope) -> Iterator[tuple[ast.Call, ast.expr | None, Scope]]:
    """Yield each call by which a plugin prepares what `loader` names, with its batch size; none if something else may be it."""
    where, bindings = scope.find(loader.id) or (scope, [])
    before = [each for each in bindings if getattr(each.node, "lineno", 0) < loader.lineno and each.item < 0]
    calls = [each.value for each in before if isinstance(each.value, ast.Call) and _prepares(each.value)]
    if len(calls) != len(before):
        return
    yield from ((call, argument(call, "batch_size", position=1), where) for call in calls)


def _prepares(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "prepare_dataloader"


def _plugin(call: ast.Call, scope: Scope, evaluator: Evaluator) -> tuple[str, Table]:
    """What the plugin that prepares the data is called in the document, with its arguments; `plugin` if it is not plain which it is."""
    assert isinstance(call.func, ast.Attribute)
    made = evaluator.value(call.func.value, scope)
    name = _PLUGINS.get(made.name.rpartition(".")[2], "") if isinstance(made, Made) and made.definition is None else ""
    if name and isinstance(made, Made):
        given = made.arguments.entries
        sequence = _sequence(given)
        entries = {key: given[key] for key in _READ if key in given} | ({_SEQUENCE: sequence} if sequence is not None else {})
        return name, made.arguments._replace(entries=entries)
    lost = evaluator.lost(call.func.value)
    return "plugin", Table({_PIPELINE: ((lost.start, lost.stop), lost)}, lost.start, lost.stop)


def _sequence(given: dict[str, Entry]) -> Entry | None:
    """How many ranks share each sequence; None if it is whole on each, or shared by the tensor ranks (HybridParallelPlugin.__init__)."""
    enabled, mode, size = (given.get(key) for key in ("enable_sequence_parallelism", "sequence_parallelism_mode", _SEQUENCE))
    if enabled is None or size is None or (isinstance(enabled[1], Known) and not enabled[1].value):
        return None
    for place, value in (enabled, mode or enabled):
        if not isinstance(value, Known):
            return size[0], Lost(*place)
    return None if mode is not None and isinstance(mode[1], Known) and mode[1].value in _OVER_TENSOR_RANKS else size


def _is_one(pipeline: Entry | None, plugin: str) -> bool:
    """Whether there are no stages, between which the batches of a pipeline accumulate otherwise."""
    if pipeline is None:
        return plugin in ("replica", "GeminiPlugin")
    return isinstance(pipeline[1], Known) and pipeline[1].value == 1


def _steps(reading: TrainingLoops) -> Entry | None:
    """After how many batches the optimizer takes a step, by a trainer of coati or by the program's loop; None if neither."""
    named = ((call, scope, reading.scopes.qualified(call.func)) for call, scope in reading.scopes.calls)
    made = [each for each in named if each[2].startswith(_PACKAGE) and each[2].endswith("Trainer")]
    if made:
        call, scope, name = made[0]
        is_one = len(made) == 1 and name.rpartition(".")[2] in _TRAINERS
        return reading.evaluator.keywords(call, scope).entries.get("accumulation_steps") if is_one else None
    loops = list(reading.loops())
    return reading.same([reading.steps(each) for each in loops]) if loops else None
