"""How many single changes to an operand are found: each operand of each claim that is verified, halved, doubled, and plus one."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pytest_gbs import Given
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.report import FileReport, Report, Verdict
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Settings
from tests.support import check


class Change(NamedTuple):
    """One number changed: in which repository and file, where, from what to what, and the verdict before and after."""

    folder: Path
    path: str
    name: str
    at: Location
    old: str
    new: int
    verdict: str | None
    findings: tuple[str, ...]

    @property
    def found(self) -> bool:
        """True where the change is reported as a finding."""
        return bool(self.findings)


def changes(folder: Path, report: Report) -> Iterator[Change]:
    """Yield every single change to an operand of the verified recipes of one repository, with what gbs makes of it."""
    base = WorkTree(folder)
    for file in report.files:
        if file.verdict != Verdict.VERIFIED:
            continue
        source = report.sources[file.path]
        for quantity in _operands(file):
            assert quantity.at is not None
            old = source.text[quantity.at.start : quantity.at.stop]
            if not old.isdecimal():
                continue
            for new in sorted({int(old) * 2, int(old) // 2, int(old) + 1} - {0, int(old)}):
                yield _changed(folder, base, file, source, quantity, old, new)


def _operands(file: FileReport) -> list[Quantity]:
    """The numbers in the file that the global batch of a verified recipe rests on, each place once."""
    found: dict[Location, Quantity] = {}
    for run in file.runs:
        for leaf in (leaf for size in _judged(run) for leaf in leaves(size)):
            if leaf.at is not None and leaf.at.source == file.path:
                found.setdefault(leaf.at, leaf)
    return list(found.values())


def _judged(run: Run) -> Iterator[Quantity]:
    """Yield the sizes that a claim of the run was held against.

    Where constraints alone were decided another number may be as good: what is divisible by 4 is often divisible by 8.
    """
    for claim in run.claims:
        size = claim.worlds[0].geometry.stated.get(claim.declaration.name)
        if isinstance(size, Quantity):
            yield size


def _changed(folder: Path, base: WorkTree, file: FileReport, source: Source, quantity: Quantity, old: str, new: int) -> Change:
    assert quantity.at is not None
    text = source.text[: quantity.at.start] + str(new) + source.text[quantity.at.stop :]
    tree = OverlayTree(base, {file.path: source._replace(text=text)})
    after = check(tree, (file.path,), Settings(), Given())
    changed = next(f for f in after.files if f.document == file.document)
    codes = tuple(f"{finding.code} {finding.message}" for f in after.files for finding in f.findings)
    return Change(folder, file.path, quantity.name, quantity.at, old, new, changed.verdict, codes)
