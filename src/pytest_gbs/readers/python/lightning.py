"""What Lightning's Trainer goes by in a program that makes one: its arguments, and the data loader that `fit` or a data module gives it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.readers.python.loops import Loader, Reading, one_of
from pytest_gbs.readers.python.results import Entry, Items, Known, Table, Value
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_PACKAGES: Final = ("lightning", "lightning.pytorch", "pytorch_lightning")
_TRAINERS: Final = frozenset(f"{package}{module}.Trainer" for package in _PACKAGES for module in ("", ".trainer", ".trainer.trainer"))
_LOADERS: Final = frozenset(("train_dataloaders", "train_dataloader"))


def trained_by_lightning(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield the one Trainer of a program, with its arguments and the batch of the loader that it trains on.

    Nothing if there are several of them, or if it is not plain which loader that is.
    """
    trainers = [each for each in scopes.called.get("Trainer", ()) if scopes.qualified(each[0].func) in _TRAINERS]
    if len(trainers) != 1:
        return
    call, scope = trainers[0]
    reading = Reading(scopes, evaluator)
    loader = one_of(list(_loaders(scopes, reading)))
    if loader is None:
        return
    start, stop = evaluator.program.span(call)
    here = evaluator.program.span(call.func)
    batch = Table({"batch_size": (reading.place(loader), reading.batch(loader))}, *evaluator.program.span(loader.call))
    entries: dict[str, Entry] = {
        "lightning": (here, Table({}, *here)),
        "Trainer": (here, _with_devices(evaluator.keywords(call, scope))),
        "DataLoader": (evaluator.program.span(loader.call.func), batch),
    }
    yield call, Table(entries, start, stop)


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


def _loaders(scopes: Scopes, reading: Reading) -> Iterator[Loader | None]:
    """Yield the loader of each call of `fit` that is given one; what a method of the file called `train_dataloader` returns if none is."""
    plain = True
    for call, scope in scopes.called.get("fit", ()):
        named = next((each.value for each in call.keywords if each.arg in _LOADERS), None)
        given = named or (call.args[1] if len(call.args) > 1 else None)
        found = reading.loader(given, scope, frozenset(), 0) if given is not None else None
        if found is not None or named is not None:  # what has no name may be a data module
            plain = False
            yield found
    methods = [each for each in scopes.inner.values() if isinstance(each.node, ast.FunctionDef) and each.node.name == "train_dataloader"]
    for method in methods if plain else ():
        yield from (reading.loader(each, method, frozenset(), 0) for each in _returned(method))


def _returned(method: Scope) -> Iterator[ast.expr]:
    for each in method.returned:
        yield ast.Name(each, ast.Load(), lineno=10**9, col_offset=0) if isinstance(each, str) else each  # type: ignore[misc]
