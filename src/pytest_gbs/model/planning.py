"""A plan: the ways to reach a global batch size on given hardware, and what is near if there is none."""

from __future__ import annotations

from pytest_gbs.model.record import NamedTuple


class Goal(NamedTuple):
    """What a plan is for: samples per optimizer step, on so many training processes.

    `parallel` are the sizes that share one sample between processes (tensor, pipeline, context), by name. `most` is the largest
    micro batch that fits, 0 if any does. `sequence_length` is tokens per sample, 0 if it is not stated. `now` is the micro
    batch and the accumulation that a recipe has at present. `examples` are those of the data set, 0 if they are not stated.
    """

    global_batch_size: int
    world_size: int
    parallel: tuple[tuple[str, int], ...] = ()
    most: int = 0
    sequence_length: int = 0
    now: tuple[int, int] | None = None
    unit: str = "samples"
    examples: int = 0


class Pair(NamedTuple):
    """Samples per process per forward pass, and forward passes per optimizer step; `now` is what the recipe has.

    `power_of_two` is true of the micro batch, whose size is that of the matrices.
    """

    micro_batch_size: int
    gradient_accumulation_steps: int
    power_of_two: bool
    now: bool = False


class Near(NamedTuple):
    """What works if nothing fits: the batch sizes next below and above (0: none), and numbers of GPUs near the wanted one."""

    below: int = 0
    above: int = 0
    world_sizes: tuple[int, ...] = ()


class Plan(NamedTuple):
    """All pairs that fit, the one with the fewest passes first; `near` says what would work if there is none.

    `data_parallel_size` is 0 if the processes do not divide by the parallel sizes.
    """

    goal: Goal
    data_parallel_size: int
    pairs: tuple[Pair, ...]
    near: Near = Near()

    @property
    def tokens_per_step(self) -> int:
        """Tokens per optimizer step, at most so many unless rows are packed; 0 if the sequence length is not known."""
        return self.goal.global_batch_size * self.goal.sequence_length
