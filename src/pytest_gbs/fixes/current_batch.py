"""The batch that a recipe has now and the hardware it has it on; and the sizes it would have elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pytest_gbs.arithmetic.wording import called, count, short
from pytest_gbs.claims.worlds import PER_NODE_USUAL, geometry
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.constraints import judge as judge_constraints
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.hardware import CommandLineHardware
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, RANK_FACTORS, Conflict, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Claim, Geometry, Run
from pytest_gbs.model.scaling import Shape

# Sizes that say on how many ranks a recipe runs and are in the recipe itself.
RANK_COUNTS: Final = (Name.DATA_PARALLEL_SIZE, Name.REPLICATE_SIZE, Name.SHARD_SIZE)
_BATCH: Final = (Name.GLOBAL_BATCH_SIZE, *RANK_FACTORS, Name.WORLD_SIZE, Name.DATA_PARALLEL_SIZE)


class CurrentBatch(NamedTuple):
    """A recipe's global batch size, in the world that its claim or what is shown of it has; with what was assumed."""

    target: int
    geometry: Geometry
    assumptions: tuple[Assumption, ...] = ()


def current_batch(run: Run) -> CurrentBatch | str:
    """The batch of `run` as claimed, else as shown; or in words why it is unknown."""
    said = [c for c in run.claims if not c.declaration.per_rank]
    claims = [c for c in said if c.declaration.name == Name.GLOBAL_BATCH_SIZE and c.declaration.unit != "tokens"]
    for claim in claims if run.launch is None else ():
        found = _claimed(run, claim)
        if found is not None:
            return found
    target = effective(run.geometry)
    if target is not None:
        return CurrentBatch(target, run.geometry, run.assumptions)
    if run.geometry.value(Name.WORLD_SIZE) is None:
        return "its current GPU count is unknown: give --from-world-size N, or --from-nodes N --from-gpus-per-node N"
    return "its global batch size is not known (gbs show says why)"


def _claimed(run: Run, claim: Claim) -> CurrentBatch | str | None:
    """The batch of a claim in its own world, why it can't be relied on, or None if it is open."""
    judgement, outcome = claim.judgement, claim.judgement.open
    if judgement.finding is not None:
        return f"{judgement.finding.message}: fix that first (gbs check)"
    if outcome is None:
        world = claim.worlds[0]
        target = effective(world.geometry)
        return CurrentBatch(target, world.geometry, world.assumptions) if target is not None else None
    if len(outcome.values) != 1 or len(outcome.missing) != 1 or outcome.missing[0] not in HARDWARE:
        return None
    name, value = outcome.missing[0], outcome.values[0]
    sizes = {n: size for n in HARDWARE if isinstance(size := claim.worlds[0].geometry.get(n), Quantity)}
    seen = elsewhere(run, {**sizes, name: Quantity(name, value, Origin.DERIVED)}, {})
    target = effective(seen)
    return None if target is None else CurrentBatch(target, seen, (Assumption(Assuming.COMMENT, name, value),))


def effective(seen: Geometry) -> int | None:
    """The global batch size that trains: what the framework makes of the stated one, where it rounds."""
    return seen.global_batch_size


def elsewhere(run: Run, hardware: Mapping[str, Quantity], replaced: Mapping[str, int]) -> Geometry:
    """The sizes of `run` on other hardware, with the settings `replaced`; a value of 0 leaves a size out."""
    sizes = read_sizes(run.document, run.framework)
    for name, size in list(sizes.items()):
        if isinstance(size, Quantity) and size.origin == Origin.DEFAULT and size.because and size.because[0].name in replaced:
            sizes[name] = size._replace(value=replaced[size.because[0].name])
    for name, value in replaced.items():
        if value:
            sizes[name] = Quantity(name, value, Origin.FILE)
        else:
            sizes.pop(name, None)
    known: dict[str, Size] = {**_parallel(run, sizes), **hardware}
    return geometry(sizes, known, applied_to(run.document, run.framework), run.document)


def _parallel(run: Run, sizes: Mapping[str, Size]) -> dict[str, Quantity]:
    """The parallel sizes that something beside the recipe gives."""
    shown = {name: run.geometry.get(name) for name in PARALLEL if name not in sizes}
    return {name: size for name, size in shown.items() if isinstance(size, Quantity) and size.origin != Origin.DERIVED}


def objection(run: Run, seen: Geometry) -> str:
    """Why `run` can't have these sizes, or "": they agree with each other and pass what the framework checks."""
    for name in _BATCH:
        size = seen.get(name)
        if isinstance(size, Conflict):
            return f"{called(name)} would be {' and '.join(str(value.value) for value in size.values)} at once"
        if isinstance(size, Unknown) and size.reason == Reason.NOT_WHOLE:
            return _shared_unevenly(seen) if name == Name.DATA_PARALLEL_SIZE else f"{called(name)} would not be a whole number"
    for name in PARALLEL:
        size, other = run.geometry.get(name), seen.get(name)
        if isinstance(size, Quantity) and isinstance(other, Quantity) and size.origin != Origin.DERIVED and size.value != other.value:
            return f"{called(name)} {size.value} would be {other.value}"
    there = run._replace(geometry=seen)
    for rule in dict.fromkeys(constraint.rule for constraint in run.framework.constraints):
        for outcome in judge_constraints(there, rule):
            if isinstance(outcome, Finding) and outcome.severity == Severity.ERROR:
                return outcome.message
    return ""


def _shared_unevenly(seen: Geometry) -> str:
    """The obstacle that the processes can't be divided by the sizes that share a sample among them, or None."""
    sharing = " x ".join(f"{short(name)} {size}" for name in PARALLEL if (size := seen.value(name) or 1) > 1)
    return f"{count(seen.value(Name.WORLD_SIZE) or 0, Name.WORLD_SIZE)} can't be divided by {sharing or 'its parallel sizes'}"


def shape(seen: Geometry) -> Shape:
    """The sizes that make a batch, 0 for what is not known."""
    nodes, per_node, world = (seen.value(name) or 0 for name in HARDWARE)
    if world and nodes and not per_node and world % nodes == 0:
        per_node = world // nodes
    if world and per_node and not nodes and world % per_node == 0:
        nodes = world // per_node
    return Shape(
        seen.value(Name.MICRO_BATCH_SIZE) or 0,
        seen.value(Name.GRADIENT_ACCUMULATION_STEPS) or 0,
        seen.value(Name.DATA_PARALLEL_SIZE) or 0,
        world,
        nodes,
        per_node,
    )


def wanted(to: CommandLineHardware, before: Shape) -> CommandLineHardware | str:
    """The wanted hardware in full where it follows from what the recipe runs on now; or in words what is missing."""
    nodes, per_node, world = to.num_nodes, to.gpus_per_node, to.world_size
    if world:
        return _from_total(world, nodes, per_node, before)
    nodes = nodes or before.num_nodes
    per_node = per_node or before.gpus_per_node
    if not per_node:
        return "the number of GPUs per node is unknown: give --gpus-per-node N too"
    if not nodes:
        return "the number of nodes is unknown: give --nodes N too"
    return CommandLineHardware(nodes, per_node, nodes * per_node)


def _from_total(world: int, nodes: int | None, per_node: int | None, before: Shape) -> CommandLineHardware:
    if nodes:
        return CommandLineHardware(nodes, world // nodes, world)
    if per_node:
        return CommandLineHardware(world // per_node, per_node, world)
    usual = before.gpus_per_node
    if not usual:
        return CommandLineHardware(None, None, world)
    if world < usual or (before.num_nodes == 1 and world <= PER_NODE_USUAL):
        return CommandLineHardware(1, world, world)
    return CommandLineHardware(world // usual, usual, world) if world % usual == 0 else CommandLineHardware(None, None, world)


def sizes_of(hardware: CommandLineHardware) -> dict[str, Quantity]:
    """The given hardware as sizes."""
    return {name: Quantity(name, value, Origin.GIVEN) for name, value in zip(HARDWARE, hardware[:3], strict=True) if value}
