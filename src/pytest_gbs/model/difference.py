"""What two states of a repository do to the batch of each recipe and launch: plain values, ready to be written down."""

from __future__ import annotations

from typing import Final

from pytest_gbs.model.record import NamedTuple


class Status:
    """What became of one recipe or launch."""

    ADDED: Final = "added"
    REMOVED: Final = "removed"
    CHANGED: Final = "changed"  # another batch
    UNKNOWN: Final = "unknown"  # a batch that was known and is not any more, or the other way round; maybe the same
    SAME: Final = "same"  # the same batch of other operands
    RENAMED: Final = "renamed"  # the same in all, under another name


class Batch(NamedTuple):
    """The batch on one side: its number if it is known, its text for people ("128", "16 x GPUs"), and the same of its tokens.

    `tokens_text` is "" if nothing says how long a sequence is.
    """

    value: int | None
    text: str
    unit: str
    tokens: int | None = None
    tokens_text: str = ""


class Operand(NamedTuple):
    """A size that the batch is made of and that is another one: what it is called, and where it is now (before, if it is gone).

    `path` and `line` are "" and 0 if it is in no file.
    """

    name: str
    called: str
    before: int | None
    after: int | None
    path: str = ""
    line: int = 0
    key: str = ""


class Topic:
    """What a setting is about that belongs together with the batch."""

    LEARNING_RATE: Final = "learning rate"
    WARMUP: Final = "warmup"
    LENGTH: Final = "length of training"


class Setting(NamedTuple):
    """A setting on both sides, as written; None if it is not there."""

    topic: str
    key: str
    before: str | None
    after: str | None
    same: bool


class BatchChange(NamedTuple):
    """What became of one recipe (`launch` "") or one launch of it.

    `path` is the recipe's at the later side (the earlier one, where it is removed), `renamed_from` what it was called before, ""
    where that is the same. `notes` are sentences for people. `factor` is what the batch was multiplied by, None if that is not known.
    """

    path: str
    launch: str
    status: str
    before: Batch | None
    after: Batch | None
    operands: tuple[Operand, ...] = ()
    settings: tuple[Setting, ...] = ()
    renamed_from: str = ""
    notes: tuple[str, ...] = ()
    factor: float | None = None


class Differences(NamedTuple):
    """All changes between two states, in path order; `base` and `head` are what the states are called.

    `recipes` is how many recipes were compared. `notes` hold for several changes.
    """

    base: str
    head: str
    changes: tuple[BatchChange, ...]
    recipes: int
    notes: tuple[str, ...] = ()


class Ran(NamedTuple):
    """What a job trained on: the file that says so, its recipe, the rows of a step, its ranks, and the factors that are known."""

    name: str
    recipe: str
    global_batch_size: int
    world_size: int
    micro_batch_size: int | None = None
    gradient_accumulation_steps: int | None = None
    data_parallel_size: int | None = None
