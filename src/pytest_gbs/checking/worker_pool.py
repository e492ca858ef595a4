"""Files shared out among processes that are forked off this one. What another process does not bring back is left to this one."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

# The number of a block is one byte in the pipe that all processes take from.
_BLOCKS: Final = 200


class WorkerPool:
    """Up to `jobs` processes, this one among them, that take blocks of `paths` from one pipe until it is empty.

    Each of the others gives `work` the paths that it takes and sends back the result, which `pickle` must be able to write.
    """

    def __init__(self, paths: Sequence[str], work: Callable[[Iterator[str]], Any], jobs: int) -> None:
        self._paths = paths
        self._size = max(1, -(-len(paths) // _BLOCKS))
        self._queue, feed = os.pipe()
        os.write(feed, bytes(range(-(-len(paths) // self._size))))
        os.close(feed)
        self._others: list[tuple[int, int]] = []
        # What a thread holds while a process is forked off, is never released in there.
        for _ in range(jobs - 1 if len(sys._current_frames()) == 1 else 0):
            self._fork(work)

    def taken(self) -> Iterator[str]:
        """Yield the paths that this process takes."""
        while block := os.read(self._queue, 1):
            start = block[0] * self._size
            yield from self._paths[start : start + self._size]

    def results(self) -> Iterator[Any]:
        """Yield what the others made of theirs; nothing of one that came to an end before."""
        while self._others:
            pid, pipe = self._others.pop()
            with os.fdopen(pipe, "rb") as results, suppress(EOFError, OSError, pickle.UnpicklingError):
                yield pickle.load(results)
            os.waitpid(pid, 0)

    def close(self) -> None:
        """Terminate the remaining workers."""
        os.close(self._queue)
        for pid, pipe in self._others:
            os.close(pipe)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGTERM)
            os.waitpid(pid, 0)

    def _fork(self, work: Callable[[Iterator[str]], Any]) -> None:
        pipe, end = os.pipe()
        try:
            pid = os.fork()
        except OSError:  # no room for another process
            os.close(pipe)
            os.close(end)
            return
        if pid:
            os.close(end)
            self._others.append((pid, pipe))
            return
        code = 1
        try:
            os.close(pipe)
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
            with os.fdopen(end, "wb") as results:
                pickle.dump(work(self.taken()), results, pickle.HIGHEST_PROTOCOL)
            code = 0
        finally:
            os._exit(code)
