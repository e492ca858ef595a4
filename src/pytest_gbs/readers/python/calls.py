"""The calls of a program that set a batch size: of classes that it imports, or that it makes from these."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator

from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.python.attributes import dotted
from pytest_gbs.readers.python.filled_options import FLAGS, TRAINER_SIZES
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Found, Known, Lost, Table, batch_name, sets_batch
from pytest_gbs.readers.python.scopes import Binding, Change, Scope, Scopes
from pytest_gbs.readers.python.trainers import given_to_trainers, may_hold_batches, own_batches
from pytest_gbs.readers.python.values import Evaluator

_OF_DEVICE = "per_device_train_batch_size"
may_be_arguments = lazy_pattern(r"arg(?:ument)?s|(?:train|sft|po|reward|rloo)\w*config", re.IGNORECASE)


def batch_calls(scopes: Scopes, evaluator: Evaluator, within: set[ast.AST] | None = None) -> Iterator[Found]:
    """Yield each call of an imported class, or of one that this file makes from it, that names a batch size or is given to a trainer.

    Only those `within` some of the file's functions, if they are given.
    """
    held = _held(scopes)
    trained, own = given_to_trainers(scopes), own_batches(scopes, evaluator)
    for call, scope in scopes.calls:
        func, bound_before = evaluator.partials(call.func, scope)
        name = scopes.qualified(func)
        if not name.rpartition(".")[2][:1].isupper() or (within is not None and scope.node not in within):
            continue
        if evaluator.line is not None and evaluator.runs(scopes.done.get(call), scope) is False:
            continue
        is_relevant = bool(bound_before) or call in trained or call in held or may_set_batch(call, scope, scopes)
        table = evaluator.keywords(call, scope) if is_relevant else Table({}, *evaluator.program.span(call))
        elsewhere = call in trained or not TRAINER_SIZES.isdisjoint(table.entries) or may_be_arguments().search(name) is not None
        names, fields, sets = evaluator.ancestor(func, scope, elsewhere=elsewhere)
        if not names and evaluator.program.cells and "." not in name and scope.find(name) is None:
            names = _unbound(name, scopes)
        evaluator.left -= len(fields)
        if fields and evaluator.left < 0:
            return
        if not names or ((fields or name not in names) and scope.class_around is not None and not sets_batch(table)):
            continue  # such as the arguments that a trainer makes itself if it gets none
        if not is_relevant:  # most classes have nothing to do with batches: what their calls say takes long to find out
            if not sets and not any(map(batch_name().search, fields)):
                continue
            table = evaluator.keywords(call, scope)
        place, lost = evaluator.program.span(func), evaluator.lost(func)
        if table.rest is not None:
            fields = {}  # `**more` may give any of them
        table = table._replace(entries={**fields, **table.entries, **dict.fromkeys(sets, (place, lost))})
        table = _with_attributes(table, call, scope, scopes, evaluator)
        table = _without_changed(table, held.get(call, ()), scopes, evaluator)
        if sets_batch(table) or call in trained:
            if call in own:
                table.entries[_OF_DEVICE] = own[call]
            entry = table.entries.get(_OF_DEVICE)
            if entry and isinstance(entry[1], Known) and entry[1].value == 1 and may_hold_batches(scopes, evaluator):
                table.entries[_OF_DEVICE] = entry[0], Lost(entry[1].start, entry[1].stop)
            yield " ".join(names), call, table


def may_set_batch(call: ast.Call, scope: Scope, scopes: Scopes) -> bool:
    """Whether the words of a call say a batch size, or may, or what it makes is changed later."""
    names = [each.arg or "batch" for each in call.keywords]
    return any(map(batch_name().search, names)) or not scopes.changes.keys().isdisjoint(scope.named.get(call, ()))


def _unbound(name: str, scopes: Scopes) -> tuple[str, ...]:
    """What a name of a notebook may be that no cell binds, as one that its reader imported with the others does."""
    packages = dict.fromkeys(each.partition(".")[0] for each in scopes.imported.values())
    return tuple(f"{package}.{name}" for package in packages if package) if not scopes.stars else ()


def _with_attributes(table: Table, call: ast.Call, scope: Scope, scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` with the attributes that are set on what the call made: `args.gradient_accumulation_steps = 4`.

    What one of its methods sets (`args.set_dataloader(train_batch_size=16)`), a function that gets it or `setattr` is not known.
    """
    lost, place = evaluator.lost(call), evaluator.program.span(call)
    otherwise = {each for name in scope.named.get(call, ()) for each in evaluator.set_otherwise(name, scope)}
    if not otherwise.isdisjoint((..., FLAGS)):
        otherwise.update(table.entries)
        table = table._replace(rest=table.rest or lost)
    table.entries.update({each: (place, lost) for each in otherwise if isinstance(each, str)})
    for name in scope.named.get(call, ()):
        for change in scopes.changes.get(name, ()):
            if isinstance(change.target, ast.Attribute) and change.statement.lineno >= call.lineno:
                made = _changed_by(change, name, scope, evaluator.program)
                if made is not None and made.value is not call:
                    continue
                given = _assigned(change, made, scope)
                value = evaluator.value(given, scope) if given is not None else evaluator.lost(change.target)
                table.entries[change.target.attr] = evaluator.program.span(change.target), value
    return table


def _changed_by(change: Change, name: str, scope: Scope, program: Program) -> Binding | None:
    """The binding of `name` that made what `change` sets an attribute of; None if it may be of several."""
    bindings = scope.names[name]
    if len(bindings) == 1:
        return bindings[0]
    if change.scope is not scope or not program.cells:
        return None
    cell, line = program.cell(change.statement), change.statement.lineno
    before = [each for each in bindings if program.cell(each.node) == cell and getattr(each.node, "lineno", line) < line]
    return before[-1] if before and (before[-1].branch is None or before[-1].branch is change.branch) else None


def _assigned(change: Change, made: Binding | None, scope: Scope) -> ast.expr | None:
    """What `change` always sets where `made` is made; None if that is not plain."""
    if made is None:
        return None
    together = made.branch is not None and made.branch is change.branch
    return (change._replace(branch=None) if together else change).assigned(scope, sys.maxsize)


def _without_changed(table: Table, holders: Iterable[tuple[str, str]], scopes: Scopes, evaluator: Evaluator) -> Table:
    """`table` without what is set through another one that holds it, by name and key: `config.train.batch_size = 32`."""
    for name, key in holders:
        changes = scopes.changes.get(name, ())
        evaluator.left -= len(changes)
        for change in changes if evaluator.left > 0 else ():
            for target in change.targets:
                if isinstance(target, ast.Attribute) and dotted(target.value) == f"{name}.{key}":
                    table.entries[target.attr] = evaluator.program.span(target), evaluator.lost(target)
    return table


def _held(scopes: Scopes) -> dict[ast.AST, list[tuple[str, str]]]:
    """What calls are handed to others by name, with the names of what these make: `config = Config(train=Train(...))`.

    A trainer has what it gets second as its `args`: `trainer = Trainer(model, args)`.
    """
    found: dict[ast.AST, list[tuple[str, str]]] = {}
    for scope in dict.fromkeys(scope for _, scope in scopes.calls):
        for outer, names in scope.named.items():
            if not isinstance(outer, ast.Call):
                continue
            second = [("args", outer.args[1])] if len(outer.args) > 1 else []
            for key, value in (*((each.arg, each.value) for each in outer.keywords), *second):
                bound = scope.binding(value)
                made = bound[1].value if bound is not None else value
                if key is not None and isinstance(made, ast.Call):
                    found.setdefault(made, []).extend((name, key) for name in names)
    return found
