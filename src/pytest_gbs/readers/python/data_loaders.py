"""The data loaders of a program: the one call that makes what an expression is, and the samples of a batch of it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION, MOST_BINDINGS
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import argument, dotted, is_unpacked
from pytest_gbs.readers.python.modules import Defined
from pytest_gbs.readers.python.results import Entry, Known, Made, Table, Value, at_span
from pytest_gbs.readers.python.samplers import divided_among_groups, sampled
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

# What data loaders are called that take `batch_size`, second if without a name, by the package that they are of.
_LOADERS_OF: Final = {"torch": ".DataLoader", "torch_geometric": ".DataLoader", "sentence_transformers": "DataLoader"}
_PREPARES: Final = frozenset(("prepare", "prepare_data_loader", "setup_dataloaders"))
_PASSES_ON: Final = frozenset(
    ("enumerate", "tqdm", "trange", "iter", "skip_first_batches", "cycle", "track", "synchronized_dataloader_step", "log_every")
)


class Loader(NamedTuple):
    """The call that makes a data loader, where it is, and whether accelerate prepares what it makes.

    `batch` are the samples of one batch if a function of another file makes it.
    """

    call: ast.Call
    scope: Scope
    prepared: bool
    batch: Value | None = None


class DataLoaders:
    """The data loaders of one program; `given` are those that parameters of a function get from another file.

    `within` are the functions that are being looked at for what they return: one that calls itself returns no loader by that.
    """

    def __init__(
        self,
        scopes: Scopes,
        evaluator: Evaluator,
        given: Mapping[ast.AST, Loader] = MappingProxyType({}),
        within: frozenset[ast.FunctionDef] = frozenset(),
    ) -> None:
        self.scopes, self.evaluator, self.given, self.within = scopes, evaluator, given, within

    def loader(self, node: ast.expr, scope: Scope, seen: frozenset[tuple[Scope, str]] = frozenset(), depth: int = 0) -> Loader | None:
        """The one call that makes the data loader that `node` is; None if that is not plain."""
        self.evaluator.left -= 1
        if depth >= DEEPEST_EXPRESSION or self.evaluator.left < 0:
            return None
        if isinstance(node, ast.Name):
            return self._of_name(node.id, scope, seen, depth)
        if isinstance(node, ast.NamedExpr):
            return self.loader(node.value, scope, seen, depth + 1)
        if isinstance(node, ast.IfExp):
            return self._either_of([self.loader(each, scope, seen, depth + 1) for each in (node.body, node.orelse)])
        return self._of_call(node, scope, -1, seen, depth) if isinstance(node, ast.Call) else None

    def _of_name(self, name: str, scope: Scope, seen: frozenset[tuple[Scope, str]], depth: int) -> Loader | None:
        found = scope.find(name)
        if found is None:
            return None
        where, bindings = found
        if (where, name) in seen or len(bindings) > MOST_BINDINGS:
            return None
        seen = seen | {(where, name)}
        loaders: list[Loader | None] = []
        for each in (each for each in bindings if self.evaluator.runs(each.branch, where) is not False):
            if each.node in self.given:
                loaders.append(self.given[each.node])
            elif each.parameter is not None and isinstance(each.node, ast.arg):
                calls = [call for call in self.scopes.called.get(each.parameter.name, ()) if isinstance(call[0].func, ast.Name)]
                given = [(self.argument(call, each.node.arg, each.parameter), at) for call, at in calls]
                loaders += [self.loader(value, at, seen, depth + 1) if value is not None else None for value, at in given] or [None]
            elif isinstance(each.value, ast.Tuple) and 0 <= each.item < len(each.value.elts):
                loaders.append(self.loader(each.value.elts[each.item], where, seen, depth + 1))
            elif isinstance(each.value, ast.Call):
                again = self._passed_on(each.value, each.item)
                if isinstance(again, ast.Name) and again.id == name and len(bindings) > 1:
                    loaders = [one and one._replace(prepared=one.prepared or _is_prepare(each.value)) for one in loaders]
                    continue
                loaders.append(self._of_call(each.value, where, each.item, seen, depth))
            else:
                loaders.append(self.loader(each.value, where, seen, depth + 1) if each.value is not None and each.item < 0 else None)
        return self._either_of(loaders)

    def _passed_on(self, call: ast.Call, item: int) -> ast.expr | None:
        """The argument of `call` that comes back as its result, or as number `item` of its results; None if it makes something new."""
        name = call.func.attr if isinstance(call.func, ast.Attribute) else call.func.id if isinstance(call.func, ast.Name) else ""
        if is_unpacked(call):
            return None
        if _is_prepare(call):
            return call.args[max(item, 0)] if len(call.args) > max(item, 0) and (item >= 0 or len(call.args) == 1) else None
        if name not in _PASSES_ON or item >= 0:
            return None
        return call.args[0] if call.args else argument(call, "iterable", "dataloader")

    def _of_call(self, call: ast.Call, scope: Scope, item: int, seen: frozenset[tuple[Scope, str]], depth: int) -> Loader | None:
        name = self.scopes.qualified(call.func)
        if name.partition(".")[0] in _LOADERS_OF and name.endswith(_LOADERS_OF[name.partition(".")[0]]):
            return Loader(call, scope, False) if item < 0 else None
        passed = self._passed_on(call, item)
        if passed is not None:
            found = self.loader(passed, scope, seen, depth + 1)
            return found and found._replace(prepared=found.prepared or _is_prepare(call))
        named = call.func.value if isinstance(call.func, ast.Attribute) else call.func
        node = scope.bound(named)
        if isinstance(node, ast.ImportFrom) or (isinstance(node, ast.Import) and named is not call.func):
            return self._made_elsewhere(call, scope, item, depth)
        if not isinstance(node, ast.FunctionDef) or node not in self.scopes.inner:
            return None
        return self._of_function(node, item, seen, depth) or self._made_elsewhere(call, scope, item, depth)

    def _of_function(self, node: ast.FunctionDef, item: int, seen: frozenset[tuple[Scope, str]], depth: int) -> Loader | None:
        """The one loader that a function of the program returns."""
        inner = self.scopes.inner[node]
        given = [self._returned(each, item) for each in inner.returned]
        return self._either_of([self.loader(each, inner, seen, depth + 1) if each is not None else None for each in given])

    def _made_elsewhere(self, call: ast.Call, scope: Scope, item: int, depth: int) -> Loader | None:
        """The loader that a function of the repository makes for `call`, evaluated for what it gives."""
        evaluator, modules = self.evaluator, self.evaluator.modules
        if modules is None:
            return None
        defined = modules.called(call, evaluator.program)
        if defined is None or defined.function in self.within:
            return None
        given = evaluator.arguments(defined.function, call, scope)
        return self._returned_by(defined, (defined.function, item), (call, scope), given, depth)

    def of_module(self, node: ast.expr, scope: Scope) -> Loader | None:
        """The loader that Lightning gets of the class of another file of which `node` is, or names, an instance, if its batch is known."""
        evaluator, made = self.evaluator, self.evaluator.origin(node, scope)
        found = evaluator.class_elsewhere(made.func) if made is not None else None
        if found is None or made is None or (isinstance(node, ast.Name) and node.id in self.scopes.changes):
            return None
        other, definition = found
        inherited = [each for parent in reversed(other.ancestry(definition)) for each in parent.body]
        methods = {each.name: each for each in inherited if isinstance(each, ast.FunctionDef)}
        makes, loads = methods.get("__init__"), methods.get("train_dataloader")
        if loads is None:
            return None
        given = evaluator.arguments(makes, made, scope, skipped=1) if makes is not None else {}
        defined = Defined(makes or loads, other.program)
        loader = self._returned_by(defined, (loads, -1), (made, scope), given, 0)
        return loader if loader is not None and isinstance(loader.batch, Known) else None

    def _returned_by(
        self, defined: Defined, loads: tuple[ast.FunctionDef, int], at: tuple[ast.Call, Scope], given: dict[ast.AST, Value], depth: int
    ) -> Loader | None:
        """The loader that a function of another file returns, `loads` with the number of it among its results.

        The call `at` has `given` the parameters of what is `defined` there.
        """
        evaluator, call = self.evaluator, at[0]
        given = {node: evaluator.carried(value) for node, value in given.items()}
        other = Evaluator(defined.program, evaluator.line, evaluator.modules)
        other.given, other.left = other.defaults(defined.function) | given, evaluator.left
        reading = DataLoaders(defined.program.scopes, other, within=self.within | {loads[0]})
        found = reading._of_function(*loads, frozenset(), depth + 1)
        batch = reading.batch(found) if found is not None else None
        evaluator.left = other.left
        if found is None or batch is None or divided_among_groups(defined.program) is not None:
            return None
        options = (each for value in given.values() if isinstance(value, Made) for _, each in value.arguments.entries.values())
        is_own = any(batch is each for each in (*given.values(), *options))
        return Loader(*at, found.prepared, batch if is_own else at_span(batch, evaluator.program.span(call)))

    def _either_of(self, loaders: list[Loader | None]) -> Loader | None:
        """The one loader that all of `loaders` are, or the first if only one of them is made, and all are known to have the same batch."""
        found, every = one_of(loaders), [each for each in loaders if each is not None]
        if found is not None or len(every) < len(loaders) or any(each in every for each in self.given.values()):
            return found
        sizes = {each.value if isinstance(each, Known) else None for each in map(self.batch, every)}
        if len(sizes) != 1 or not sizes.isdisjoint((None, 1)):  # where one is not asked for, samplers may make the batches
            return None
        return every[0]._replace(prepared=all(each.prepared for each in every))

    def _returned(self, returned: ast.AST | str, item: int) -> ast.expr | None:
        """What a function returns as number `item` of several results, or as its only one (-1); None if that is not plain."""
        if isinstance(returned, str):
            return ast.Name(returned, ast.Load()) if item < 0 else None
        if isinstance(returned, ast.Tuple):
            return returned.elts[item] if 0 <= item < len(returned.elts) else None
        return returned if isinstance(returned, ast.expr) and item < 0 else None

    def argument(self, call: ast.Call, name: str, function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.expr | None:
        """What `call` gives for the parameter `name` of `function`, None if that is not plain."""
        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if isinstance(call.func, ast.Attribute) or is_unpacked(call):
            return None
        return argument(call, name, position=names.index(name) if name in names else len(names))

    def place(self, loader: Loader) -> tuple[int, int]:
        """Where the batch size of a loader is given, or the name of what makes the loader."""
        given = next((each for each in loader.call.keywords if each.arg == "batch_size"), None)
        second = given is None and loader.batch is None and len(loader.call.args) > 1
        return self.evaluator.program.span(loader.call.args[1]) if second else self.evaluator.name_of(given, loader.call)

    def entry(self, loader: Loader, batch: Value | None = None) -> Entry:
        """A loader as a table of a document, with `batch` as its batch size if that is not what it gives."""
        span = self.evaluator.program.span
        batches = {"batch_size": (self.place(loader), self.batch(loader) if batch is None else batch)}
        return span(loader.call.func), Table(batches, *span(loader.call))

    def set_later(self, call: ast.Call, scope: Scope, attribute: str) -> dict[str, Entry]:
        """An attribute that the program sets on what `call` made: `accelerator.gradient_accumulation_steps = 4`; nothing if it does not."""
        by_name = self.scopes.attributes.get(attribute, {})
        sets = [each for name in scope.named.get(call, ()) for each in by_name.get(name, ())]
        if not sets:
            return {}
        value = self.evaluator.set_to(sets, scope, sys.maxsize, sets[0].target)
        return {attribute: (self.evaluator.program.span(sets[0].target), value)}

    def batch(self, loader: Loader) -> Value:
        """The samples of one batch of a loader."""
        call, names = loader.call, {each.arg for each in loader.call.keywords}
        lost = self.evaluator.lost(call)
        if loader.batch is not None:
            return loader.batch
        if is_unpacked(call):
            return lost
        if None in names:
            return self._unpacked(loader)
        sampler, given = argument(call, "batch_sampler"), argument(call, "batch_size", position=1)
        if sampler is not None:
            return sampled(sampler, loader.scope, self.evaluator)
        if given is None:
            return Known(1, *self.evaluator.program.span(call.func))
        found = self.evaluator.value(given, loader.scope)
        if not isinstance(found, Known):
            return self._of_each_gpu(given, loader.scope) or found
        # With none, or one of 1, the data set may make the batches.
        return lost if found.value is None or self._has_batches(given, call, loader.scope) else found

    def _has_batches(self, given: ast.expr, call: ast.Call, scope: Scope) -> bool:
        """Whether the examples of a loader of one each are batches: its data set is made with a `batch_size`."""
        data = argument(call, "dataset", position=0)
        made = self.evaluator.origin(data, scope) if data is not None and isinstance(given, ast.Constant) and given.value == 1 else None
        return made is not None and any(each.arg == "batch_size" for each in made.keywords)

    def _unpacked(self, loader: Loader) -> Value:
        """The batch of `DataLoader(data, **options)`, if the text says all of the options that matter."""
        table, lost = self.evaluator.keywords(loader.call, loader.scope), self.evaluator.lost(loader.call)
        if table.rest is not None or len(loader.call.args) > 1 or "batch_sampler" in table.entries:
            return lost
        place = self.evaluator.program.span(loader.call.func)
        found = table.entries.get("batch_size", (place, Known(1, *place)))[1]
        return lost if isinstance(found, Known) and found.value is None else found

    def _of_each_gpu(self, given: ast.expr, scope: Scope) -> Value | None:
        """N in `N * max(1, args.n_gpu)`, the batch of a process for all GPUs that it splits it over, or None.

        `given` may be an attribute that is set to that (`args.train_batch_size`), as programs after early examples of transformers do.
        """
        product = given
        if isinstance(given, ast.Attribute) and isinstance(given.value, ast.Name):
            sets = self.scopes.attributes.get(given.attr, {}).get(given.value.id, [])
            product = (sets[0].assigned(scope, given.lineno) if len(sets) == 1 else None) or given
        if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult) or not _is_gpus_of_process(product.right):
            return None
        return self.evaluator.value(product.left, scope)


def one_of(loaders: list[Loader | None]) -> Loader | None:
    """The one loader that all of `loaders` are."""
    calls = {None if each is None else each.call for each in loaders}
    return max((each for each in loaders if each), key=lambda each: each.prepared) if len(calls) == 1 and None not in calls else None


def _is_gpus_of_process(node: ast.expr) -> bool:
    """Whether `node` is `max(1, args.n_gpu)`, which is 1 where a process has one GPU."""
    arguments = node.args if isinstance(node, ast.Call) and dotted(node.func) == "max" else []
    return len(arguments) == 2 and any(dotted(each).rpartition(".")[2] == "n_gpu" for each in arguments)


def _is_prepare(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _PREPARES
