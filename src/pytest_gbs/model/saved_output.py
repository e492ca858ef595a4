"""What a trainer printed when a notebook was run, as the notebook keeps it, beside the recipes that its source has now."""

from __future__ import annotations

from pytest_gbs.model.location import Location
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run


class TrainingRecord(NamedTuple):
    """The batch that a trainer printed as training began: samples on each device, at `at`, and accumulation, None if that was cut off.

    `devices` are the GPUs of the process, whose batches a trainer may have added up; None if it did not print that.
    """

    micro_batch_size: int
    accumulation: int | None
    devices: int | None
    at: Location


class SavedOutput(NamedTuple):
    """One record of a notebook, with every recipe of it that a trainer can be given, each by itself."""

    path: str
    record: TrainingRecord
    runs: tuple[Run, ...]
