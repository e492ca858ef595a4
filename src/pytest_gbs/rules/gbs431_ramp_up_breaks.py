"""A ramp-up of the batch size that stops on its way.

`rampup_batch_size: [16, 8, 300000]` starts with a global batch of 16 and adds 8 at a time, until the global batch that is stated is
reached after 300,000 samples. Every batch on the way has to hold whole micro batches of all data-parallel ranks. Only the first one
is looked at early: the others stop a run hours after it began.

What the framework does: Megatron-Core stops with `expected global batch size interval ... to be divisible by global batch size
increment` where the steps do not meet the end, divides by zero where start and end are the same, and stops on its way with `current
global batch size (24) is not divisible by micro-batch-size (1) times data parallel size (16)`.

How to fix it: make the start and the increment multiples of micro batch x data-parallel size, and the distance to the global batch
a multiple of the increment.

It stays silent without a ramp-up, and on what depends on a number of GPUs that is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.document import Node, Scalar, Sequence, followed
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import loader_of, resolve

_KEY: Final = ("model", "rampup_batch_size")


class _Ramp(NamedTuple):
    """Where a ramp-up starts, by how much it grows, and after how many samples it ends."""

    start: int
    increment: int
    samples: int


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the global batch of `run` is ramped up."""
    ramp, at = _ramp(run), run.document.locate(_KEY)
    if ramp is None or at is None:
        return
    sizes = (run.geometry.get(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.MICRO_BATCH_SIZE, Name.DATA_PARALLEL_SIZE))
    end, micro, ranks = (size if isinstance(size, Quantity) else None for size in sizes)
    problem = _shape(ramp, end) or _stage(ramp, end, micro, ranks)
    if problem:
        related = tuple(Related(size.at, word) for size, word in ((end, "global batch"), (micro, "micro")) if size and size.at)
        yield Finding(ITS_RULE, problem, Severity.ERROR, at, "ramp-up", related, assumptions=run.assumptions if ranks else ())
    elif end and micro and ranks:
        yield Verified(ITS_RULE, at, run.assumptions, decides=True)


def _ramp(run: Run) -> _Ramp | None:
    """The three whole numbers of the ramp-up, or None if there are none."""
    node = run.document.get(*_KEY)
    if not isinstance(node, Sequence):
        return None
    values = [_whole(item, run) for item in node.items]
    numbers = [value for value in values if value is not None]
    return _Ramp(*numbers) if len(numbers) == len(values) == len(_Ramp._fields) else None


def _whole(node: Node, run: Run) -> int | None:
    target = followed(node)
    value = resolve(target, loader_of(run.document.syntax, run.framework.loader)) if isinstance(target, Scalar) else None
    return value if type(value) is int else None


def _shape(ramp: _Ramp, end: Quantity | None) -> str:
    """What is wrong with the numbers themselves, or ""."""
    if ramp.start < 1 or ramp.increment < 1 or ramp.samples < 0:
        return "start and increment of a ramp-up must be positive, its samples not negative; the framework stops at start"
    if end is None:
        return ""
    distance = end.value - ramp.start
    if distance < 0:
        return f"the ramp-up starts with {ramp.start:,}, more than the global batch of {end.value:,}; the framework stops at start"
    if distance == 0:
        return f"the ramp-up starts with the global batch of {end.value:,}; the framework divides by zero"
    if distance % ramp.increment:
        steps = f"{end.value:,} - {ramp.start:,} = {distance:,}"
        return f"the ramp-up by {ramp.increment:,} misses the global batch: {steps}; the framework stops at start"
    return ""


def _stage(ramp: _Ramp, end: Quantity | None, micro: Quantity | None, ranks: Quantity | None) -> str:
    """The first batch on the way that holds no whole micro batches, or "" where each does, as far as is known."""
    if micro is None or end is None or micro.value < 1:
        return ""
    each = micro.value * (ranks.value if ranks else 1)
    first = next((batch for batch in (ramp.start, ramp.start + ramp.increment) if each and batch % each), None)
    if first is None:
        return ""
    divisor = f"micro {micro.value:,} x {ranks.value:,} data-parallel = {each:,}" if ranks else f"the micro batch of {micro.value:,}"
    return f"the ramp-up reaches a global batch of {first:,}, which is not a multiple of {divisor}; the framework stops during training"


_RECIPE = """\
name: megatron_gpt
trainer:
  devices: 8
  num_nodes: 2
  max_steps: 100000
model:
  micro_batch_size: 1
  global_batch_size: 1024
  rampup_batch_size: [16, {increment}, 300000]
  optim:
    name: fused_adam
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the ramp-up of the batch size stops on its way",
    bad=(Example((("megatron_gpt_config.yaml", _RECIPE.format(increment=8)),)),),
    good=(Example((("megatron_gpt_config.yaml", _RECIPE.format(increment=16)),)),),
    check=check,
    frameworks=("nemo", "nemo-aligner"),
)
