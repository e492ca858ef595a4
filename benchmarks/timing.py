"""Times of jobs that are run in turn, and ratios between them with what they may be."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from statistics import median
from typing import Final, NamedTuple

Job = Callable[[], object]

# A new machine writes byte code once; a setting that forbids it would measure the compiler.
ENVIRONMENT: Final = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class AtMost(NamedTuple):
    """A ratio is to be at most `aim`; above `limit` something made it worse than it was."""

    aim: float
    limit: float

    def __str__(self) -> str:
        return f"at most {self.aim:g}"

    def is_kept(self, value: float) -> bool:
        """Whether `value` is no worse than it may become."""
        return value <= self.limit


class AtLeast(NamedTuple):
    """A ratio is to be at least `aim`; below `limit` something made it worse than it was."""

    aim: float
    limit: float

    def __str__(self) -> str:
        return f"at least {self.aim:g}"

    def is_kept(self, value: float) -> bool:
        """Whether `value` is no worse than it may become."""
        return value >= self.limit


class Table:
    """The lines that are printed, and what broke its limit."""

    def __init__(self) -> None:
        self.broken: list[str] = []

    def tell(self, name: str, value: float, unit: str, bound: AtMost | AtLeast | None = None) -> None:
        """Print one figure; `unit` says of what it is a multiple."""
        kept = bound is None or bound.is_kept(value)
        if not kept:
            self.broken.append(f"{name}: {value:.2f}, limit {bound.limit:g}" if bound else name)
        wanted = f"wanted: {bound}" if bound else ""
        print(f"{name:<46} {value:7.2f} {unit:<52} {wanted}{'' if kept else '  WORSE THAN IT MAY BECOME'}".rstrip())


def interleave(jobs: dict[str, Job], rounds: int) -> dict[str, float]:
    """The median seconds of each job, all run in turn in each round, so that other work on the machine disturbs them alike."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            taken[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in taken.items()}


def run(command: list[str], cwd: str | None = None) -> None:
    """Run a command to its end, whatever it says."""
    subprocess.run(command, capture_output=True, cwd=cwd, check=False, env=ENVIRONMENT)
