"""The learning-rate schedules of a program that go to accelerate, and what their numbers of steps count."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION, MOST_SCHEDULES
from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.schedule import Counts, Schedule, StepCount
from pytest_gbs.readers.python.attributes import argument, dotted
from pytest_gbs.readers.python.program import Program
from pytest_gbs.readers.python.scopes import OPEN, Branch, Scope
from pytest_gbs.readers.python.values import Evaluator

_SCHEDULES: Final = {
    "get_scheduler": 2,
    "get_linear_schedule_with_warmup": 1,
    "get_cosine_schedule_with_warmup": 1,
    "get_cosine_with_hard_restarts_schedule_with_warmup": 1,
    "get_polynomial_decay_schedule_with_warmup": 1,
}
"""The functions of transformers and diffusers that make a schedule, each with the position of its warm-up; the length is next to it."""
# With one of these accelerate does not move a schedule on once for each process, or may not.
_OTHERWISE: Final = frozenset(
    ("split_batches", "step_scheduler_with_optimizer", "dataloader_config", "megatron_lm_plugin", "parallelism_config")
)
_ROUNDS: Final = frozenset(("int", "round", "math.ceil", "math.floor", "np.ceil", "numpy.ceil"))
_MAY_BE_PROCESSES: Final = ("process", "world", "gpu", "device", "rank", "replica", "node")


class _Factors(NamedTuple):
    """A product: the options and data loaders in it, and how often the number of processes is a factor of it."""

    options: tuple[ast.expr, ...] = ()
    loaders: tuple[ast.Name, ...] = ()
    processes: int = 0


class Schedules:
    """One program while its schedules are read."""

    def __init__(self, program: Program) -> None:
        self.program, self.scopes = program, program.scopes
        self.evaluator = Evaluator(program)
        self.accelerators: set[str] = set()
        self.conditions: dict[ast.AST, Branch | None] = {}  # under which a name gets what a call gives
        self.counters: dict[str, list[str]] = {}
        self.moved: dict[str, bool] = {}

    def found(self) -> Iterator[tuple[Schedule, ast.Call]]:
        """Yield each schedule that the program makes and hands to accelerate, with the call that makes it.

        Nothing if the program sets up accelerate so that schedules move differently, or if it is not plain which schedule is handed on.
        """
        names = {call: self.scopes.qualified(call.func) for call, _ in self.scopes.calls}
        made = {call for call, name in names.items() if name.startswith("accelerate.") and name.endswith(".Accelerator")}
        given = {keyword.arg for call in made for keyword in call.keywords}
        if not made or None in given or given & _OTHERWISE:
            return
        assigned = (node for node in ast.walk(self.program.tree) if isinstance(node, ast.Assign) and node.value in made)
        self.accelerators.update(dotted(target) for node in assigned for target in node.targets)
        found = ((call, scope, names[call].rpartition(".")) for call, scope in self.scopes.calls)
        of_library = [each for each in found if each[2][2] in _SCHEDULES and each[2][0].partition(".")[0] in ("transformers", "diffusers")]
        if of_library:
            self._look_around()
        for call, scope, (_, _, name) in of_library[:MOST_SCHEDULES]:
            if self._is_handed_on(call, scope):
                training = self._argument(call, "num_training_steps", _SCHEDULES[name] + 1, scope)
                warmup = self._argument(call, "num_warmup_steps", _SCHEDULES[name], scope)
                yield Schedule(self.program.source.path, training, warmup), call

    def _is_handed_on(self, call: ast.Call, scope: Scope) -> bool:
        """Whether `Accelerator.prepare` surely gets what `call` makes, and the program moves on what it gives back."""
        named = [name for name in scope.named.get(call, ()) if any(each.value is call and each.item < 0 for each in scope.names[name])]
        if len(named) != 1:
            return False
        prepared = set(self._prepares(named[0], scope))
        others = [each.value for each in scope.names[named[0]] if each.value is not call and each.value not in prepared]
        branches = [self.conditions.get(each, OPEN) for each in prepared]
        surely = any(each is None for each in branches) or len(branches) > 1
        return surely and not others and all(each.lineno > call.lineno for each in prepared) and self.moved.get(named[0], False)

    def _look_around(self) -> None:
        """Note what is bound under which condition, what is compared with what, and which schedules move at each step of the optimizer."""
        for scope in (self.scopes.module, *self.scopes.inner.values()):
            self.conditions.update(
                (each.value, each.branch) for bindings in scope.names.values() for each in bindings if each.value is not None
            )
        pending: list[tuple[ast.AST, bool]] = [(self.program.tree, True)]
        while pending:
            node, always = pending.pop()
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
                name = dotted(node.func.value)
                self.moved[name] = always and self.moved.get(name, True)
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.GtE, ast.Gt, ast.Eq)) and isinstance(node.left, ast.Name):
                self.counters.setdefault(dotted(node.comparators[0]), []).append(node.left.id)
            below = always and (not isinstance(node, ast.If) or _is_about_steps(node.test))
            pending.extend((each, below) for each in ast.iter_child_nodes(node))

    def _prepares(self, name: str, scope: Scope) -> list[ast.Call]:
        """The calls of `Accelerator.prepare` that get `name`."""
        return [
            call
            for call, where in self.scopes.calls
            if where is scope
            and isinstance(call.func, ast.Attribute)
            and call.func.attr in ("prepare", "prepare_scheduler", "prepare_data_loader")
            and dotted(call.func.value) in self.accelerators
            and any(isinstance(each, ast.Name) and each.id == name for each in call.args)
        ]

    def _argument(self, call: ast.Call, name: str, position: int, scope: Scope) -> StepCount | None:
        """What `call` is given for the steps called `name`; None if that is not plain."""
        node = argument(call, name, position=position)
        factors = self._factors(node, scope, call.lineno, 0) if node is not None else None
        return self._counted(factors, node, scope, call.lineno) if factors is not None and node is not None else None

    def _counted(self, factors: _Factors, node: ast.expr, scope: Scope, line: int) -> StepCount | None:
        """What a product counts: one option, or the length of one data loader."""
        at = Location(self.program.source.path, *self.program.span(node))
        if len(factors.loaders) == 1:
            counts = self._of_loader(factors.loaders[0], scope)
            return StepCount(counts, factors.processes, factors.loaders[0].id, at) if counts else None
        if factors.loaders or len(factors.options) != 1:
            return None
        option = factors.options[0]
        return StepCount(Counts.STEPS, factors.processes, dotted(option), at, self._otherwise(option, factors, node, scope, line))

    def _otherwise(self, option: ast.expr, factors: _Factors, node: ast.expr, scope: Scope, line: int) -> StepCount | None:
        """What is counted if an option without a default is not given: what the program sets it to in that case."""
        changes = self._changes(option, line)
        if len(changes) != 1 or not isinstance(option, ast.Attribute) or not self._has_no_default(option.attr):
            return None
        value, where, _ = changes[0]
        instead = self._factors(value, where, value.lineno, 0) if where is scope else None
        whole = instead._replace(processes=instead.processes + factors.processes) if instead is not None else None
        return self._counted(whole, node, scope, line) if whole is not None and not whole.options else None

    def _has_no_default(self, option: str) -> bool:
        """Whether argparse gives an option of that name no value by itself, as far as this file says: the parser may be in another."""
        found = [
            call
            for call, _ in self.scopes.called.get("add_argument", ())
            if isinstance(call.func, ast.Attribute)
            and any(isinstance(each, ast.Constant) and each.value == f"--{option}" for each in call.args)
        ]
        defaults = [each.value for call in found for each in call.keywords if each.arg == "default"]
        return all(isinstance(each, ast.Constant) and each.value is None for each in defaults)

    def _changes(self, option: ast.expr, line: int) -> list[tuple[ast.expr, Scope, Branch | None]]:
        """What the program itself sets an attribute to before `line`, and under which condition."""
        found = self.scopes.changes.get(dotted(option).partition(".")[0], []) if isinstance(option, ast.Attribute) else []
        same = (each for each in found if dotted(each[1]) == dotted(option) and each[0].lineno < line)
        return [(statement.value or option, scope, branch) for statement, _, scope, branch in same]

    def _of_loader(self, loader: ast.Name, scope: Scope) -> str:
        """What the length of a data loader counts, "" if it is not plain how it is divided among the processes."""
        bindings = scope.names.get(loader.id, [])
        prepared = self._prepares(loader.id, scope)
        made = [each for each in bindings if each.value not in prepared]
        call = made[0].value if len(made) == 1 and made[0].item < 0 else None
        if not isinstance(call, ast.Call) or not prepared or self.scopes.qualified(call.func).rpartition(".")[2] != "DataLoader":
            return ""
        if any(keyword.arg is None or "sampler" in keyword.arg for keyword in call.keywords):
            return ""
        if all(each.lineno > loader.lineno for each in prepared):
            return Counts.BATCHES
        before = [each for each in prepared if each.lineno < loader.lineno]
        return Counts.SHARE if any(self.conditions.get(each, OPEN) is None for each in before) else ""

    def _factors(self, node: ast.expr, scope: Scope, line: int, depth: int) -> _Factors | None:
        """The factors of `node`, names followed to what they are before `line`; None if it is not a plain product."""
        if depth >= DEEPEST_EXPRESSION:
            return None
        if isinstance(node, ast.Constant):
            return _Factors() if isinstance(node.value, (int, float)) else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div, ast.FloorDiv)):
            left, right = self._factors(node.left, scope, line, depth + 1), self._factors(node.right, scope, line, depth + 1)
            return _product(left, right, divides=not isinstance(node.op, ast.Mult))
        if isinstance(node, ast.Call):
            return self._of_call(node, scope, line, depth)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(node, scope, line, depth)
        return self._of_name(node, scope, line, depth) if isinstance(node, ast.Name) else None

    def _of_call(self, node: ast.Call, scope: Scope, line: int, depth: int) -> _Factors | None:
        name = self.scopes.qualified(node.func)
        if name == "len" and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            return _Factors(loaders=(node.args[0],))
        if name in _ROUNDS and len(node.args) == 1 and not node.keywords:
            return self._factors(node.args[0], scope, line, depth + 1)
        return None

    def _of_attribute(self, node: ast.Attribute, scope: Scope, line: int, depth: int) -> _Factors | None:
        if node.attr == "num_processes" and dotted(node.value).removesuffix(".state") in self.accelerators:
            return _Factors(processes=1)
        changes = self._changes(node, line)
        if len(changes) == 1 and changes[0][1] is scope and changes[0][2] is None:
            return self._factors(changes[0][0], scope, changes[0][0].lineno, depth + 1)
        if _is_doubtful(node.attr) or any(where is not scope or not _is_if_absent(branch, node) for _, where, branch in changes):
            return None
        return _once(node, self._bounds_the_run(node))

    def _of_name(self, node: ast.Name, scope: Scope, line: int, depth: int) -> _Factors | None:
        found = scope.find(node.id)
        if found is None or found[0] is not scope or any(each.parameter is not None for each in found[1]):
            return None if _is_doubtful(node.id) or found is None else _once(node, self._bounds_the_run(node))
        chosen = self.evaluator.chosen(found[1], line, scope) or []
        value = chosen[0].value if len(chosen) == 1 and chosen[0].item < 0 else None
        return self._factors(value, scope, chosen[0].node.lineno, depth + 1) if value is not None else None  # type: ignore[attr-defined]

    def _bounds_the_run(self, option: ast.expr) -> bool:
        """Whether the program ends when a counter of steps of the optimizer reaches `option`."""
        return any(map(self._counts_steps, self.counters.get(dotted(option), ())[:MOST_SCHEDULES]))

    def _counts_steps(self, counter: str) -> bool:
        """Whether a name grows by one at each step of the optimizer, and not at each batch."""
        added = [
            each
            for scope in (self.scopes.module, *self.scopes.inner.values())
            for each in scope.names.get(counter, ())
            if isinstance(each.node, ast.AugAssign)
        ]
        if not added:
            return False
        return "accum" not in self.program.text or all(_is_after_a_step(each.branch) for each in added)


def _once(node: ast.expr, bounds: bool) -> _Factors:
    """A factor that is an option if it says how long the run is or how long it warms up; any other is the same on all hardware."""
    return _Factors(options=(node,)) if bounds or "warm" in dotted(node) else _Factors()


def _is_doubtful(name: str) -> bool:
    return any(word in name.lower() for word in _MAY_BE_PROCESSES)


def _is_after_a_step(branch: Branch | None) -> bool:
    """Whether a statement runs only where gradients were accumulated."""
    while branch is not None:
        if branch.test is not None and _is_about_steps(branch.test):
            return True
        branch = branch.outer
    return False


def _is_about_steps(test: ast.expr) -> bool:
    """Whether a condition asks if the optimizer takes a step now."""
    asked = ("sync_gradients", "optimizer_step_was_skipped")
    return any(isinstance(node, ast.Mod) or (isinstance(node, ast.Attribute) and node.attr in asked) for node in ast.walk(test))


def _is_if_absent(branch: Branch | None, option: ast.expr) -> bool:
    """Whether a statement runs if and only if `option` was not given: `if args.max_train_steps is None:`."""
    test = branch.test if branch is not None and branch.outer is None and branch.taken else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return dotted(test.operand) == dotted(option)
    return (
        isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.Eq, ast.LtE, ast.Lt)) and dotted(test.left) == dotted(option)
    )


def _product(left: _Factors | None, right: _Factors | None, divides: bool) -> _Factors | None:
    if left is None or right is None or (divides and (right.options or right.loaders)):
        return None
    sign = -1 if divides else 1
    return _Factors((*left.options, *right.options), (*left.loaders, *right.loaders), left.processes + sign * right.processes)
