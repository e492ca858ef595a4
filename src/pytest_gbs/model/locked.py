"""What the batch of a recipe or a launch was, by `gbs.lock` or at an earlier revision."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.location import Location
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple

PER_GPU: Final = Name.WORLD_SIZE


PER_RANK: Final = Name.DATA_PARALLEL_SIZE


class Record(NamedTuple):
    """The batch of one recipe or launch, as far as it is known.

    `global_batch_size` is what trains per optimizer step, counted in `unit`; None if the hardware is not known. `share` is the
    part of one GPU (of one data-parallel rank, where `of` says so) as a whole number or a fraction ("16", "1/2"), "" if the batch
    depends on no hardware or on more than that. `operands` are the stated sizes that it is the product of, in that order.
    `claim` is the number that a comment claims and that was found to hold.
    """

    unit: str
    global_batch_size: int | None
    share: str = ""
    of: str = PER_GPU
    operands: tuple[tuple[str, int], ...] = ()
    claim: int | None = None


class LockedBatch(NamedTuple):
    """A record that a run is compared with: `where` names its source ("gbs.lock", "main"), `at` the line that says so, if any does.

    `what_if` is true if the hardware is that of the command line, so that only the part of each GPU can be compared. `said` is
    what the messages of the commits since say.
    """

    record: Record
    where: str
    at: Location | None = None
    what_if: bool = False
    said: str = ""
