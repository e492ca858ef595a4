"""A callback for the Trainer of transformers, and for those of TRL and others that are made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transformers import TrainerCallback

from pytest_gbs.runtime.expected import Expected
from pytest_gbs.runtime.guard import BatchGuard
from pytest_gbs.runtime.rows import Tagged


class GlobalBatchCallback(TrainerCallback):
    """Holds the rows of the first optimizer step against `expected`, before its last micro batch trains; on every rank.

    A run that is resumed within an epoch is checked from its next epoch on. `warn` and `record` as in `BatchGuard`.
    """

    def __init__(self, expected: Expected, *, warn: bool = False, record: str | None = None) -> None:
        self._guard = BatchGuard(expected, warn=warn, record=record)

    def on_train_begin(self, args: Any, state: Any, control: Any, train_dataloader: Any = None, **kwargs: Any) -> None:
        """Count what the loader of this training yields; the Trainer may start anew with a smaller micro batch."""
        self._guard.clear()
        # Completions are sampled from a batch of prompts, of which a step trains a share: GRPOTrainer._prepare_inputs of TRL.
        share = getattr(args, "steps_per_generation", None) or 1
        self._guard.compare = not hasattr(args, "num_generations")
        _count(train_dataloader, self._guard, args.gradient_accumulation_steps, share)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Check an epoch that is shorter than one step."""
        self._guard.check()


def _count(loader: Any, guard: BatchGuard, accumulation: int, share: int) -> None:
    """Make `loader` itself count: the Trainer holds it already. A loader that is made from it is as it was before."""
    inner = getattr(loader, "base_dataloader", None)
    if inner is not None:
        plain = inner.collate_fn
        inner.collate_fn = Tagged(plain)
    base = type(loader)

    class Counting(base):  # type: ignore[misc, valid-type]
        if inner is not None:
            collate_fn = property(lambda _: plain)

        def __iter__(self) -> Iterator[Any]:
            for batch in super().__iter__():
                guard.saw(batch, share)
                if guard.counted.micro_batches >= accumulation:
                    guard.check()
                yield batch

    vars(object)["__class__"].__set__(loader, Counting)  # accelerate's loaders report another class than they have
