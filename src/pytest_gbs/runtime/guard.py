"""Counts the rows of the first optimizer step on all ranks, and holds them against what is expected."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any, Final

from pytest_gbs.files.writing import write_file
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.runtime.expected import Expected
from pytest_gbs.runtime.rows import take_rows

_LISTED: Final = 16  # ranks


class GlobalBatchError(RuntimeError):
    """The job trains on another global batch size than its recipe says."""


class GlobalBatchWarning(UserWarning):
    """The same, where the job is to go on."""


class RankCount(NamedTuple):
    """What one rank trains on in the first optimizer step; `fingerprint` differs where its rows do, and is 0 if nothing can be compared."""

    rows: int
    micro_batches: int
    fingerprint: int


class BatchGuard:
    """Counts micro batches until the first optimizer step, and checks them once.

    `ranks_per_replica` is how many ranks share the same rows (tensor x context x pipeline parallel); where it is 1, ranks that are seen
    to train on the same rows count once. With `warn` a difference is a warning. `record` is a file to which the first rank writes what
    ran, a line of JSON. `compare` is false where ranks may rightly train on the same rows, as in reinforcement learning.
    """

    def __init__(
        self, expected: Expected, *, ranks_per_replica: int = 1, warn: bool = False, record: str | None = None, compare: bool = True
    ) -> None:
        self.expected, self.ranks_per_replica, self.warn, self.record, self.compare = expected, ranks_per_replica, warn, record, compare
        self.done = False
        self.clear()

    def clear(self) -> None:
        """Forget what was counted, as where a loop starts anew with another micro batch."""
        self.counted = RankCount(0, 0, 0)
        self.done = False

    def saw(self, batch: Any, share: int = 1) -> None:
        """Count a micro batch, of whose rows one in `share` trains in it; a tag is taken out of it even after the check."""
        rows, fingerprint = take_rows(batch)
        if not self.done:
            before = self.counted
            mixed = (before.fingerprint * 31 + fingerprint) % (1 << 61)
            self.counted = RankCount(before.rows + rows // share, before.micro_batches + 1, mixed)

    def check(self) -> None:
        """Hold what all ranks counted against what is expected, the first time it is called; every rank must call it.

        Raises:
            GlobalBatchError: it differs, on each rank.
        """
        if self.done:
            return
        self.done = True
        rank, ranks = _gathered(self.counted)
        differs = difference(self.expected, ranks, self.ranks_per_replica, compare=self.compare)
        if self.record and rank == 0:
            write_file(self.record, f"{json.dumps(_record(self.expected, ranks, self.ranks_per_replica, differs))}\n".encode())
        if differs and not self.warn:
            raise GlobalBatchError(differs)
        if differs:
            warnings.warn(differs, GlobalBatchWarning, stacklevel=2)


def difference(expected: Expected, ranks: Sequence[RankCount], ranks_per_replica: int = 1, *, compare: bool = True) -> str:
    """In what the first step of `ranks` differs from what is expected, for people; "" if in nothing."""
    total = sum(rank.rows for rank in ranks) // ranks_per_replica
    comparable = compare and ranks_per_replica == 1 and all(rank.fingerprint for rank in ranks)
    distinct = sum(rank.rows for rank in {rank.fingerprint: rank for rank in ranks}.values()) if comparable else total
    if distinct == expected.global_batch_size or (total == expected.global_batch_size and distinct == total):
        return ""
    where = f"{expected.recipe}: " if expected.recipe else ""
    says = f"{where}the global batch size should be {expected.global_batch_size:,}"
    if distinct != total:
        shared = f"{total:,} rows on {len(ranks):,} ranks, {distinct:,} of them different: ranks train on the same rows"
        return f"{says}, but the first optimizer step trains on {shared}"
    return "\n  ".join(
        (f"{says}, but the first optimizer step trains on {_product(ranks, total, ranks_per_replica)}", *_factors(expected, ranks))
    )


def _product(ranks: Sequence[RankCount], total: int, ranks_per_replica: int) -> str:
    """`64 rows = 2 micro x 4 accumulation x 8 ranks`; the rows of each rank if they differ."""
    first = ranks[0]
    if len({rank[:2] for rank in ranks}) > 1 or not first.micro_batches or first.rows % first.micro_batches:
        listed = ", ".join(str(rank.rows) for rank in ranks[:_LISTED])
        return f"{total:,} rows: {listed}{', ...' if len(ranks) > _LISTED else ''} on the ranks"
    micro, data_parallel = first.rows // first.micro_batches, len(ranks) // ranks_per_replica
    return f"{total:,} rows = {micro} micro x {first.micro_batches} accumulation x {data_parallel} data-parallel"


def _factors(expected: Expected, ranks: Sequence[RankCount]) -> list[str]:
    """A line for each factor that is not the expected one."""
    first = ranks[0]
    found = (
        ("micro batch size", expected.micro_batch_size, first.rows // first.micro_batches if first.micro_batches else 0),
        ("accumulation", expected.gradient_accumulation_steps, first.micro_batches),
        ("ranks", expected.data_parallel_size, len(ranks)),
    )
    return [f"{name}: {size} expected, {real} found" for name, size, real in found if size is not None and size != real]


def _record(expected: Expected, ranks: Sequence[RankCount], ranks_per_replica: int, differs: str) -> dict[str, object]:
    return {
        "version": 1,
        "recipe": expected.recipe or None,
        "expected": expected.global_batch_size,
        "global_batch_size": sum(rank.rows for rank in ranks) // ranks_per_replica,
        "micro_batches": [rank.micro_batches for rank in ranks],
        "rows": [rank.rows for rank in ranks],
        "world_size": len(ranks),
        "ranks_per_replica": ranks_per_replica,
        "differs": differs or None,
    }


def _gathered(mine: RankCount) -> tuple[int, list[RankCount]]:
    """This rank, and the counts of all ranks: one collective where torch.distributed runs, else this process alone."""
    import torch
    from torch import distributed

    if not (distributed.is_available() and distributed.is_initialized()):
        return 0, [mine]
    device = torch.device("cuda", torch.cuda.current_device()) if distributed.get_backend() == "nccl" else torch.device("cpu")
    own = torch.tensor(mine, dtype=torch.int64, device=device)
    found = [torch.empty_like(own) for _ in range(distributed.get_world_size())]
    distributed.all_gather(found, own)
    return distributed.get_rank(), [RankCount(*each.tolist()) for each in found]
