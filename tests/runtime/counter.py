"""Counting samples in a training on one or several processes."""

from typing import Any

import torch


class Counter:
    """Samples by epoch and optimizer step, over all processes."""

    def __init__(self, each: int = 1) -> None:
        self.each, self.now = each, 0
        self.epochs: list[list[int]] = [[]]
        self.seen: list[int] = []

    def watch(self, model: torch.nn.Module) -> None:
        model.register_forward_pre_hook(self.forward, with_kwargs=True)

    def forward(self, model: torch.nn.Module, words: Any, named: Any) -> None:
        rows, places = named.get("input_ids", words[0] if words else None), named.get("position_ids")
        if torch.is_grad_enabled() and model.training and rows is not None:
            # Without padding all samples are one row, in which each starts at place 0.
            self.now += len(rows) if places is None else int((places == 0).sum())

    def stepped(self, done: bool = True) -> None:
        if done:
            self.epochs[-1].append(self.now)
            self.now = 0

    def reported(self) -> dict[str, Any]:
        """What all processes consumed."""
        epochs = [epoch for epoch in self.epochs if epoch]
        if torch.distributed.is_initialized():
            whole = torch.tensor([count for epoch in epochs for count in epoch])
            torch.distributed.all_reduce(whole)
            counts = iter(whole.tolist())
            epochs = [[next(counts) for _ in epoch] for epoch in epochs]
        assert all(count % self.each == 0 for epoch in epochs for count in epoch)
        return {"epochs": [[count // self.each for count in epoch] for epoch in epochs], "seen": self.seen}
