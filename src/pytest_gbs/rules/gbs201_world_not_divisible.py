"""The number of GPUs is not a multiple of the parallel sizes.

Tensor, pipeline, context and sequence parallelism each take whole groups of GPUs, and what is left over is the data-parallel size.
If the number of GPUs is not a multiple of their product, frameworks stop, or round down and leave GPUs without work.

Some frameworks ask for more: with Levanter the model axis must divide the devices of one process, or be a multiple of them (`either
model_axis_size or local_device_count must be divisible by the other`). One process has all GPUs of its node, unless a launcher starts one
for each GPU.

It stays silent on commands of documents that leave out the number of nodes: they are shown for one node, and started on several.

How to fix it: use a number of GPUs that is a multiple of the product, which the finding states, or change a parallel size.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.arithmetic.wording import beside, count, degree
from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.frameworks.reading import read_sizes
from pytest_gbs.model.equation import Enforcement, Rounding
from pytest_gbs.model.launch import Kind
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Noted, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, About, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the GPUs are known and some parallel size is more than one, and for what else the framework checks."""
    yield from judge(run, RULE.name)
    for equation in run.framework.equations:
        if equation.result != Name.DATA_PARALLEL_SIZE or equation.product != (Name.WORLD_SIZE,):
            continue
        world = run.geometry.get(Name.WORLD_SIZE)
        degrees = [size for name in equation.divisors if isinstance(size := run.geometry.get(name), Quantity)]
        divisor = prod(size.value for size in degrees)
        if not isinstance(world, Quantity) or divisor <= 1 or len(degrees) < len(equation.divisors):
            continue
        at = world.at or next((size.at for size in degrees if size.at), None) or Location(run.path)
        if world.value % divisor == 0:
            yield Verified(ITS_RULE, at, run.assumptions, decides=True)
        elif not _may_have_more_nodes(run):
            stops = equation.rounding != Rounding.FLOOR and equation.mismatch in (Enforcement.STOPS, Enforcement.STOPS_LATE)
            yield _finding(run, world, degrees, at, stops or world.value < divisor)


def _may_have_more_nodes(run: Run) -> bool:
    """Whether a document shows a command that leaves out the number of nodes, which its reader starts on each of them."""
    nodes = run.geometry.get(Name.NUM_NODES)
    shown = run.launch is not None and run.launch.kind == Kind.DOCUMENT
    return shown and isinstance(nodes, Quantity) and nodes.note.kind == Noted.BUILT_IN


def _finding(run: Run, world: Quantity, degrees: list[Quantity], at: Location, stops: bool) -> Finding:
    divisor = prod(size.value for size in degrees)
    taken = " x ".join(degree(size) for size in degrees if size.value > 1)
    total = f" = {divisor:,}" if sum(size.value > 1 for size in degrees) > 1 else ""
    message = f"{_hardware(world)} not a multiple of {taken}{total}"
    related = beside(degrees, at)
    severity = Severity.ERROR if stops else Severity.WARNING
    holds = f"use a multiple of {_stated(run, degrees):,} GPUs"
    return Finding(ITS_RULE, message, severity, at, "", related, holds=holds, assumptions=run.assumptions)


def _hardware(world: Quantity) -> str:
    """The start of a sentence: `8 GPUs are`, `(124 nodes - 54 that generate) x 4 = 280 training GPUs:`."""
    gpus = count(world.value, Name.WORLD_SIZE)
    reduced = {part.name for part in world.because if part.origin == Origin.DERIVED and part.note.words}
    if reduced:
        factors = " x ".join(f"({part.note.words})" if part.name in reduced else f"{part.value:,}" for part in world.because)
        return f"{factors} = {gpus.replace(' ', ' training ')}:"
    return f"{gpus} {'is' if world.value == 1 else 'are'}"


def _stated(run: Run, degrees: list[Quantity]) -> int:
    """The product of the sizes as the recipe states them, which more GPUs would not change any more."""
    stated = read_sizes(run.document, run.framework)
    own = (stated.get(size.name) if size.origin == Origin.DERIVED else size for size in degrees)
    return prod(size.value if isinstance(size, Quantity) else 1 for size in own)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 2\n"
_LAUNCHER = """\
compute_environment: LOCAL_MACHINE
distributed_type: FSDP
num_machines: 1
num_processes: 8
fsdp_config:
  fsdp_version: 2
parallelism_config:
  parallelism_config_dp_shard_size: 4
  parallelism_config_tp_size: 2
"""
_FILES = (("sft.yaml", _RECIPE), ("accelerate.yaml", _LAUNCHER))

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the number of GPUs is not a multiple of the parallel sizes",
    bad=(Example(_FILES, ("--world-size", "9")),),
    good=(Example(_FILES, ("--world-size", "8")),),
    check=check,
    about=About.HARDWARE,
)
