"""Planning a batch: every micro batch and accumulation that reach it, and what is near if none does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from math import isqrt, prod
from typing import Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS
from pytest_gbs.model.planning import Goal, Near, Pair, Plan

# How many numbers of GPUs are offered on each side of the wanted one, and how many are tried.
_OFFERED: Final = 2
_TRIED: Final = 2_000
# Micro batches are looked for up to here: no GPU takes more samples at once.
_MOST_SAMPLES: Final = 1_000_000


def plan(goal: Goal) -> Plan:
    """The ways to reach `goal`; without any, the batch sizes and numbers of GPUs near it."""
    shared = prod(size for _, size in goal.parallel)
    ranks = goal.world_size // shared if goal.world_size % shared == 0 else 0
    batch = goal.global_batch_size
    pairs = (
        tuple(
            Pair(micro, steps := batch // ranks // micro, micro & (micro - 1) == 0, goal.now == (micro, steps))
            for micro in micro_batches(batch // ranks, goal.most)
        )
        if fits(batch, ranks)
        else ()
    )
    if pairs:
        return Plan(goal, ranks, pairs)
    below, above = around(batch, ranks)
    numbers = world_sizes_near(goal.world_size, lambda world: world % shared == 0 and fits(batch, world // shared), shared)
    return Plan(goal, ranks, (), Near(below, above, numbers))


def fits(batch: int, ranks: int) -> bool:
    """Whether each of `ranks` processes gets a whole share of `batch`."""
    return ranks > 0 and batch >= ranks and batch % ranks == 0


def micro_batches(share: int, most: int = 0) -> tuple[int, ...]:
    """The micro batch sizes that divide `share` and are at most `most` (0: any), the largest first."""
    if most and most <= min(isqrt(share), _MOST_SAMPLES):
        return tuple(number for number in range(most, 0, -1) if share % number == 0)
    low = [number for number in range(1, min(isqrt(share), _MOST_SAMPLES) + 1) if share % number == 0]
    both = {*low, *(share // number for number in low)}
    return tuple(sorted((number for number in both if not most or number <= most), reverse=True))


def around(batch: int, step: int) -> tuple[int, int]:
    """The multiples of `step` next below and next above `batch`, which is none itself; 0 if there is none."""
    if step < 1:
        return 0, 0
    below = batch // step * step
    return (below, below) if below == batch else (below, below + step)


def world_sizes_near(world: int, works: Callable[[int], bool], step: int = 1) -> tuple[int, ...]:
    """Up to two numbers of GPUs on each side of `world` for which `works` holds, all of them multiples of `step`."""
    start = world // step * step
    below = _first(range(min(start, world - 1) // step * step, 0, -step), works)
    above = _first(range(start + step, min(MOST_GPUS, max(64, 16 * world)) + 1, step), works)
    return (*reversed(below), *above)


def _first(numbers: Iterable[int], works: Callable[[int], bool]) -> tuple[int, ...]:
    tried = islice(numbers, _TRIED)
    return tuple(islice((number for number in tried if works(number)), _OFFERED))
