"""What a target is, and what is worth reporting of one execution."""

from __future__ import annotations

import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Final, NamedTuple

import fuzz.targets
from pytest_gbs.files.decode import decode
from pytest_gbs.files.regular import MISSING
from pytest_gbs.model.errors import GbsError
from pytest_gbs.model.location import Source, Unreadable

MOST_SECONDS: Final = 2.0
MOST_MEGABYTES: Final = 200
_FILE: Final = b"\x1e"  # in an input of several files, what stands before the name of each


class Target(NamedTuple):
    """One entrance to fuzz: `run` raises nothing for any input, `words` are texts that mean something to it."""

    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()


class Trouble(NamedTuple):
    """An execution that went wrong: `kind` is "exception", "slow" or "memory", `key` is the same for troubles of one cause."""

    kind: str
    key: str
    words: str


def names() -> tuple[str, ...]:
    """The names of all targets."""
    return tuple(sorted(module.name for module in iter_modules(fuzz.targets.__path__)))


def load(name: str) -> Target:
    """The target `name`."""
    target: Target = import_module(f"fuzz.targets.{name}").TARGET
    return target


def execute(target: Target, data: bytes) -> Trouble | None:
    """What went wrong when `target` ran on `data`."""
    seconds, megabytes = time.process_time(), _most_memory()
    try:
        target.run(data)
    except GbsError:
        pass  # the lock or the settings are broken: one clear error, exit 2
    except Exception as error:
        return _raised(error)
    seconds, megabytes = time.process_time() - seconds, _most_memory() - megabytes
    if seconds > MOST_SECONDS:
        return Trouble("slow", f"slow-{seconds:.0f}s", f"{seconds:.1f} s")
    return Trouble("memory", f"memory-{megabytes:.0f}MB", f"{megabytes:.0f} MB") if megabytes > MOST_MEGABYTES else None


def _raised(error: Exception) -> Trouble:
    frames = traceback.extract_tb(error.__traceback__)
    last = next((frame for frame in reversed(frames) if "pytest_gbs" in frame.filename), frames[-1])
    where = f"{last.filename.rpartition('pytest_gbs/')[2].replace('/', '.')}-{last.lineno}"
    return Trouble("exception", f"{type(error).__name__}-{where}", "".join(traceback.format_exception(error)))


def _most_memory() -> float:
    """The most memory that this process ever had, in megabytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1024 * 1024 if sys.platform == "darwin" else 1024)


def source(path: str, data: bytes) -> Source | Unreadable:
    """The file of these bytes, as a tree reads it."""
    return decode(path, data)


def joined(files: Iterable[tuple[str, str]]) -> bytes:
    """Several files as one input."""
    return b"".join(_FILE + f"{name}\n{text}".encode() for name, text in files)


def files(data: bytes) -> dict[str, Source]:
    """The files of an input that are text, by names that a tree can have."""
    found: dict[str, Source] = {}
    for name, content in _split(data):
        parts = name.split("/")
        if all(parts) and not {".", ".."} & set(parts) and "\0" not in name:
            read = source(name, content)
            if isinstance(read, Source):
                found[name] = read
    return found


def _split(data: bytes) -> Iterator[tuple[str, bytes]]:
    for part in data.split(_FILE)[1:21]:
        name, _, content = part.partition(b"\n")
        yield name.decode("utf-8", "surrogateescape"), content


class Empty(NamedTuple):
    """A tree without files."""

    def paths(self) -> tuple[str, ...]:
        """No path."""
        return ()

    def read(self, path: str) -> Source | Unreadable:
        """No file."""
        return Unreadable(path, MISSING)
