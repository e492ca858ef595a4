"""What has to be known to carry a recipe to other hardware, and the settings that keep its global batch size there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from pytest_gbs.arithmetic.wording import called, count
from pytest_gbs.fixes.current_batch import (
    RANK_COUNTS,
    CurrentBatch,
    current_batch,
    effective,
    elsewhere,
    objection,
    shape,
    sizes_of,
    wanted,
)
from pytest_gbs.fixes.editing import Read
from pytest_gbs.fixes.plan import micro_batches
from pytest_gbs.fixes.scale_edits import EditableNumber, InsertionPoint, editable_number, gap, hardware_numbers
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.location import Source
from pytest_gbs.model.quantity import HARDWARE, RANK_FACTORS, Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report
from pytest_gbs.model.run import Geometry, Run
from pytest_gbs.model.scaling import Shape

Recheck: TypeAlias = "Callable[[Mapping[str, Source], CommandLineHardware], Report]"


class Target(NamedTuple):
    """Where a recipe is to run, and with which micro batch: at most `most`, or just `micro`; 0 for what is not asked."""

    to: CommandLineHardware
    most: int = 0
    micro: int = 0


class ScaleContext(NamedTuple):
    """What scaling works with: the files as they are, a check of the tree with some replaced, and the paths that may be changed."""

    read: Read
    recheck: Recheck
    writable: frozenset[str]


class Task(NamedTuple):
    """One recipe with all that is known before the first candidate is tried."""

    run: Run
    current: CurrentBatch
    before: Shape
    to: CommandLineHardware
    goal: Target
    micro: EditableNumber | None
    accumulation: EditableNumber | InsertionPoint | None
    hardware: tuple[EditableNumber, ...]
    ranks: dict[str, int]  # sizes of the recipe itself that follow the number of ranks


def prepare(run: Run, goal: Target, context: ScaleContext, *, per_node: bool) -> Task | str:
    """All that is known of `run` and where it is to go, or in words what is missing."""
    found = current_batch(run)
    if isinstance(found, str):
        return found
    if _is_product(found) and (wrong := objection(run, found.geometry)):
        return f"it does not run on the hardware stated: {wrong}"
    before = shape(found.geometry)
    numbers = _hardware(run, context, per_node=per_node)
    if isinstance(numbers, str):
        return numbers
    names = {each.name for each in numbers}
    to = _started(goal.to, before) if run.launch is not None and Name.NUM_NODES not in names else wanted(goal.to, before)
    if isinstance(to, str):
        return to
    if not to.num_nodes and names & {Name.NUM_NODES, Name.GPUS_PER_NODE}:
        return f"it states its nodes, and {count(to.world_size or 0, Name.WORLD_SIZE)} may be on any number: give --nodes N too"
    worked_out = Name.NUM_NODES in names and names.isdisjoint((Name.GPUS_PER_NODE, Name.WORLD_SIZE))
    if run.launch is not None and worked_out and to.gpus_per_node != before.gpus_per_node:
        return f"{count(before.gpus_per_node or 0, Name.GPUS_PER_NODE)} are worked out in {run.launch.at.source}: change them there first"
    there = by_name(before)
    for each in numbers if run.launch is None else ():
        if each.name in HARDWARE and there.get(each.name, each.value) != each.value:
            return f"{each.key} is {each.value:,}, but {count(there[each.name], each.name)} train"
    ranks = ranks_on(numbers, before, to)
    if isinstance(ranks, str):
        return ranks
    micro = editable_number(run.geometry.get(Name.MICRO_BATCH_SIZE), context.read)
    steps: EditableNumber | InsertionPoint | None = editable_number(
        run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS), context.read
    ) or gap(run, context.read)
    micro = micro if micro and micro.at.source in context.writable else None
    steps = steps if steps and steps.at.source in context.writable else None
    return Task(run, found, before, to, goal, micro, steps, numbers, ranks)


def _is_product(found: CurrentBatch) -> bool:
    """Whether the batch follows from the hardware, so that it means nothing if the recipe does not run."""
    size = found.geometry.get(Name.GLOBAL_BATCH_SIZE)
    return isinstance(size, Quantity) and bool(size.because)


def _started(to: CommandLineHardware, before: Shape) -> CommandLineHardware | str:
    """The wanted hardware of a launch that says nothing of nodes: more processes are more on each of them."""
    nodes = before.num_nodes or 1
    if to.world_size and not to.num_nodes and not to.gpus_per_node and to.world_size % nodes == 0:
        return CommandLineHardware(nodes, to.world_size // nodes, to.world_size)
    return wanted(to, before)


def _hardware(run: Run, context: ScaleContext, *, per_node: bool) -> tuple[EditableNumber, ...] | str:
    """The numbers that say on how many GPUs the recipe runs, or in words which of them can't be changed."""
    numbers: list[EditableNumber] = []
    found = tuple(hardware_numbers(run, context.read, per_node=per_node))
    # A total that is worked out of the number of nodes (`$((NODES * 8))`) follows from it; the result is checked before it is written.
    follows = any(isinstance(each, EditableNumber) and each.name == Name.NUM_NODES for each in found)
    for each in found:
        at = each.at
        assert at is not None
        if at.source not in context.writable:
            return f"{each.key or called(each.name)} {each.value} is set in {at.source}, which other recipes may share: change it there"
        if not isinstance(each, EditableNumber):
            if follows and each.name == Name.WORLD_SIZE:
                continue
            return f"{each.key or called(each.name)} is not written as a plain number that could be changed"
        numbers.append(each)
    return tuple(numbers)


def ranks_on(numbers: Iterable[EditableNumber], before: Shape, to: CommandLineHardware) -> dict[str, int] | str:
    """The data-parallel sizes that the recipe states itself, as they are for the wanted number of GPUs."""
    stated = {each.name: each.value for each in numbers if each.name in RANK_COUNTS}
    if not stated:
        return {}
    if not before.world_size or not to.world_size:
        return "the recipe states its data-parallel size, but its current GPU count is unknown: give --from-world-size N"
    ranks: dict[str, int] = {}
    if Name.DATA_PARALLEL_SIZE in stated:
        ranks[Name.DATA_PARALLEL_SIZE] = stated.pop(Name.DATA_PARALLEL_SIZE) * to.world_size
    part = next(
        (n for n in (Name.REPLICATE_SIZE, Name.SHARD_SIZE) if n in stated and stated[n] * to.world_size % before.world_size == 0), None
    )
    if stated and part is None:
        return f"{count(to.world_size, Name.WORLD_SIZE)} would not be a whole number of data-parallel ranks"
    if part:
        ranks[part] = stated[part] * to.world_size
    if any(value % before.world_size for value in ranks.values()):
        return f"{count(to.world_size, Name.WORLD_SIZE)} would not be a whole number of data-parallel ranks"
    return {name: value // before.world_size for name, value in ranks.items()}


def fitting(task: Task) -> Iterator[tuple[int, int]]:
    """Yield the micro batches and accumulations that keep the global batch size, the least change first; 0 for what stays open."""
    return ((micro, steps) for micro, steps, refusal in considered(task) if not refusal)


def considered(task: Task) -> Iterator[tuple[int, int, str]]:
    """Yield each micro batch and accumulation that gives the global batch size, with another objection, or ""."""
    hardware = sizes_of(task.to)
    for micro, accumulation in dict.fromkeys(_candidates(task, hardware)):
        seen = elsewhere(task.run, hardware, {**replaced_by(task, micro, accumulation), **task.ranks})
        if effective(seen) == task.current.target:
            yield micro, accumulation, _too_large(task, seen) or objection(task.run, seen)


def _too_large(task: Task, seen: Geometry) -> str:
    """The obstacle that a micro batch which follows from other settings would be larger than it may be, or None."""
    micro = seen.value(Name.MICRO_BATCH_SIZE) or 0
    return f"micro batch size would be {micro:,}" if 0 < task.goal.most < micro else ""


def replaced_by(task: Task, micro: int, accumulation: int) -> dict[str, int]:
    """Which of the recipe's own sizes change with a candidate."""
    replaced: dict[str, int] = {}
    if task.micro is not None and micro != task.before.micro_batch_size:
        replaced[task.micro.name] = micro
    if task.accumulation is not None and accumulation != task.before.gradient_accumulation_steps:
        replaced[task.accumulation.name] = accumulation
    return replaced


def _candidates(task: Task, hardware: dict[str, Quantity]) -> Iterator[tuple[int, int]]:
    """Yield the settings as they are, then other accumulations, then other micro batches, the largest that fits first."""
    micro, accumulation = task.before.micro_batch_size, task.before.gradient_accumulation_steps
    most = task.goal.most or micro
    allowed = [task.goal.micro] if task.goal.micro else [size for size in (micro,) if size <= most]
    if micro in allowed:
        yield micro, accumulation
    if task.goal.micro and task.micro is not None:
        yield task.goal.micro, accumulation
    share = _share(task, hardware)
    if not micro or share is None:
        return
    others = [] if task.goal.micro or task.micro is None else micro_batches(share, most)
    for size in (*allowed, *others):
        if size and share % size == 0 and (size == micro or task.micro is not None):
            steps = share // size
            if task.accumulation is not None or steps == accumulation:
                yield size, steps
            elif follows(task):
                yield size, 0


def follows(task: Task) -> bool:
    """Whether the accumulation is not a number of the recipe but follows from the global batch size."""
    size = task.run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    return not isinstance(size, Quantity) or bool(size.because)


def _share(task: Task, hardware: dict[str, Quantity]) -> int | None:
    """How many samples each rank takes per optimizer step, or None if that is not a whole number or not known."""
    one = unit(task, hardware, task.ranks)
    return task.current.target // one if one and task.current.target % one == 0 else None


def unit(task: Task, hardware: dict[str, Quantity], ranks: Mapping[str, int]) -> int | None:
    """The global batch size with a micro batch and an accumulation of one."""
    ones = {number.name if number else name: 1 for number, name in zip((task.micro, task.accumulation), RANK_FACTORS, strict=True)}
    return elsewhere(task.run, hardware, {**ones, Name.GLOBAL_BATCH_SIZE: 0, **ranks}).value(Name.GLOBAL_BATCH_SIZE)


def by_name(sizes: Shape) -> dict[str, int]:
    """The sizes that are known, by name."""
    return {name: value for name, value in sizes._asdict().items() if value}
