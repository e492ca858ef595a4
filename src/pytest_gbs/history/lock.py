"""What runs are compared with: the entries of `gbs.lock` and the batches of an earlier revision, matched to runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

from pytest_gbs.claims.locked import key, record
from pytest_gbs.files.regular import MISSING
from pytest_gbs.history.lockfile import NAME, LockLine, read_lock
from pytest_gbs.model.errors import SettingsError
from pytest_gbs.model.launch import JUDGES_NOTHING
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.locked import LockedBatch, Record
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report, Role
from pytest_gbs.model.run import Run


class Base(NamedTuple):
    """An earlier state of the tree: how it is called ("main"), its records by name, and what the commits since say."""

    revision: str
    records: Mapping[str, Record]
    said: str = ""


class LockedBatches(NamedTuple):
    """The entries of the lock file or of an earlier state, by name."""

    of_lock: bool
    entries: Mapping[str, LockedBatch]

    def attach(self, runs: tuple[Run, ...], document: int) -> tuple[Run, ...]:
        """The runs of one document, each with its entry."""
        entry = dict(self._entries(runs, document))
        return tuple(self._with(run, entry[index]) if index in entry else run for index, run in enumerate(runs))

    def _with(self, run: Run, entry: LockedBatch) -> Run:
        return run._replace(locked=entry) if self.of_lock else run._replace(base=entry)

    def _entries(self, runs: tuple[Run, ...], document: int) -> Iterator[tuple[int, LockedBatch]]:
        families: defaultdict[str, list[int]] = defaultdict(list)
        for index, run in enumerate(runs):
            if is_locked_run(run):
                families[key(run, document)].append(index)
        for name, indices in families.items():
            entries = list(_family(name, self.entries))
            if len(entries) == len(indices):
                yield from zip(indices, entries, strict=True)
            else:
                yield from _matching([(index, runs[index]) for index in indices], entries)


def _family(name: str, entries: Mapping[str, LockedBatch]) -> Iterator[LockedBatch]:
    number = 1
    while (numbered := _numbered(name, number)) in entries:
        yield entries[numbered]
        number += 1


def _matching(runs: Iterable[tuple[int, Run]], entries: list[LockedBatch]) -> Iterator[tuple[int, LockedBatch]]:
    """Yield the launches of a script that are as they were, where others of it came or went: one can not be known from another."""
    left = list(entries)
    for index, run in runs:
        now = record(run)
        same = next((entry for entry in left if now is not None and now[:4] == entry.record[:4]), None)
        if same is not None:
            left.remove(same)
            yield index, same


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} #{number}"


def is_locked_run(run: Run) -> bool:
    """Whether the batch of `run` is one that people mean: that of no test and of no template."""
    return run.launch is None or run.launch.kind not in JUDGES_NOTHING


def entries(report: Report) -> Iterator[tuple[str, Run, FileReport]]:
    """Yield each recipe and launch of `report`, which kept its runs, with its name and its file."""
    for file in report.files:
        if file.role in (Role.RECIPE, Role.LAUNCHER):
            for name, run in named(file.runs, file.document):
                yield name, run, file


def records(report: Report) -> dict[str, tuple[Run, Record]]:
    """Each recipe and launch of `report`, which kept its runs, by name, as far as its batch is known."""
    found: dict[str, tuple[Run, Record]] = {}
    for name, run, _ in entries(report):
        now = record(run)
        if now is not None:
            found.setdefault(name, (run, now))
    return found


def named(runs: Iterable[Run], document: int) -> Iterator[tuple[str, Run]]:
    """Yield the runs of a document that have a lock entry, each with its name."""
    seen: Counter[str] = Counter()
    for run in runs:
        if is_locked_run(run):
            name = key(run, document)
            seen[name] += 1
            yield _numbered(name, seen[name]), run


def locked_batches(lock: Source | Unreadable, base: Base | None, *, what_if: bool) -> tuple[LockedBatches, ...]:
    """The entries of the lock file, if there is one, and of an earlier state, if one is given.

    `what_if` is true if the command line gives hardware.

    Raises:
        SettingsError: the lock file can't be read.
    """
    found: list[LockedBatches] = []
    lines = locked(lock)
    if lines:
        found.append(LockedBatches(True, {name: LockedBatch(line.record, NAME, line.at, what_if) for name, line in lines.items()}))
    if base is not None:
        # Both states are seen on the hardware of the command line, if it gives any.
        entry = {name: LockedBatch(each, base.revision, said=base.said) for name, each in base.records.items()}
        found.append(LockedBatches(False, entry))
    return tuple(found)


def locked(lock: Source | Unreadable) -> dict[str, LockLine]:
    """The entries of the lock file; none if there is no such file.

    Raises:
        SettingsError: the lock file can't be read.
    """
    if isinstance(lock, Source):
        return read_lock(lock)
    if lock.reason == MISSING:
        return {}
    raise SettingsError(f"{NAME}: {lock.reason}")


__all__ = ["NAME", "Base", "LockedBatches", "entries", "is_locked_run", "locked", "locked_batches", "named", "records"]
