"""What one epoch of a data set comes to: full optimizer steps, what is left over, and what training never reaches."""

from __future__ import annotations

from pytest_gbs.arithmetic.schedules import stages_of
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.run import Run

# What a data set counts as well as a batch does; a completion, a frame or a token is not an example of one.
_WHOLE = ("samples", "pairs", "rows", "prompts", "trajectories")
_SPLIT = ("samples", "pairs", "rows")  # of these a micro batch has so many too


class Epoch(NamedTuple):
    """`examples` of a data set in batches of so many. `together` of them go through all processes at once, 0 if that is not known."""

    examples: int
    batch: int
    together: int = 0

    @property
    def full_steps(self) -> int:
        """Optimizer steps that have a whole batch."""
        return self.examples // self.batch

    @property
    def left(self) -> int:
        """Examples that fill no step: a smaller one, or dropped, as the loader and the framework have it."""
        return self.examples % self.batch

    @property
    def dropped(self) -> int | None:
        """Examples that a loader never gives that drops what does not fill a forward pass of all processes; None if not known."""
        return self.left % self.together if self.together else None

    def unreached(self, steps: int) -> int:
        """Examples that so many full steps do not come to."""
        return max(0, self.examples - steps * self.batch)


def epoch_of(run: Run, examples: int) -> Epoch | None:
    """One epoch of `examples` with the batch of `run`; None where that is not known, changes, or counts something else."""
    batch, steps = run.geometry.value(Name.GLOBAL_BATCH_SIZE), run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS)
    if not batch or run.framework.unit not in _WHOLE or stages_of(Name.GLOBAL_BATCH_SIZE, run.geometry.stated, run.framework.equations):
        return None
    whole = steps and batch % steps == 0 and run.framework.unit in _SPLIT
    return Epoch(examples, batch, batch // steps if steps and whole else 0)
