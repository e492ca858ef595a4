"""Any training loop on torch: accelerate, DeepSpeed, torchtitan, or one of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_gbs.model.errors import UsageError
from pytest_gbs.runtime.expected import Expected
from pytest_gbs.runtime.guard import BatchGuard


class WatchedLoader:
    """A loader whose batches are counted; in all else it is the loader."""

    def __init__(self, loader: Any, guard: BatchGuard) -> None:
        self._loader, self._guard = loader, guard

    def __iter__(self) -> Iterator[Any]:
        for batch in self._loader:
            self._guard.saw(batch)
            yield batch

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)


def watch(
    expected: Expected, loader: Any, steps: Any, *, ranks_per_replica: int = 1, warn: bool = False, record: str | None = None
) -> WatchedLoader:
    """`loader`, to be iterated over instead, whose rows are compared with `expected` before `steps` makes its first step.

    `steps` is what makes optimizer steps: an optimizer of torch, one that accelerate prepared, a container of several, or a DeepSpeed
    engine. The others as in `BatchGuard`.

    Raises:
        UsageError: `steps` is nothing of these.
    """
    guard = BatchGuard(expected, ranks_per_replica=ranks_per_replica, warn=warn, record=record)
    if hasattr(steps, "is_gradient_accumulation_boundary"):
        # DeepSpeed may step within backward: the last micro batch is looked at before it goes forward.
        steps.module.register_forward_pre_hook(lambda *_: guard.check() if steps.is_gradient_accumulation_boundary() else None)
        return WatchedLoader(loader, guard)
    optimizer = _optimizer(steps)
    if not hasattr(optimizer, "register_step_pre_hook"):
        raise UsageError(f"{type(steps).__name__} is neither an optimizer of torch nor a DeepSpeed engine")
    optimizer.register_step_pre_hook(lambda *_: guard.check())
    return WatchedLoader(loader, guard)


def _optimizer(steps: Any) -> Any:
    """The optimizer of torch inside what accelerate prepared, or the first of a container."""
    while hasattr(steps, "optimizer"):
        steps = steps.optimizer
    return next(iter(steps.optimizers)) if hasattr(steps, "optimizers") else steps
