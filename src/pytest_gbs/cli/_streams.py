"""The three standard streams: opened where they are closed, cut off where they fail, and asked where a person sits at them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def open_closed_streams() -> None:
    """Open each standard stream that is closed, so that no file gets its number, and none of ours is None.

    Reading from or writing to such a stream fails as it would have; what is written to standard error is lost.
    """
    if sys.stdin is None:
        sys.stdin = _opened(os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _opened(os.O_RDONLY, "w")
    if sys.stderr is None:
        sys.stderr = _opened(os.O_WRONLY, "w")


def _opened(flags: int, mode: str) -> TextIO:
    """A stream of its own: the lowest number that is free is that of the first closed one."""
    return os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8", errors="backslashreplace")  # type: ignore[return-value]


def cut_off(stream: TextIO) -> None:
    """Let all that is still to be written to a stream go nowhere: Python would complain when it flushes it at exit, and exit with 120."""
    with suppress(OSError, ValueError):  # one that has no number, as tests have
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)


def writes_to_terminal() -> bool:
    """Whether standard output is a terminal, and no pipe or file."""
    return sys.stdout.isatty()


def agrees(question: str) -> bool:
    """Ask the person at the terminal; False if there is none."""
    if not (sys.stdin.isatty() and writes_to_terminal()):
        return False
    sys.stdout.write(f"{question} [Y/n] ")
    sys.stdout.flush()
    answer = sys.stdin.buffer.readline()  # empty at its end
    return answer.strip().lower() in (b"", b"y", b"yes") and answer != b""
