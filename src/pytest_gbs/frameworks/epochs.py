"""What one epoch of a data set comes to for a run."""

from __future__ import annotations

from pytest_gbs.arithmetic.epoch import Epoch
from pytest_gbs.arithmetic.schedules import stages_of
from pytest_gbs.frameworks.conditions import is_partial, packs
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.run import Run

# What a data set counts as well as a batch does; a completion, a frame or a token is not an example of one.
_WHOLE = ("samples", "pairs", "rows", "prompts", "trajectories")
_SPLIT = ("samples", "pairs", "rows")  # of these a micro batch has so many too


def epoch_of(run: Run, examples: int) -> Epoch | None:
    """One epoch of `examples` with the batch of `run`; None if that is not known, changes, or counts something else."""
    batch, steps = run.geometry.value(Name.GLOBAL_BATCH_SIZE), run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS)
    if (
        not batch
        or run.framework.unit not in _WHOLE
        or packs(run)
        or is_partial(run)
        or stages_of(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations)
    ):
        return None
    processes = run.geometry.value(Name.DATA_PARALLEL_SIZE)
    whole = steps and processes and batch % steps == 0 and run.framework.unit in _SPLIT
    return Epoch(examples, batch, batch // steps, processes) if steps and processes and whole else Epoch(examples, batch)
