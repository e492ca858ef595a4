"""What one epoch of a data set comes to: full optimizer steps, what is left over, and what training never reaches."""

from __future__ import annotations

from pytest_gbs.model.record import NamedTuple


class Epoch(NamedTuple):
    """`examples` of a data set in batches of so many. `together` of them go through all `processes` at once, 0 if that is not known."""

    examples: int
    batch: int
    together: int = 0
    processes: int = 1

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
        """Examples that a loader never gives that drops its last batch; None if not known.

        Some loaders share out batches, others share out examples and repeat some, so that each process has as many: known if both agree.
        """
        if not self.together or self.together % self.processes:
            return None
        dropped = self.examples % self.together
        each = -(-self.examples // self.processes)
        given = each * self.processes - each % (self.together // self.processes) * self.processes
        return dropped if dropped == max(0, self.examples - given) else None

    def unreached(self, steps: int) -> int:
        """Examples that so many full steps do not come to."""
        return max(0, self.examples - steps * self.batch)
