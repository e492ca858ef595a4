"""What a program hands to trainers that train, and the data loaders that trainers of its own make instead of the framework's."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.readers.python.data_loaders import DataLoaders, one_of
from pytest_gbs.readers.python.results import Entry, Known
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_MAKES: Final = "get_train_dataloader"
# What a loader of one's own asks of the arguments that transformers would go by: TF trainer.py (get_train_dataloader).
_AS_GIVEN: Final = frozenset(("train_batch_size", "_train_batch_size", "per_device_train_batch_size"))


def given_to_trainers(scopes: Scopes) -> set[ast.AST]:
    """What is made for a trainer that trains: `Trainer(model, TrainingArguments("out"))`, and `trainer.train()` somewhere."""
    methods = {call.func.value for call, _ in scopes.called.get("train", ()) if isinstance(call.func, ast.Attribute)}
    trained = {each.id for each in methods if isinstance(each, ast.Name)}
    found: set[ast.AST] = set()
    for called, calls in scopes.called.items() if methods else ():
        for call, scope in calls if called.endswith("Trainer") else ():
            if call in methods or not trained.isdisjoint(scope.named.get(call, ())):
                found.update(_handed(call, scope))
    return found


def _handed(call: ast.Call, scope: Scope) -> Iterator[ast.Call]:
    """Yield the calls that make what `call` is given."""
    for each in (*call.args, *(keyword.value for keyword in call.keywords)):
        bound = scope.find(each.id) if isinstance(each, ast.Name) else None
        values = [each] if bound is None else [binding.value for binding in bound[1]]
        yield from (value for value in values if isinstance(value, ast.Call))


def own_batches(scopes: Scopes, evaluator: Evaluator) -> dict[ast.AST, Entry]:
    """The batch of a device, by the arguments of a trainer of this file that makes its data loader itself, whatever they say."""
    found: dict[ast.AST, Entry] = {}
    for node, scope in scopes.inner.items():
        class_ = scope.class_around
        if isinstance(node, ast.FunctionDef) and node.name == _MAKES and class_ is not None:
            if any(each in _AS_GIVEN or each == "super" for each in _names(node)):
                continue
            batch = _batch(node, scope, DataLoaders(scopes, evaluator))
            for call, where in scopes.called.get(class_.name, ()):
                found.update((each, batch) for each in _handed(call, where))
    return found


def may_hold_batches(scopes: Scopes, evaluator: Evaluator) -> bool:
    """Whether the program gives a batch size, or batches, to a data set of a class of the repository: each sample may be a batch then."""
    return any(
        scopes.qualified(call.func).endswith("Dataset")
        and any(name.endswith(("batch_size", "batches")) for name in _given_names(call))
        and (evaluator.definition(call.func, scope) or evaluator.class_elsewhere(call.func)) is not None
        for call, scope in scopes.calls
    )


def _given_names(call: ast.Call) -> Iterator[str]:
    """Yield the names of what `call` is given: of keywords, and of what others are."""
    yield from (each.arg for each in call.keywords if each.arg)
    yield from (each.id for each in call.args if isinstance(each, ast.Name))


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that are looked up in `node`."""
    for each in ast.walk(node):
        if isinstance(each, (ast.Name, ast.Attribute)):
            yield each.id if isinstance(each, ast.Name) else each.attr


def _batch(method: ast.FunctionDef, scope: Scope, loaders: DataLoaders) -> Entry:
    """The batch of the one loader that a method returns, with its place."""
    returned = [each.value for each in ast.walk(method) if isinstance(each, ast.Return)]
    loader = one_of([loaders.loader(each, scope) if each is not None else None for each in returned])
    batch = loaders.batch(loader) if loader is not None else None
    place = loaders.place(loader) if loader is not None else loaders.evaluator.program.span(method)
    return place, batch if isinstance(batch, Known) else loaders.evaluator.lost(returned[0] if returned and returned[0] else method.body[0])  # type: ignore[arg-type]
