"""A program's own training loop: the data loader that it goes over, and after how many batches the optimizer takes a step."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.digits import whole_number
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import argument, dotted, given_parameters, unparsed
from pytest_gbs.readers.python.data_loaders import DataLoaders, Loader, one_of
from pytest_gbs.readers.python.modules import Defined
from pytest_gbs.readers.python.optimizer_steps import is_scaled_pass, optimizer_steps
from pytest_gbs.readers.python.results import SAMPLES, STEPS, Entry, Known, Lost, Made, Table, Value, at_span
from pytest_gbs.readers.python.samplers import made_by
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.stated_products import model_parallel, shared_batch, stated_product
from pytest_gbs.readers.python.values import Evaluator

# What makes processes train together, by its name as imported, with the name of its table in the document.
_TOGETHER: Final = {
    "accelerate.Accelerator": "Accelerator",
    "accelerate.accelerator.Accelerator": "Accelerator",
    "torch.nn.parallel.DistributedDataParallel": "DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel": "DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel": "FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel": "FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard": "FullyShardedDataParallel",
    "torch.distributed._composable.fsdp.fully_shard": "FullyShardedDataParallel",
    "jax.pmap": "pmap",
    **dict.fromkeys(("lightning.Fabric", "lightning.fabric.Fabric", "lightning_fabric.Fabric"), "Fabric"),
}
# With one of these the processes of FSDP may share a batch: tensor and context parallelism, meshes of several dimensions.
_SHARES: Final = ("device_mesh", "DeviceMesh", "parallelize_module", "context_parallel", "tensor.parallel", "ModelParallelStrategy")
_SHARDED: Final = frozenset(("FullyShardedDataParallel", "Fabric"))
# Those of which a program makes one, whose arguments matter, but for some.
_OBJECTS: Final = frozenset(("Accelerator", "Fabric"))
_NO_BATCH: Final = frozenset(("cpu", "kwargs_handlers", "log_with", "logging_dir", "mixed_precision", "project_config", "project_dir"))
_PLUGIN: Final = "deepspeed_plugin"
# With one of these accelerate divides batches otherwise, or accumulates otherwise.
_OTHERWISE: Final = frozenset(("split_batches", _PLUGIN, "deepspeed_plugins", "megatron_lm_plugin", "parallelism_config"))
_LOADERS: Final = "dataloader_config"
_OF_DEEPSPEED: Final = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")
# What counts the turns of a loop that takes its batches by `next`.
_COUNTS: Final = frozenset(("range", "trange", "count", "itertools.count"))
# What gives an Accelerator its accumulation instead of `gradient_accumulation_steps`, and which of its arguments says it.
_STEPS: Final = "gradient_accumulation_steps"
_VARIABLE: Final = "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"
_ACCUMULATES: Final = {"gradient_accumulation_plugin": "num_steps", _PLUGIN: _STEPS, "deepspeed_plugins": ""}


class _Loop(NamedTuple):
    """A loop over batches with the backward pass in it, and the loop `around` it; a `while` loop takes its batches by `next`."""

    node: ast.For | ast.While
    scope: Scope
    around: _Loop | None = None

    @property
    def name(self) -> ast.expr:
        """What people see first of it: the name of the batch, or the condition."""
        return self.node.target if isinstance(self.node, ast.For) else self.node.test

    @property
    def turns(self) -> ast.expr | None:
        """N of `for _ in range(N)`, else None."""
        counted = self.node.iter if isinstance(self.node, ast.For) else None
        plain = isinstance(counted, ast.Call) and dotted(counted.func) == "range" and len(counted.args) == 1
        return counted.args[0] if plain and isinstance(counted, ast.Call) else None

    @property
    def taken(self) -> list[ast.expr]:
        """What it takes batches from with `next`, unless it goes over something else than numbers."""
        counts = isinstance(self.node, ast.While) or any(
            dotted(each.func) in _COUNTS for each in ast.walk(self.node.iter) if isinstance(each, ast.Call)
        )
        return (
            [each.args[0] for each in ast.walk(self.node) if isinstance(each, ast.Call) and each.args and dotted(each.func) == "next"]
            if counts
            else []
        )


class _Trained(NamedTuple):
    """A loop that trains: the loader that it goes over, None if that is not plain; its steps; whether it leaves these to accelerate."""

    loader: Loader | None
    steps: Entry
    accumulates: bool


def training_loop(scopes: Scopes, evaluator: Evaluator) -> Iterator[tuple[ast.AST, Table]]:
    """Yield what makes the processes of a program train together, with the batch of its one data loader and its accumulation.

    If the program has several loops over different loaders, or it is not plain which loader its loop goes over, then what it
    multiplies to say its batch; else what a function of another file does with its one loader; else nothing.
    """
    if not any(name.rpartition(".")[2] in evaluator.program.text for name in _TOGETHER):
        return
    found = [(call, scope, _TOGETHER.get(scopes.qualified(call.func), "")) for call, scope in scopes.calls]
    together = [each for each in found if each[2]]
    kinds = {name for _, _, name in together}
    if not kinds or (kinds & _OBJECTS and not _are_alike([each[0] for each in together])) or "MEGATRON_LM" in evaluator.program.text:
        return  # Megatron-LM under accelerate has batches of its own
    if kinds & _SHARDED and any(word in evaluator.program.text for word in _SHARES):
        return
    call, scope, kind = together[0]
    place = evaluator.program.span(call)
    made = evaluator.keywords(call, scope) if kind in _OBJECTS else Table({}, *place)
    own = made if kind == "Accelerator" else None
    reading = TrainingLoops(scopes, evaluator)
    if own is not None:
        own.entries.update(reading.steps_of_environment(call))
        own.entries.update((_STEPS, reading.steps_of_plugin(each, scope)) for each in call.keywords if each.arg in _ACCUMULATES)
        own.entries.update(reading.set_later(call, scope, _STEPS))
    entries = _followed(reading, reading.trained(), call, scope, own)
    if entries is None and (own is None or (reading.leaves_steps() and _is_usual(reading, call, scope, own))):
        entries = stated_product(scopes, evaluator, of_devices=kind == "pmap")
        entries = {"DataLoader": entries["DataLoader"]} if entries is not None and own is not None else entries
    if entries is None:
        entries = _followed(reading, list(reading.elsewhere()), call, scope, own)
    shared = model_parallel(scopes, evaluator)
    if entries is not None and not (own is not None and shared):
        entries |= shared
        yield call, Table({kind: (evaluator.program.span(call.func), made), **entries}, *place)


def _are_alike(calls: list[ast.Call]) -> bool:
    """Whether objects, each of which another branch makes (`if args.with_tracking:`), differ at most in what no batch rests on."""
    arguments = ((call.func, *call.args, *(each for each in call.keywords if each.arg not in _NO_BATCH)) for call in calls)
    return len({tuple(sorted(map(unparsed, each))) for each in arguments}) == 1


def _followed(reading: TrainingLoops, trained: list[_Trained], call: ast.Call, scope: Scope, own: Table | None) -> dict[str, Entry] | None:
    """The data loader that `trained` loops go over, and when the optimizer takes a step; None if it is not plain which loader that is.

    `own` are the arguments of an Accelerator, None if the program has another way to train together.
    """
    loader = one_of([each.loader for each in trained])
    if loader is None or (own is not None and not loader.prepared):
        return None
    steps = None if own is not None and all(each.accumulates for each in trained) else reading.same([each.steps for each in trained])
    usual = own is None or _is_usual(reading, call, scope, own, steps)
    batch = reading.batch(loader) if usual else reading.evaluator.lost(loader.call)
    entries = {"DataLoader": reading.entry(loader, batch)}
    if steps is not None:
        entries[STEPS] = steps
        entries |= _shared(loader, batch, steps, reading.evaluator)
    return entries


def _shared(loader: Loader, batch: Value, steps: Entry, evaluator: Evaluator) -> dict[str, Entry]:
    """The samples of all processes in a step, if a process takes a share of them that is not known by itself."""
    given = argument(loader.call, "batch_size")
    if given is None or loader.batch is not None or isinstance(batch, Known) or not isinstance(steps[1], Known):
        return {}
    whole, number = shared_batch(given, loader.scope, evaluator), steps[1].value
    if whole is None or type(whole.value) is not int or type(number) is not int:
        return {}
    return {SAMPLES: (evaluator.program.span(given), whole._replace(value=whole.value * number))}


def _is_usual(reading: TrainingLoops, call: ast.Call, scope: Scope, own: Table, steps: Entry | None = None) -> bool:
    """Whether an Accelerator made with `own` leaves the batches of its loaders as they are, in a loop with its own `steps`."""
    otherwise = _OTHERWISE.intersection(own.entries)
    if otherwise == {_PLUGIN} and _is_plain(reading, own.entries[_PLUGIN][1], call, steps):
        otherwise = frozenset()
    return own.rest is None and not otherwise and reading.settings_of_loaders(call, scope, own)


def _is_plain(reading: TrainingLoops, plugin: Value, call: ast.Call, steps: Entry | None) -> bool:
    """Whether a plugin of DeepSpeed leaves the loader its batch, and the loop its steps (accelerate 16cb6eb, accelerator.py:2207-2228).

    One with a file that leaves both open accumulates what the Accelerator does: nothing, as its loop says, too.
    """
    if not isinstance(plugin, Made) or not plugin.name.endswith(".DeepSpeedPlugin") or plugin.arguments.rest is not None:
        return False
    given = plugin.arguments.entries
    if "hf_ds_config" not in given:
        return reading.leaves_steps()
    each = steps is not None and isinstance(steps[1], Known) and steps[1].value == 1
    accumulates = _STEPS in given or any(keyword.arg == _STEPS for keyword in call.keywords)
    return each and not accumulates and reading.evaluator.leaves_open(given["hf_ds_config"][1], _OF_DEEPSPEED)


class TrainingLoops(DataLoaders):
    """The training loops of one program."""

    def leaves_steps(self) -> bool:
        """Whether the program leaves it to accelerate what each process gets, and when the optimizer takes a step."""
        return all(
            any(isinstance(call.func, ast.Attribute) for call, _ in self.scopes.called.get(each, ())) for each in ("prepare", "accumulate")
        )

    def loops(self) -> Iterator[_Loop]:
        """Yield the innermost loop around each backward pass; a pass outside of all loops has none that is known."""
        scaled = [each for name, called in self.scopes.called.items() if "scaler" in name for each in called if is_scaled_pass(each[0])]
        passes = [each for each in self.scopes.called.get("backward", ()) if isinstance(each[0].func, ast.Attribute)] + scaled
        around, passed = dict.fromkeys(scope for _, scope in passes), {call for call, _ in passes}
        found: dict[ast.AST, _Loop] = {}
        for scope in around:
            pending: list[tuple[ast.AST, _Loop | None]] = [(each, None) for each in ast.iter_child_nodes(scope.node)]
            while pending:
                node, loop = pending.pop()
                if node in passed and loop is not None:
                    found[loop.node] = loop
                if node in self.scopes.inner:
                    continue
                inner = _Loop(node, scope, loop) if isinstance(node, (ast.For, ast.While)) else None
                if inner is not None and (isinstance(node, ast.For) or inner.taken):
                    pending.extend((each, inner) for each in inner.node.body)
                else:
                    pending.extend((each, loop) for each in ast.iter_child_nodes(node))
        return iter(found.values())

    def loader_of(self, loop: _Loop) -> Loader | None:
        """The data loader that a loop goes over, or takes its batches from; None if that is not plain."""
        found = self.loader(loop.node.iter, loop.scope) if isinstance(loop.node, ast.For) else None
        return found or one_of([self.loader(each, loop.scope) for each in loop.taken])

    def settings_of_loaders(self, call: ast.Call, scope: Scope, own: Table) -> bool:
        """Put what `dataloader_config` of an Accelerator is made with into its arguments, `own`; False if that is not plain."""
        given = argument(call, _LOADERS)
        if given is None:
            return True
        made = made_by(given, scope, self.scopes)
        name = self.scopes.qualified(made[0].func) if made is not None else ""
        if made is None or made[0].args or not name.startswith("accelerate.") or not name.endswith(".DataLoaderConfiguration"):
            return False
        settings = self.evaluator.keywords(*made)
        own.entries[_LOADERS] = own.entries[_LOADERS][0], settings
        split = settings.entries.get("split_batches")
        return settings.rest is None and (split is None or isinstance(split[1], Known))

    def steps_of_environment(self, call: ast.Call) -> dict[str, Entry]:
        """The accumulation that a launch gives each Accelerator, whatever its arguments say (accelerate 16cb6eb, accelerator.py:545)."""
        found = self.evaluator.variable(_VARIABLE, call)
        number = whole_number(str(found.value)) if isinstance(found, Known) else None
        if found is None:
            return {}
        place = self.evaluator.program.span(call)
        return {_STEPS: (place, Known(number, *place, found.at) if number is not None else Lost(*place, found.at))}

    def steps_of_plugin(self, given: ast.keyword, scope: Scope) -> Entry:
        """The accumulation that a plug-in gives an Accelerator, as argument `given` of it."""
        lost = (self.evaluator.program.span(given.value), self.evaluator.lost(given.value))
        made = made_by(given.value, scope, self.scopes)
        if made is None or not self.scopes.qualified(made[0].func).startswith("accelerate."):
            return lost
        return self.evaluator.keywords(*made).entries.get(_ACCUMULATES[given.arg or ""], lost)

    def accumulates(self, loop: _Loop) -> bool:
        """Whether a loop leaves it to accelerate when the optimizer takes a step."""
        calls = (each for each in ast.walk(loop.node) if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute))
        return any(each.func.attr == "accumulate" for each in calls if isinstance(each.func, ast.Attribute))

    def trained(self) -> list[_Trained]:
        """The loops of the program that train."""
        loops = list(self.loops())
        return [_Trained(self.loader_of(each), self.steps(each), self.accumulates(each)) for each in loops]

    def elsewhere(self) -> Iterator[_Trained]:
        """Yield each loop that trains in a function of another file, which gets a loader of this program."""
        modules, program = self.evaluator.modules, self.evaluator.program
        for call, scope in self.scopes.calls:
            imported = dotted(call.func).partition(".")[0] in self.scopes.imported
            if modules is None or not imported or self.evaluator.runs(self.scopes.done.get(call), scope) is False:
                continue
            names = [each for each in (*call.args, *(each.value for each in call.keywords)) if isinstance(each, ast.Name)]
            loaders = {each.id: found for each in names if (found := self.loader(each, scope)) is not None}
            defined = modules.called(call, program) if loaders else None
            if defined is not None and defined.program is not program:
                yield from self._in_function(defined, call, scope, loaders)

    def _in_function(self, defined: Defined, call: ast.Call, scope: Scope, loaders: dict[str, Loader]) -> Iterator[_Trained]:
        """Yield each loop that trains in a function of another file, which `call` gives `loaders`, by their names here."""
        evaluator, function = self.evaluator, defined.function
        inside = defined.program.scopes.inner[function]
        named = ((name, each.id) for name, each in given_parameters(call, function) or () if isinstance(each, ast.Name))
        taken = {inside.names[name][0].node: loaders[each] for name, each in named if name in inside.names and each in loaders}
        other = Evaluator(defined.program, evaluator.line, evaluator.modules)
        other.given = other.defaults(function) | evaluator.handed(function, call, scope)
        other.left = evaluator.left
        reading = TrainingLoops(defined.program.scopes, other, taken)
        for loop in (each for each in reading.loops() if each.scope is inside):
            steps = at_span(reading.steps(loop)[1], evaluator.program.span(call))
            yield _Trained(reading.loader_of(loop), (evaluator.program.span(call.func), steps), reading.accumulates(loop))
        evaluator.left = other.left

    def same(self, steps: list[Entry]) -> Entry:
        """The one of `steps` that all are, lost if they differ."""
        known = {value.value for _, value in steps if isinstance(value, Known)}
        plain = len(known) == 1 and all(isinstance(value, Known) for _, value in steps)
        return steps[0] if plain else (steps[0][0], Lost(*steps[0][0]))

    def steps(self, loop: _Loop) -> Entry:
        """After how many batches the optimizer takes a step in a loop, with its place."""
        lost = self.evaluator.program.span(loop.name), self.evaluator.lost(loop.name)
        return self.same(self._steps_of(loop) or self._steps_around(loop) or [lost])

    def _steps_around(self, loop: _Loop) -> list[Entry]:
        """How often each optimizer takes a step that takes one whenever all turns of a loop are done."""
        if loop.turns is None or loop.around is None:
            return []
        at, turns = self.evaluator.program.span(loop.turns), self.evaluator.value(loop.turns, loop.scope)
        each_time = (isinstance(value, Known) and value.value == 1 for _, value in self._steps_of(loop.around))
        return [(at, turns if each else self.evaluator.lost(loop.turns)) for each in each_time]

    def _steps_of(self, loop: _Loop) -> list[Entry]:
        """How often each optimizer of a loop takes a step, in batches."""
        entries = []
        for step in optimizer_steps(loop.node, loop.scope):
            place, lost = self.evaluator.program.span(step.call), self.evaluator.lost(step.call)
            if step.every is not None:
                entries.append((self.evaluator.program.span(step.every), self.evaluator.value(step.every, loop.scope)))
            else:
                entries.append((place, Known(1, *place) if step.each else lost))
        return entries
