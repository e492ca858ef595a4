"""Silencing every finding where it is: `# gbs: ignore[CODE] reason` behind its line, or above it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.fixes.apply import FixResult, Recheck, run
from pytest_gbs.fixes.editing import Read
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Lines, Location, Source
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.report import Report
from pytest_gbs.model.rule import Scope

# A comment can't silence what it says itself, nor what keeps the file from being read.
_NEVER: Final = (Scope.UNREADABLE, Scope.SUPPRESSIONS)
_PRESENT: Final = r"gbs:[ \t]*ignore[ \t]*\[(?P<codes>[^\]\r\n]*)\]"


def ignore_all(report: Report, read: Read, recheck: Recheck, reason: str = "") -> FixResult:
    """`report` with each of its findings silenced by a comment that gives `reason`, where the file can hold comments.

    Raises:
        UsageError: `reason` can't be written into a file.
    """
    words = " ".join(reason.split())
    if not words.isprintable():
        raise UsageError("the reason for --add-ignore contains a character that can't be written into a file")

    return run(report, read, recheck, lambda finding, now: offers(finding, report, now, words))


def offers(finding: Finding, report: Report, now: Read, reason: str = "") -> Iterator[Fix]:
    """Yield the comments with `reason` that may silence a finding of `report`; none where a comment can't."""
    source = now(finding.at.source)
    rule = report.rules[finding.code]
    if rule.scope not in _NEVER and isinstance(source, Source) and not source.path.lower().endswith(".json"):
        yield from _fixes(finding, source, reason)


def _fixes(finding: Finding, source: Source, reason: str) -> Iterator[Fix]:
    """Yield the comments that may silence `finding`: another code in one that is there, behind its line, above its line."""
    lines = Lines(source.text)
    number = lines.line_of(finding.at.start)
    start = lines.starts[number - 1]
    text = lines.line(number)
    stop = start + len(text)
    present = _present().search(text)
    path = source.path
    if present is not None:
        at = start + present.end("codes")
        yield _fix(finding, Edit(Location(path, at, at), "", f", {finding.code}" if present["codes"].strip() else finding.code))
        return
    comment = f"# gbs: ignore[{finding.code}]{f' {reason}' if reason else ''}"
    bare = text.rstrip(" \t")
    if not bare.endswith("\\"):
        end = start + len(bare)
        yield _fix(finding, Edit(Location(path, end, stop), source.text[end:stop], f"  {comment}" if bare else comment))
    while number > 1 and lines.line(number - 1).endswith("\\"):
        number -= 1  # a comment between the lines of one command would cut it short
    start, text = lines.starts[number - 1], lines.line(number)
    indent = text[: len(text) - len(text.lstrip())]
    ending = "\r\n" if "\r\n" in source.text else "\n"
    yield _fix(finding, Edit(Location(path, start, start), "", f"{indent}{comment}{ending}"))


def _fix(finding: Finding, edit: Edit) -> Fix:
    return Fix(f"ignore {finding.code} here", Applicability.DISPLAY, (edit,))


_present = lazy_pattern(_PRESENT)
