"""A recipe carried to other hardware: what changes, what it costs, and why it can't be done where it can't."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.assumption import Assumption
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Edit
from pytest_gbs.model.planning import Near
from pytest_gbs.model.record import NamedTuple


class What:
    """What a change is made to."""

    SETTING: Final = "setting"  # micro batch, accumulation
    HARDWARE: Final = "hardware"  # a key or a flag that says on how many GPUs
    COMMENT: Final = "comment"


class ScaleChange(NamedTuple):
    """One number that changes: the size it is, what it is in, the key as written, its place, and the edit.

    `old` is 0 if the key is inserted and `new` is 0 if it is taken out again.
    """

    name: str
    what: str
    key: str
    old: int
    new: int
    at: Location
    edit: Edit


class Shape(NamedTuple):
    """The sizes of a batch on its hardware; 0 for what is not known."""

    micro_batch_size: int = 0
    gradient_accumulation_steps: int = 0
    data_parallel_size: int = 0
    world_size: int = 0
    num_nodes: int = 0
    gpus_per_node: int = 0


class Scaled(NamedTuple):
    """A recipe, or a launch of one, on other hardware with its global batch size kept.

    `launch` is the launching script, "" for a recipe by itself. `files` are the changed files as they were and will be. `counted`
    are keys that count optimizer steps and so keep their meaning, `notes` what else a person should know, `back` the flags
    that undo it.
    """

    path: str
    launch: str
    target: int
    unit: str
    before: Shape
    after: Shape
    changes: tuple[ScaleChange, ...]
    files: tuple[tuple[Source, Source], ...]
    counted: tuple[str, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    notes: tuple[str, ...] = ()
    back: str = ""
    which: str = ""  # of the recipes of its file, to be behind the path: ` (cell 2)`


class Stuck(NamedTuple):
    """Why a recipe can't be carried to the wanted hardware, and what is near; `world_size` is the wanted one, 0 if that is not known."""

    path: str
    launch: str
    reason: str
    target: int = 0
    world_size: int = 0
    near: Near = Near()
    which: str = ""
