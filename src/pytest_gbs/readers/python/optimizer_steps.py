"""When the optimizer takes a step in a training loop: after each batch, or after so many."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from pytest_gbs.model.location import grouped
from pytest_gbs.readers.python.attributes import argument, dotted
from pytest_gbs.readers.python.scopes import Scope

Loop: TypeAlias = ast.For | ast.While


class OptimizerStep(NamedTuple):
    """A call with which an optimizer takes a step: after `each` batch, or after so many as `every` says; neither if that is not plain."""

    call: ast.Call
    each: bool = False
    every: ast.expr | None = None


class _Inside(NamedTuple):
    """A node in a loop: the tests around it, twice one in whose `else` it is, and whether it is `nested` in a loop or a function."""

    node: ast.AST
    tests: tuple[ast.If, ...] = ()
    nested: bool = False


def optimizer_steps(loop: Loop, scope: Scope) -> Iterator[OptimizerStep]:
    """Yield the steps that optimizers take in a loop over batches."""
    inside, counts = list(_inside(loop)), _counts(loop)
    skips, waits = _left_out(inside, loop, scope, counts)
    for call, tests, nested in inside:
        if not isinstance(call, ast.Call) or not (_is_step(call) or is_scaled_pass(call)):
            continue
        told = argument(call, "update_grad", "need_update") if is_scaled_pass(call) else None
        conditions = [*(each.test for each in tests), *([told] if told is not None else [])]
        waited = [each for line, each in waits if line < call.lineno]
        if any(line < call.lineno for line in skips) or nested or len(conditions) + len(waited) > 1:
            yield OptimizerStep(call)
        elif waited:
            yield OptimizerStep(call, every=waited[0])
        else:
            yield OptimizerStep(call, not conditions, _when(conditions[0], loop, scope, counts) if conditions else None)


def _inside(loop: Loop) -> Iterator[_Inside]:
    """Yield the nodes in a loop; those that are in it whatever a test says, since both of its branches take a step, have none of that."""
    pending = [_Inside(each) for each in loop.body]
    while pending:
        node, tests, nested = at = pending.pop()
        yield at
        below = nested or isinstance(node, (ast.For, ast.While, ast.FunctionDef, ast.Lambda))
        if isinstance(node, ast.If) and not (_has_step(node.body) and _has_step(node.orelse)):
            pending.extend(_Inside(each, (*tests, node), below) for each in node.body)
            pending.extend(_Inside(each, (*tests, node, node), below) for each in node.orelse)
        else:
            pending.extend(_Inside(each, tests, below) for each in ast.iter_child_nodes(node))


def _left_out(inside: list[_Inside], loop: Loop, scope: Scope, counts: dict[str, int]) -> tuple[list[int], list[tuple[int, ast.expr]]]:
    """The lines from which on batches are left out in a way that is not plain, and those from which on so many were counted.

    Both by tests that go on with the next batch.
    """
    passes = (each.lineno for each in ast.walk(loop) if isinstance(each, ast.Attribute) and each.attr.endswith("backward"))
    backward = min(passes, default=loop.end_lineno or 0)
    skips, waits = list[int](), list[tuple[int, ast.expr]]()
    for node, tests, nested in inside:
        if not isinstance(node, ast.Continue) or nested:
            continue
        counted = [_counted(each.test, counts, ast.Lt) for each in tests]
        if len(tests) == 1 and backward < node.lineno:  # what is left out behind the backward pass adds up
            counted[0] = counted[0] or _every(_named_test(tests[0].test, loop, scope), ast.NotEq)
        waits += [(node.lineno, each) for each in counted if each is not None]
        if (len(tests) > 1) if any(counted) else any(_has_modulo(each.test) for each in tests):
            skips.append(node.lineno)
    return skips, waits


def is_scaled_pass(call: ast.Call) -> bool:
    """Whether `call` is `loss_scaler(loss, optimizer)`, which makes the backward pass and, unless it is told not to, takes the step.

    Programs modelled on DeiT and MAE have it (pytorch-image-models aa4b5850, timm/utils/cuda.py, NativeScaler; mae efb2a80, util/misc.py).
    """
    names = [dotted(each).lower() for each in (call.func, *call.args[:2])]
    return len(names) == 3 and all(word in name for word, name in zip(("scaler", "loss", "optim"), names, strict=True))


def _is_step(call: ast.Call) -> bool:
    """Whether `call` is `optimizer.step()`, `opt.step()` or `scaler.step(optimizer)`."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
        return False
    names = [dotted(each).lower() for each in (call.func.value, *call.args)]
    return any("optim" in name or name.rpartition(".")[2] == "opt" for name in names)


def _has_step(statements: list[ast.stmt]) -> bool:
    """Whether an optimizer takes a step in `statements`: with a scaler in one branch, say, and without in the other."""
    calls = (node for each in statements for node in ast.walk(each) if isinstance(node, ast.Call))
    return any(_is_step(each) or is_scaled_pass(each) for each in calls)


def _has_modulo(test: ast.expr) -> bool:
    return any(isinstance(each, ast.Mod) for each in ast.walk(test))


def _when(test: ast.expr, loop: Loop, scope: Scope, counts: dict[str, int]) -> ast.expr | None:
    """N of a test that holds for each batch number N; with Fabric it is `not is_accumulating`, of `is_accumulating = (i + 1) % N != 0`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _every(_named_test(test.operand, loop, scope), ast.NotEq)
    return _every(_named_test(test, loop, scope)) or _counted(test, counts, ast.Eq, ast.GtE)


def _counts(loop: Loop) -> dict[str, int]:
    """The names by which the loop counts its batches (`count += 1`), beginning again with 0, each with the line that counts."""
    added = [each for each in loop.body if isinstance(each, ast.AugAssign) and isinstance(each.op, ast.Add) and _is_number(each.value, 1)]
    lines = [(each.target.id, each.lineno) for each in added if isinstance(each.target, ast.Name)]
    assigned = [each for each in ast.walk(loop) if isinstance(each, ast.Assign)] if lines else []
    begun = [(name.id, _is_number(each.value, 0)) for each in assigned for name in each.targets if isinstance(name, ast.Name)]
    often, set_to = Counter(name for name, _ in lines), grouped(begun)
    return {name: line for name, line in lines if often[name] == 1 and set_to.get(name) == [True]}


def _is_number(node: ast.expr, number: int) -> bool:
    return isinstance(node, ast.Constant) and node.value == number


def _counted(test: ast.expr, counts: dict[str, int], *holds: type[ast.cmpop]) -> ast.expr | None:
    """N of `count == N`, behind what counts the batches; else None."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], holds) or not isinstance(test.left, ast.Name):
        return None
    return test.comparators[0] if counts.get(test.left.id, test.lineno) < test.lineno else None


def _named_test(test: ast.expr, loop: Loop, scope: Scope) -> ast.expr:
    """What `test` is if the loop gives it a name before: `is_update_step = (i + 1) % 8 == 0`."""
    found = scope.names.get(test.id, []) if isinstance(test, ast.Name) else []
    inside = len(found) == 1 and found[0].node in loop.body and found[0].item < 0
    return found[0].value if inside and found[0].value is not None else test


def _every(test: ast.expr, holds: type[ast.cmpop] = ast.Eq) -> ast.expr | None:
    """N in `(step + 1) % N == 0`, also with the last batch, `... or step == len(loader) - 1`, or without the first; else None.

    With `!=` for `holds` it is N of a test that holds for all others, `(step + 1) % N`.
    """
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or if holds is ast.Eq else ast.And):
        found = [each for each in test.values if _has_modulo(each)]
        return _every(found[0], holds) if len(found) == 1 else None
    if isinstance(test, ast.BinOp) and isinstance(test.op, ast.Mod) and holds is ast.NotEq:
        return test.right
    if isinstance(test, ast.BoolOp):
        found = [each for each in test.values if not _is_past_first(each)]
        return _every(found[0], holds) if len(found) == 1 and holds is ast.Eq else None
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], holds):
        return None
    zero = test.comparators[0]
    modulo = test.left if isinstance(test.left, ast.BinOp) and isinstance(test.left.op, ast.Mod) else None
    return modulo.right if modulo is not None and isinstance(zero, ast.Constant) and zero.value == 0 else None


def _is_past_first(test: ast.expr) -> bool:
    """Whether `test` is `step > 0` or `step != 0`."""
    if not isinstance(test, ast.Compare) or not isinstance(test.left, (ast.Name, ast.Attribute)) or len(test.ops) != 1:
        return False
    zero = test.comparators[0]
    return isinstance(test.ops[0], (ast.Gt, ast.NotEq)) and isinstance(zero, ast.Constant) and zero.value == 0
