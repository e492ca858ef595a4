"""What `fit` of sentence-transformers trains in a program: batches of the data loaders that it is given, handed to a Trainer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.limits import MOST_BINDINGS
from pytest_gbs.readers.python.attributes import argument
from pytest_gbs.readers.python.data_loaders import DataLoaders
from pytest_gbs.readers.python.results import Table
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_PACKAGE: Final = "sentence_transformers"
_OBJECTIVES: Final = "train_objectives"  # SentenceTransformer.fit: pairs of a loader and a loss
_LOADER: Final = "train_dataloader"  # CrossEncoder.fit


def trained_by_fit(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield each call of `fit` that is given loaders which are plain, with the batch of the last one, which is that of all."""
    if not any(name.partition(".")[0] == _PACKAGE for name in scopes.imported.values()):
        return
    loaders, span = DataLoaders(scopes, evaluator), evaluator.program.span
    for call, scope in scopes.called.get("fit", [])[:MOST_BINDINGS]:
        given = (_at(each, call, scope, evaluator) for each in _loaders(call, scope))
        found = [loaders.loader(each, scope) for each in given]
        last = found[-1] if found else None
        if last is None or None in found:
            continue
        mark = (span(call.func), Table({}, *span(call.func)))
        yield call, Table({_PACKAGE: mark, "DataLoader": loaders.entry(last)}, *span(call))


def _loaders(call: ast.Call, scope: Scope) -> list[ast.expr]:
    """The loaders that `fit` is given; none if it is not plain which."""
    loader, objectives = argument(call, _LOADER), argument(call, _OBJECTIVES)
    if loader is not None:
        return [loader]
    if isinstance(objectives, ast.Name) and scope.find(objectives.id) is not None:
        found = scope.binding(objectives)
        objectives = found[1].value if found is not None and found[1].item < 0 else None
    pairs = objectives.elts if isinstance(objectives, ast.List) else []
    plain = [each.elts[0] for each in pairs if isinstance(each, ast.Tuple) and len(each.elts) == 2]
    return plain if len(plain) == len(pairs) else []


def _at(loader: ast.expr, call: ast.Call, scope: Scope, evaluator: Evaluator) -> ast.expr:
    """What makes the loader that `call` is given, if several share its name: a program may train two models one after the other."""
    found = scope.find(loader.id) if isinstance(loader, ast.Name) else None
    chosen = evaluator.chosen(found[1], call.lineno, scope) if found is not None and found[0] is scope else None
    value = chosen[0].value if chosen is not None and len(chosen) == 1 and chosen[0].item < 0 else None
    return loader if value is None else value
