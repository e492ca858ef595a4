"""A callback for the Trainer of Lightning."""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch import Callback
except ImportError:
    from pytorch_lightning import Callback

from pytest_gbs.runtime.expected import Expected
from pytest_gbs.runtime.guard import BatchGuard


class GlobalBatchCallback(Callback):
    """Holds the rows of the first optimizer step against `expected`, before it is made; on every rank. The others as in `BatchGuard`."""

    def __init__(self, expected: Expected, *, ranks_per_replica: int = 1, warn: bool = False, record: str | None = None) -> None:
        self._guard = BatchGuard(expected, ranks_per_replica=ranks_per_replica, warn=warn, record=record)

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """Count anew with each training."""
        self._guard.clear()

    def on_train_batch_start(self, trainer: Any, pl_module: Any, batch: Any, batch_idx: int) -> None:
        """Count a micro batch."""
        self._guard.saw(batch)

    def on_before_optimizer_step(self, trainer: Any, pl_module: Any, optimizer: Any) -> None:
        """Check the first step."""
        self._guard.check()
