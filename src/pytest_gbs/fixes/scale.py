"""Carrying a recipe to other hardware with its global batch size kept: every candidate is tried in memory and checked again."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from pytest_gbs.arithmetic.wording import assumed, count
from pytest_gbs.fixes.current_batch import elsewhere, shape, sizes_of
from pytest_gbs.fixes.editing import by_source, edit_all
from pytest_gbs.fixes.rereading import unintended
from pytest_gbs.fixes.scale_check import same, worse
from pytest_gbs.fixes.scale_comments import comments
from pytest_gbs.fixes.scale_edits import InsertionPoint, merged, without
from pytest_gbs.fixes.scale_notes import back, counted, launches, names, near, others, why
from pytest_gbs.fixes.scale_task import ScaleContext, Target, Task, by_name, fitting, prepare, replaced_by
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Edit
from pytest_gbs.model.quantity import HARDWARE, Name
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Run
from pytest_gbs.model.scaling import ScaleChange, Scaled, Shape, Stuck, What

# Candidates that are tried to the end; each costs a check.
_MOST_TRIED: Final = 6


def scale(run: Run, goal: Target, context: ScaleContext) -> Scaled | Stuck:
    """`run` on the wanted hardware with the same global batch size, or why that can't be."""
    found = _scale(run, goal, context, per_node=False)
    if isinstance(found, Stuck) and run.launch is not None:
        other = _scale(run, goal, context, per_node=True)
        return other if isinstance(other, Scaled) else found
    return found


def _scale(run: Run, goal: Target, context: ScaleContext, *, per_node: bool) -> Scaled | Stuck:
    launch = run.launch.at.source if run.launch is not None else ""
    task = prepare(run, goal, context, per_node=per_node)
    if isinstance(task, str):
        return Stuck(run.path, launch, task)
    reasons: list[str] = []
    before: Report | None = None
    for micro, accumulation in islice(fitting(task), _MOST_TRIED):
        if before is None:  # costs a check, and is not asked for if nothing fits
            before = context.recheck({}, _what_if(task, task.before))
        tried = _try(task, micro, accumulation, before, context)
        if isinstance(tried, Scaled):
            return tried
        reasons.append(tried)
    world = task.to.world_size or 0
    if reasons:
        return Stuck(run.path, launch, reasons[0], task.current.target, world)
    return Stuck(run.path, launch, why(task), task.current.target, world, near(task))


def _what_if(task: Task, hardware: Shape) -> CommandLineHardware:
    """What to check a recipe by itself on; a launch says its own hardware."""
    if task.run.launch is not None:
        return CommandLineHardware()
    nodes, per_node, world = hardware.num_nodes, hardware.gpus_per_node, hardware.world_size
    even = world and nodes * per_node == world
    return CommandLineHardware(nodes, per_node, world) if even else CommandLineHardware(None, None, world or None)


def _try(task: Task, micro: int, accumulation: int, before: Report, context: ScaleContext) -> Scaled | str:
    """The recipe with one candidate, or in words why it is refused."""
    seen = elsewhere(task.run, sizes_of(task.to), {**replaced_by(task, micro, accumulation), **task.ranks})
    after = shape(seen)._replace(num_nodes=task.to.num_nodes or 0, gpus_per_node=task.to.gpus_per_node or 0)
    if after.world_size != task.to.world_size:
        return f"{count(after.world_size, Name.WORLD_SIZE)} would train, not {task.to.world_size}"
    changes = merged((*_settings(task, micro, accumulation, context), *_moved(task), *_commented(task, after, context)))
    if isinstance(changes, str):
        return changes
    edits = by_source(change.edit for change in changes)
    files = edit_all(edits, context.read)
    if isinstance(files, str):
        return files
    pairs = [(old, new) for path, new in files.items() if isinstance(old := context.read(path), Source)]
    for old, new in pairs:
        harm = _side_effects(old, new, edits[old.path])
        if harm:
            return harm
    report = context.recheck(files, _what_if(task, after))
    harm = worse(task, before, report) or _false_alone(task, context.recheck(files, CommandLineHardware()))
    if harm:
        return _assumed(task) or harm
    return _done(task, after, changes, tuple(pairs), report)


def _false_alone(task: Task, report: Report) -> str:
    """Which claim would be false if no hardware is given, so that other files say what the recipe leaves open."""
    run = same(task.run, report)
    claims = run.claims if run is not None and run.launch is None else ()
    return next((f"{found.message} then" for claim in claims if (found := claim.judgement.finding) is not None), "")


def _assumed(task: Task) -> str:
    """The obstacle that the recipe names nodes alone, and other files the GPUs of each; "" if it can say what is wanted."""
    other = task.before.gpus_per_node != task.to.gpus_per_node and not any(each.name == Name.GPUS_PER_NODE for each in task.hardware)
    if not other or not task.current.assumptions or not task.to.gpus_per_node:
        return ""
    elsewhere_said = f"its comment does not state the GPUs per node ({assumed(task.current.assumptions[0])})"
    return f'{elsewhere_said}: add "{count(task.before.gpus_per_node, Name.GPUS_PER_NODE)}" to it first'


def _side_effects(old: Source, new: Source, edits: tuple[Edit, ...]) -> str:
    """What else changed in a file; taking a line out is looked at the other way round, as putting it in."""
    if all(edit.replacement for edit in edits):
        return unintended(old, new, edits)
    inverse, shift = [], 0
    for edit in edits:
        start = edit.at.start + shift
        at = edit.at._replace(start=start, stop=start + len(edit.replacement))
        inverse.append(Edit(at, edit.replacement, edit.expected))
        shift += len(edit.replacement) - len(edit.expected)
    return unintended(new, old, tuple(inverse))


def _settings(task: Task, micro: int, accumulation: int, context: ScaleContext) -> Iterator[ScaleChange]:
    """Yield the changes of micro batch and accumulation."""
    if task.micro is not None and micro != task.before.micro_batch_size:
        yield task.micro.to(micro, What.SETTING)
    steps = task.accumulation
    if steps is None or accumulation == task.before.gradient_accumulation_steps:
        return
    if isinstance(steps, InsertionPoint):
        yield steps.to(accumulation)
        return
    default = any(row.default == accumulation for row in task.run.framework.rows if row.name == steps.name)
    yield (without(steps, context.read) if default else None) or steps.to(accumulation, What.SETTING)


def _moved(task: Task) -> Iterator[ScaleChange]:
    """Yield the changes of what says on how many GPUs."""
    new = {**dict(zip(HARDWARE, task.to[:3], strict=True)), **task.ranks}
    for each in task.hardware:
        value = new.get(each.name)
        if value and value != each.value:
            yield each.to(value, What.HARDWARE)


def _commented(task: Task, after: Shape, context: ScaleContext) -> Iterator[ScaleChange]:
    old, new = by_name(task.before), by_name(after)
    for change in comments(task.run, old, new, context.read):
        if change.at.source in context.writable:
            yield change


def _done(task: Task, after: Shape, changes: tuple[ScaleChange, ...], files: tuple[tuple[Source, Source], ...], report: Report) -> Scaled:
    run = task.run
    launch = run.launch.at.source if run.launch is not None else ""
    notes = (*names(task), *(others(task) if changes else ()), *launches(task, report))
    return Scaled(
        run.path,
        launch,
        task.current.target,
        run.framework.unit,
        task.before,
        after,
        changes,
        files,
        tuple(counted(run)),
        task.current.assumptions,
        tuple(dict.fromkeys(notes)),
        back(task, after, changes) if changes else "",
    )


__all__ = ["ScaleContext", "Target", "same", "scale"]
