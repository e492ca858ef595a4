"""From a report to files in which its findings are fixed: every repair is tried in memory, and kept only if nothing else suffers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeAlias

from pytest_gbs.fixes.editing import Read, bare, by_source, edit_all, overlap, shifting
from pytest_gbs.fixes.rereading import unintended
from pytest_gbs.model.limits import LEAST_FIX_TRIES, MOST_FILES_TRIED, MOST_FIX_TRIES
from pytest_gbs.model.location import Source
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Report

Recheck: TypeAlias = "Callable[[Mapping[str, Source]], Report]"
# What a finding offers, given the files as they are by then.
Offer: TypeAlias = "Callable[[Finding, Read], Iterable[Fix]]"
Key: TypeAlias = "tuple[str, str, int]"


class FindingFix(NamedTuple):
    """A finding and the fix for it."""

    finding: Finding
    fix: Fix


class RefusedFix(NamedTuple):
    """A repair that was not made, and why."""

    repair: FindingFix
    why: str


class FixResult(NamedTuple):
    """The outcome of fixing: the report on the files as they would be, each file before and after, and the fixes applied and refused."""

    report: Report
    files: dict[str, tuple[Source, Source]]
    applied: tuple[FindingFix, ...] = ()
    refused: tuple[RefusedFix, ...] = ()


class _State(NamedTuple):
    """The files changed so far, and the report on the tree with them."""

    changed: dict[str, Source]
    report: Report


def apply_fixes(report: Report, read: Read, recheck: Recheck, kinds: Iterable[str]) -> FixResult:
    """`report` fixed by the fixes of `kinds` (`Applicability`), safe ones always.

    `read` gives the files as they are, `recheck` the report on the tree with some files replaced. Where several fixes would fix a
    finding the first that harms nothing is taken.
    """
    allowed = frozenset((Applicability.SAFE, *kinds))
    return run(report, read, recheck, lambda finding, _: (fix for fix in finding.fixes if fix.applicability in allowed))


def run(report: Report, read: Read, recheck: Recheck, offer: Offer) -> FixResult:
    """`report` fixed by what `offer` gives for each finding, in its order of preference."""
    state = _State({}, report)
    applied: list[FindingFix] = []
    refused: dict[tuple[str, str, str, str], RefusedFix] = {}
    checked = sum(1 + file.launches for file in report.files)
    left = max(LEAST_FIX_TRIES, min(MOST_FIX_TRIES, MOST_FILES_TRIED // max(1, checked)))
    while left and (batch := _batch(state.report, offer, _reading(state, read), refused)):
        for group in islice(_groups(batch), left):
            left -= 1
            after = _try(group, state, read, recheck)
            if isinstance(after, _State):
                state = after
                applied.extend(group)
                break
            if len(group) == 1:
                refused[_name(group[0])] = RefusedFix(group[0], after)
    done = {_name(repair)[:3] for repair in applied}
    final = tuple(each for name, each in refused.items() if name[:3] not in done)
    files = {path: (before, after) for path, after in state.changed.items() if isinstance(before := read(path), Source)}
    changed = {path: pair for path, pair in files.items() if pair[0].text != pair[1].text}
    return FixResult(state.report, changed, tuple(applied), final)


def _name(repair: FindingFix) -> tuple[str, str, str, str]:
    """What a repair is known by while edits move its place about."""
    finding = repair.finding
    return finding.code, finding.at.source, f"{finding.at.path} {finding.message}", f"{repair.fix.title} {repair.fix.edits!r:.200}"


def _reading(state: _State, read: Read) -> Read:
    """What reads the files as they are by now."""
    return lambda path: state.changed.get(path) or read(path)


def _batch(report: Report, offer: Offer, read: Read, refused: Mapping[tuple[str, str, str, str], RefusedFix]) -> list[FindingFix]:
    """A repair for each finding that has one left, without those that touch another's place."""
    batch: list[FindingFix] = []
    taken: defaultdict[str, list[Edit]] = defaultdict(list)  # places by their files
    findings = sorted(report.findings(), key=lambda each: (each.code, each.at[:3], each.message))
    for finding in findings:
        offered = (FindingFix(finding, fix) for fix in offer(finding, read) if fix.edits)
        repair = next((each for each in offered if _name(each) not in refused), None)
        edits = [bare(edit) for edit in repair.fix.edits] if repair is not None else []
        if repair is not None and not any(overlap(edit, other) for edit in edits for other in taken[edit.at.source]):
            batch.append(repair)
            for edit in edits:
                taken[edit.at.source].append(edit)
    return batch


def _groups(batch: list[FindingFix]) -> Iterator[list[FindingFix]]:
    """What to try at once: all, the files in halves, in quarters and so on, then one by one. The first that succeeds ends the round."""
    files: defaultdict[str, list[FindingFix]] = defaultdict(list)
    for repair in batch:
        files[repair.fix.edits[0].at.source].append(repair)
    units = list(files.values())
    size = len(units)
    while size:
        for start in range(0, len(units), size):
            yield [repair for unit in units[start : start + size] for repair in unit]
        size //= 2
    yield from ([repair] for unit in units if len(unit) > 1 for repair in unit)


def _try(group: list[FindingFix], state: _State, read: Read, recheck: Recheck) -> _State | str:
    """The state after the repairs of `group`, or in words why it is refused."""
    edits = by_source(edit for repair in group for edit in repair.fix.edits)
    current = _reading(state, read)
    changed = edit_all(edits, current)
    if isinstance(changed, str):
        return changed
    for path, after in changed.items():
        before = current(path)
        harm = unintended(before, after, edits[path]) if isinstance(before, Source) else ""
        if harm:
            return harm
    merged = {**state.changed, **changed}
    report = recheck(merged)
    harm = _regressions(state.report, report, group, edits)
    return harm or _State(merged, report)


def _regressions(before: Report, after: Report, group: list[FindingFix], edits: Mapping[str, tuple[Edit, ...]]) -> str:
    """In words what is worse after the repairs, or nothing: their findings are gone, and there is nothing new."""
    if len(after.internal) > len(before.internal):
        return after.internal[-1].words
    shifted = shifting(edits)
    known = Counter(_key(finding, shifted) for finding in before.findings())
    left = {_key(finding): finding for finding in after.findings()}
    number = Counter(_key(finding) for finding in after.findings())
    for key, finding in left.items():
        if number[key] > known[key]:
            return f"{finding.code} would be reported instead: {finding.message}"
    fixed = Counter(_key(repair.finding, shifted) for repair in group)
    for repair in group:
        key = _key(repair.finding, shifted)
        if number[key] > known[key] - fixed[key]:
            return "the finding would stay"
    return _changed_elsewhere(before, after)


def _key(finding: Finding, shifted: Callable[[str, int], int] | None = None) -> Key:
    start = finding.at.start if shifted is None else shifted(finding.at.source, finding.at.start)
    return finding.code, finding.at.source, start


def _changed_elsewhere(before: Report, after: Report) -> str:
    """What changed of the files as a whole: what they are, and how many of their claims can't be decided."""
    known = {(file.path, file.document, file.role): file for file in before.files}
    for file in after.files:
        old = known.get((file.path, file.document, file.role))
        if old is None or old.framework != file.framework:
            return f"{file.path} would be read differently"
        judged = dict(old.rules)  # what was not judged at all, since a factor in the claim was false, can't be lost
        open_now = sum(outcome.claim and outcome.code in judged for outcome in file.undetermined)
        if open_now > sum(outcome.claim for outcome in old.undetermined):
            return f"a claim of {file.path} could no longer be decided"
    return ""
