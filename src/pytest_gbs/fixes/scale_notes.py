"""Notes on a scaled recipe: what keeps its meaning, what still names the old hardware, and the nearest alternatives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import count
from pytest_gbs.fixes.current_batch import effective, elsewhere, objection, sizes_of
from pytest_gbs.fixes.plan import around, micro_batches, world_sizes_near
from pytest_gbs.fixes.scale_edits import key_of_accumulation
from pytest_gbs.fixes.scale_task import Task, by_name, considered, fitting, follows, ranks_on, unit
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import dotted
from pytest_gbs.model.planning import Near
from pytest_gbs.model.quantity import HARDWARE, Name, Quantity
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import ScaleChange, Shape, What

_INTERVALS: Final = (Name.MAX_STEPS, Name.SAVE_STEPS, Name.EVAL_STEPS, Name.LOGGING_STEPS)


def counted(run: Run) -> Iterator[str]:
    """Yield the keys of the recipe that count optimizer steps."""
    for name in _INTERVALS:
        size = run.geometry.get(name)
        if isinstance(size, Quantity) and size.at is not None and size.key:
            yield size.key
    for path in run.document.keyed:
        key = str(path[-1])
        if "warmup" in key and key.endswith(("steps", "iters")):
            yield key


def names(task: Task) -> Iterator[str]:
    """Yield a note if a name still states the old hardware."""
    old = by_name(task.before)
    for declaration in task.run.declarations:
        value = old.get(declaration.name)
        if declaration.weak and declaration.name in HARDWARE and value == declaration.value:
            yield f"a name still says {declaration.text}"


def others(task: Task) -> Iterator[str]:
    """Yield the keys that give other models of the recipe as many GPUs as the old ones: a reference model, a critic, an engine."""
    stated = {each.key: each for each in task.hardware if each.name in HARDWARE}
    names = {key.rpartition(".")[2] for key in stated}
    for path in task.run.document.keyed:
        key = dotted(path)
        if path[-1] in names and key not in stated:
            yield f"{key} stays as it is"


def launches(task: Task, report: Report) -> Iterator[str]:
    """Yield which launches of the recipe give another batch now."""
    if task.run.launch is not None:
        return
    for file in report.files:
        for run in file.runs:
            target = effective(run.geometry)
            start = run.launch.start if run.launch is not None else None
            if run.launch is not None and start is not None and run.path == task.run.path and target not in (None, task.current.target):
                yield f"{run.launch.at.source} launches it with {target} then"


def back(task: Task, after: Shape, changes: Iterable[ScaleChange]) -> str:
    """The flags that undo the change; nothing if the recipe could not run as it was."""
    if objection(task.run, task.current.geometry):
        return ""
    old, changes = task.before, tuple(changes)
    if not old.world_size and any(change.what == What.HARDWARE for change in changes):
        return ""  # keys that were placeholders
    there = old if old.world_size else Shape(world_size=_runs_as_it_was(task, after.world_size))
    flags = []
    says_where = task.run.claims or task.run.launch is not None or any(change.name in HARDWARE for change in changes)
    if not says_where and not any(each.name in HARDWARE for each in task.hardware):
        flags += _flags("--from-", after)
    flags += _flags("--", there)
    if task.micro is not None and any((change.name, change.what) == (task.micro.name, What.SETTING) for change in changes):
        flags.append(f"--micro-batch-size {old.micro_batch_size}")
    return " ".join(flags)


def _runs_as_it_was(task: Task, most: int) -> int:
    """The largest part of `most` GPUs on which a recipe that names no hardware runs with its settings as they were."""
    for world in micro_batches(most):
        seen = elsewhere(task.run, sizes_of(CommandLineHardware(None, None, world)), {})
        if effective(seen) == task.current.target and not objection(task.run, seen):
            return world
    return most


def _flags(prefix: str, hardware: Shape) -> list[str]:
    nodes, per_node, world = hardware.num_nodes, hardware.gpus_per_node, hardware.world_size
    if nodes and per_node and nodes * per_node == world:
        return [f"{prefix}nodes {nodes}", f"{prefix}gpus-per-node {per_node}"]
    return [f"{prefix}world-size {world}"] if world else []


def why(task: Task) -> str:
    """In words why no candidate keeps the batch."""
    target, world = task.current.target, count(task.to.world_size or 0, Name.WORLD_SIZE)
    one = unit(task, sizes_of(task.to), task.ranks)
    if one and target % one:
        return f"no integer accumulation keeps the batch: {target:,} is not a multiple of {one:,} on {world}"
    against = next((text for _, _, text in considered(task) if text), "")
    if against:
        return against
    if one and task.before.micro_batch_size:
        return _missing(task, target // one)
    return f"no micro batch and accumulation that can be changed here give {target:,} on {world}"


def _missing(task: Task, share: int) -> str:
    """What is in the way of a share of each rank that is a whole number."""
    micro = task.goal.micro or task.before.micro_batch_size
    steps, rest = divmod(share, micro)
    if rest and task.micro is None:
        return f"the {share:,} samples that each rank takes are not a multiple of the micro batch {micro}, which can't be changed here"
    if rest and task.goal.micro:
        return f"the {share:,} samples that each rank takes are not a multiple of the micro batch {micro}"
    if task.accumulation is None and not follows(task):
        key = key_of_accumulation(task.run)
        return f"accumulation {steps if not rest else share:,} would keep the batch, but the recipe has no editable number for it: {key}"
    return f"no micro batch up to {task.goal.most or micro} fits"


def near(task: Task) -> Near:
    """The batch sizes and the numbers of GPUs that work."""
    below, above = around(task.current.target, unit(task, sizes_of(task.to), task.ranks) or 0)
    if below == above:
        below = above = 0
    world = task.to.world_size or 0
    return Near(below, above, world_sizes_near(world, lambda number: _works(task, number)) if world else ())


def _works(task: Task, world: int) -> bool:
    ranks = ranks_on(task.hardware, task.before, CommandLineHardware(None, None, world))
    if isinstance(ranks, str):
        return False
    there = task._replace(to=CommandLineHardware(None, None, world), ranks=ranks)
    return next(fitting(there), None) is not None
