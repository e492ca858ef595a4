"""Samplers: of batches, torch's own and classes of the repository that collect samples, and those that divide data among processes."""

from __future__ import annotations

import ast
from typing import Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.readers.python.attributes import argument, dotted, unparsed
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.results import Value
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_REPLICAS: Final = "num_replicas"


def sampled(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Value:
    """The samples of each batch of the sampler that `node` is or names; lost if it is not known how it makes them."""
    made = made_by(node, scope, evaluator.scopes)
    if made is None:
        return evaluator.lost(node)
    call, where = made
    name = evaluator.scopes.qualified(call.func)
    if name.startswith("torch.") and name.endswith(".BatchSampler"):
        given = argument(call, "batch_size", position=1)
        return evaluator.value(given, where) if given is not None else evaluator.lost(node)
    definition = evaluator.definition(call.func, where) or (evaluator.class_elsewhere(call.func) or (None, None))[1]
    found = _collects(definition) if definition is not None else None
    if found is None:
        return evaluator.lost(node)
    makes, parameter = found
    return evaluator.arguments(makes, call, where, skipped=1).get(parameter, evaluator.lost(node))


def made_by(node: ast.expr, scope: Scope, scopes: Scopes) -> tuple[ast.Call, Scope] | None:
    """The call of a class that `node` is or names, with where it is; None if that is not plain."""
    found = scope.find(node.id) if isinstance(node, ast.Name) else None
    value = node if found is None else found[1][0].value if len(found[1]) == 1 and found[1][0].item < 0 else None
    named = scopes.qualified(value.func).rpartition(".")[2] if isinstance(value, ast.Call) else ""
    return (value, scope if found is None else found[0]) if isinstance(value, ast.Call) and named[:1].isupper() else None


def _collects(definition: ast.ClassDef) -> tuple[ast.FunctionDef, ast.arg] | None:
    """`__init__` of a class and its parameter that says how many samples `__iter__` collects before it yields them; None if none does."""
    methods = {each.name: each for each in definition.body if isinstance(each, ast.FunctionDef)}
    makes, gives = methods.get("__init__"), methods.get("__iter__")
    full = {each for each in map(_full, ast.walk(gives)) if each is not None} if makes is not None and gives is not None else set()
    if makes is None or gives is None or len(full) != 1:
        return None
    ((batch, size),) = full
    sets = [each for each in ast.walk(definition) if isinstance(each, ast.Assign) and size in map(dotted, each.targets)]
    kept = dotted(sets[0].value) if len(sets) == 1 and sets[0] in makes.body and _gives_all(gives, batch) else ""
    parameter = next((each for each in makes.args.args if each.arg == kept), None)
    return (makes, parameter) if parameter is not None else None


def _full(test: ast.AST) -> tuple[str, str] | None:
    """`batch` and `self.size` of `len(batch) == self.size`; None of anything else."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Eq, ast.GtE)) or len(test.ops) != 1:
        return None
    call, size = test.left, dotted(test.comparators[0])
    counts = isinstance(call, ast.Call) and dotted(call.func) == "len" and len(call.args) == 1 and isinstance(call.args[0], ast.Name)
    return (call.args[0].id, size) if counts and size.startswith("self.") else None  # type: ignore[attr-defined]


def _gives_all(function: ast.FunctionDef, batch: str) -> bool:
    """Whether `function` adds samples to `batch` one by one, and yields that and nothing else."""
    nodes = [*ast.walk(function)]
    yields = {dotted(each.value) if each.value is not None else "" for each in nodes if isinstance(each, (ast.Yield, ast.YieldFrom))}
    methods = {each.attr for each in nodes if isinstance(each, ast.Attribute) and dotted(each.value) == batch}
    grows = any(isinstance(each, ast.AugAssign) and dotted(each.target) == batch for each in nodes)
    return yields == {batch} and methods == {"append"} and not grows


def divided_among_groups(program: Program) -> ast.expr | None:
    """What a sampler of `program` divides its data by, if that is not the number of all processes: some of them get the same data."""
    if _REPLICAS not in program.text:
        return None
    named = ((each.value, scope) for call, scope in program.scopes.calls for each in call.keywords if each.arg == _REPLICAS)
    given = {_behind(node, scope): node for node, scope in named}
    return next((node for replicas, node in given.items() if _are_groups(replicas)), None)


def _behind(node: ast.expr, scope: Scope) -> ast.expr:
    """What the name that `node` is stands for, `node` if that is not plain."""
    for _ in range(DEEPEST_EXPRESSION):
        found = scope.binding(node)
        if found is None or found[1].value is None or found[1].item >= 0:
            break
        scope, node = found[0], found[1].value
    return node


def _are_groups(replicas: ast.expr) -> bool:
    """Whether `replicas` are fewer than the processes, as their text says: a quotient, the size of a group."""
    divided = any(isinstance(each, (ast.Div, ast.FloorDiv)) for each in ast.walk(replicas))
    return divided or _group().search(unparsed(replicas)) is not None


_group = lazy_pattern(r"(?<![A-Za-z])(?:dp|sp|cp)(?![A-Za-z])|data_?parallel|mesh|group(?!\.WORLD)")
