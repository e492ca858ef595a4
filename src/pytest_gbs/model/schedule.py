"""A learning-rate schedule that a program hands to accelerate, and in what it counts its steps."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple


class Counts:
    """What the number of steps that a schedule is made for counts, before it is multiplied by processes."""

    STEPS: Final = "steps"  # of the optimizer, as an option gives them
    BATCHES: Final = "batches"  # of a data loader that is not yet divided among the processes
    SHARE: Final = "share"  # batches of one process


class StepCount(NamedTuple):
    """The length that a schedule is given: what is counted, and where that is written.

    `processes` says how often the number of processes is a factor of it, negative if it is divided by it; `text` is the option or the
    data loader. `otherwise` is what it is if the option is not given, None if it has a default or nothing is known of that.
    """

    counts: str
    processes: int
    text: str
    at: Location
    otherwise: StepCount | None = None


class Schedule(NamedTuple):
    """A schedule that `Accelerator.prepare` gets; accelerate moves it on once for each process at each step of the optimizer.

    `training` and `warmup` are what it is made with; None if the text does not say, or if there is no warm-up.
    """

    path: str
    training: StepCount | None
    warmup: StepCount | None
