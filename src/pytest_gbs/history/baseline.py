"""Known and accepted findings: counted per file, rule and key path, so that moved lines do not matter."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.limits import MOST_KNOWN
from pytest_gbs.model.location import dotted
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Report, Verdict

VERSION: Final = 1


class BaselineEntry(NamedTuple):
    """What findings of one kind have in common: their file, their rule, and the key that they are at ("" for none)."""

    path: str
    rule: str
    key: str


def entries(report: Report) -> Counter[BaselineEntry]:
    """How many findings of each kind `report` has."""
    return Counter(_entry(finding) for finding in report.findings())


def _entry(finding: Finding) -> BaselineEntry:
    return BaselineEntry(finding.at.source, finding.code, dotted(finding.at.path or ()))


def render(known: Mapping[BaselineEntry, int]) -> str:
    """A baseline as text: JSON, sorted, a line for each entry, so that two branches merge."""
    lines = [
        json.dumps({"path": entry.path, "rule": entry.rule, "key": entry.key, "count": count})
        for entry, count in sorted(known.items())
        if count > 0
    ]
    body = ",\n    ".join(lines)
    return f'{{\n  "version": {VERSION},\n  "findings": [{f"{chr(10)}    {body}{chr(10)}  " if body else ""}]\n}}\n'


def parse(text: str, name: str) -> Counter[BaselineEntry]:
    """The baseline that `text` of file `name` is.

    Raises:
        UsageError: it is none.
    """
    if any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.splitlines()):
        raise UsageError(f"{name} contains merge conflict markers: keep the lines of both sides, or run --write-baseline")
    try:
        value: Any = json.loads(text)
    except RecursionError as error:
        raise UsageError(f"{name} is not a baseline: nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"{name} is not a baseline: {error}") from error
    if not isinstance(value, dict) or value.get("version") != VERSION or not isinstance(value.get("findings"), list):
        raise UsageError(f"{name} is not a baseline of version {VERSION}; --write-baseline writes one")
    known: Counter[BaselineEntry] = Counter()
    for number, item in enumerate(value["findings"], 1):
        known[_read(item, number, name)] += item["count"]
    return known


def _read(item: Any, number: int, name: str) -> BaselineEntry:
    if not isinstance(item, dict) or not all(type(item.get(key)) is str for key in ("path", "rule", "key")):
        raise UsageError(f"{name}: entry {number} has no path, rule and key")
    if type(item.get("count")) is not int or not 1 <= item["count"] <= MOST_KNOWN:
        raise UsageError(f"{name}: the count of entry {number} is not a whole number from 1 to {MOST_KNOWN:,}")
    return BaselineEntry(item["path"], item["rule"], item["key"])


def without(report: Report, known: Mapping[BaselineEntry, int]) -> Report:
    """`report` without the findings of `known`, which count as suppressed; of more than are known the last ones stay."""
    left = Counter(known)
    gone = set[object]()
    for finding in report.findings():
        entry = _entry(finding)
        if left[entry] > 0:
            left[entry] -= 1
            gone.add(finding.identity)
    return report._replace(files=tuple(_without(file, gone) for file in report.files)) if gone else report


def _without(file: FileReport, gone: set[object]) -> FileReport:
    findings, elsewhere = (tuple(each for each in found if each.identity not in gone) for found in (file.findings, file.elsewhere))
    number = len(file.findings) - len(findings)
    if not number and len(elsewhere) == len(file.elsewhere):
        return file
    word = _verdict(file, (*findings, *elsewhere))
    return file._replace(findings=findings, elsewhere=elsewhere, suppressed=file.suppressed + number, verdict=word)


def _verdict(file: FileReport, findings: Iterable[Finding]) -> str | None:
    """The verdict that remains: a recipe whose findings are all accepted is unclaimed, never verified."""
    if file.verdict not in (Verdict.VIOLATED, Verdict.WARNED):
        return file.verdict
    severities = {finding.severity for finding in findings}
    if Severity.ERROR in severities:
        return Verdict.VIOLATED
    if Severity.WARNING in severities:
        return Verdict.WARNED
    return Verdict.UNDETERMINED if any(outcome.claim for outcome in file.undetermined) else Verdict.UNCLAIMED


def stale(report: Report, known: Mapping[BaselineEntry, int], targets: Iterable[str]) -> Counter[BaselineEntry]:
    """The entries of `known` below `targets` that occur no longer, or less often, with how often less."""
    now = entries(report)
    return Counter({entry: count - now[entry] for entry, count in known.items() if count > now[entry] and _below(entry.path, targets)})


def _below(path: str, targets: Iterable[str]) -> bool:
    return any(target in ("", path) or (target.endswith("/") and path.startswith(target)) for target in targets)


def in_words(missing: Mapping[BaselineEntry, int]) -> Iterator[str]:
    """Yield each entry that occurs no longer for people: file, code and key (`recipes/a.yaml CODE at learning_rate`)."""
    for entry, count in sorted(missing.items()):
        times = f" ({count} times)" if count > 1 else ""
        yield f"{entry.path} {entry.rule}{f' at {entry.key}' if entry.key else ''}{times}"
