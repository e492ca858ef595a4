"""What Lightning's Trainer goes by in a program that makes one: its arguments, and the data loader that `fit` or a data module gives it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Final, TypeAlias

from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.readers.python.attributes import argument
from pytest_gbs.readers.python.data_loaders import DataLoaders, Loader, one_of
from pytest_gbs.readers.python.results import Entry, Items, Known, Lost, Table, Value
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_PACKAGES: Final = ("lightning", "lightning.pytorch", "pytorch_lightning")
_TRAINERS: Final = frozenset(f"{package}{module}.Trainer" for package in _PACKAGES for module in ("", ".trainer", ".trainer.trainer"))
_LOADERS: Final = frozenset(("train_dataloaders", "train_dataloader"))
_STEPS: Final = "accumulate_grad_batches"
_SCHEDULER: Final = "GradientAccumulationScheduler"
_MANUAL: Final = "automatic_optimization = False"


_Calls: TypeAlias = list[tuple[ast.Call, Scope]]


def trained_by_lightning(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield each Trainer of a program, with its arguments and the batch of the loader that it trains on, if it is plain which that is."""
    trainers = [each for each in scopes.called.get("Trainer", ()) if scopes.qualified(each[0].func) in _TRAINERS]
    loaders = DataLoaders(scopes, evaluator)
    for call, scope in trainers[:MOST_BINDINGS]:
        fits = scopes.called.get("fit", []) if len(trainers) == 1 else _fits(call, scope, trainers, scopes)
        loader = one_of(list(_loaders(fits, loaders, alone=len(trainers) == 1)))
        if loader is not None:
            yield call, _table(call, scope, loader, loaders)


def _table(call: ast.Call, scope: Scope, loader: Loader, loaders: DataLoaders) -> Table:
    evaluator = loaders.evaluator
    here = evaluator.program.span(call.func)
    given = evaluator.keywords(call, scope)
    given = given._replace(entries=given.entries | loaders.set_later(call, scope, _STEPS))
    entries: dict[str, Entry] = {
        "lightning": (here, Table({}, *here)),
        "Trainer": (here, _scheduled(_with_devices(_settled(given, call)), loaders)),
        "DataLoader": loaders.entry(loader, evaluator.lost(loader.call) if _scales(given, loaders.scopes) else None),
    }
    return Table(entries, *evaluator.program.span(call))


def _scales(given: Table, scopes: Scopes) -> bool:
    """Whether Lightning looks for the largest batch that fits: a Tuner does (tuner/tuning.py), and did a Trainer that was told to tune."""
    return "scale_batch_size" in scopes.called or ("auto_scale_batch_size" in given.entries and "tune" in scopes.called)


def _fits(trainer: ast.Call, scope: Scope, trainers: _Calls, scopes: Scopes) -> _Calls:
    """The calls of `fit` of what `trainer` makes, one of several: those behind it with its name, before that names another one."""
    names = scope.named.get(trainer, [])
    others = [each.lineno for each, where in trainers if where is scope and set(names) & set(scope.named.get(each, ()))]
    until = min((line for line in others if line > trainer.lineno), default=sys.maxsize)
    fits = [each for each in scopes.called.get("fit", ()) if each[1] is scope and trainer.lineno < each[0].lineno < until]
    bases = ((each, each[0].func.value) for each in fits if isinstance(each[0].func, ast.Attribute))
    return [each for each, base in bases if isinstance(base, ast.Name) and base.id in names]


def _settled(arguments: Table, call: ast.Call) -> Table:
    """The arguments of a Trainer, where `devices=1 if torch.cuda.is_available() else None` is one device: without a GPU it is the CPU."""
    given = {each.arg: each.value for each in call.keywords if each.arg in ("devices", "gpus") and isinstance(each.value, ast.IfExp)}
    for name, value in given.items():
        sides = [each.value for each in (value.body, value.orelse) if isinstance(each, ast.Constant)]
        if name in arguments.entries and len(sides) == 2 and 1 in sides and not all(sides):
            place, lost = arguments.entries[name]
            arguments.entries[name] = place, Known(1, lost.start, lost.stop)
    return arguments


def _scheduled(arguments: Table, loaders: DataLoaders) -> Table:
    """The arguments of a Trainer, whose accumulation is not known where the program schedules it, or steps by itself.

    callbacks/gradient_accumulation_scheduler.py; loops/optimization/manual.py
    """
    call = next(iter(loaders.scopes.called.get(_SCHEDULER, ())), None)
    node = call[0] if call is not None else _own_steps(loaders)
    if node is None:
        return arguments
    here = loaders.evaluator.program.span(node)
    return arguments._replace(entries={**arguments.entries, _STEPS: (here, Lost(*here))})


def _own_steps(loaders: DataLoaders) -> ast.expr | None:
    """The remainder by which a module of manual optimization decides on its steps; None if there is none."""
    if _MANUAL not in loaders.evaluator.program.text:
        return None
    methods = (each.node for each in loaders.scopes.inner.values() if getattr(each.node, "name", "") == "training_step")
    return next((each for node in methods for each in ast.walk(node) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod)), None)


def _with_devices(arguments: Table) -> Table:
    """The arguments of a Trainer with the number of devices of a node: `devices=[2]` is one, and so was `gpus=1`.

    lightning 1.9, trainer/connectors/accelerator_connector.py (_map_deprecated_devices_specific_info_to_accelerator_and_device_flag).
    """
    key = "devices" if "devices" in arguments.entries else "gpus"
    place, value = arguments.entries.get(key, (None, None))
    counted = Known(len(value.items), value.start, value.stop) if isinstance(value, Items) and value.items else value
    if place is None or counted is None or (key == "gpus" and not _is_number_of_gpus(counted)):
        return arguments
    return arguments._replace(entries={**arguments.entries, "devices": (place, counted)})


def _is_number_of_gpus(value: Value) -> bool:
    """Whether a value is a whole number above zero; -1 are all GPUs, and None or 0 none of them."""
    return isinstance(value, Known) and type(value.value) is int and value.value > 0


def _loaders(fits: _Calls, loaders: DataLoaders, *, alone: bool) -> Iterator[Loader | None]:
    """Yield the loader of each of `fits` that is given one.

    If none is, and the program has the trainer `alone`, what a method of the file called `train_dataloader` returns.
    """
    plain = alone
    for call, scope in fits:
        named, given = argument(call, *_LOADERS), argument(call, *_LOADERS, position=1)
        found = loaders.loader(given, scope) if given is not None else None
        if found is None and named is None:
            found = _of_module(call, scope, loaders)
        if found is not None or named is not None or not alone:  # what has no name may be a data module
            plain = False
            yield found
    inner = loaders.scopes.inner.values() if plain else ()
    for method in (each for each in inner if isinstance(each.node, ast.FunctionDef) and each.node.name == "train_dataloader"):
        yield from (loaders.loader(each, method) for each in _returned(method))


def _of_module(fit: ast.Call, scope: Scope, loaders: DataLoaders) -> Loader | None:
    """The loader of the data module of another file that `fit` gets, or of its model if it gets none."""
    module = argument(fit, "datamodule", position=1)
    node = module if module is not None else argument(fit, "model", position=0)
    return loaders.of_module(node, scope) if node is not None else None


def _returned(method: Scope) -> Iterator[ast.expr]:
    for each in method.returned:
        yield ast.Name(each, ast.Load(), lineno=10**9, col_offset=0) if isinstance(each, str) else each  # type: ignore[misc]
