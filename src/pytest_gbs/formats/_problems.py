"""The findings of a report in the order of reporting, each once, with the words that several formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import assumed, called, listing
from pytest_gbs.formats._escape import escape
from pytest_gbs.formats._places import Places
from pytest_gbs.model.outcome import SEVERITIES, Applicability, Finding, Undetermined
from pytest_gbs.model.record import Final
from pytest_gbs.model.report import FileReport, Report

_FLAGS: Final = {Applicability.SAFE: "", Applicability.SETTINGS: " --fix-settings", Applicability.DECLARATIONS: " --fix-declarations"}


def by_severity(report: Report) -> list[Finding]:
    """Every finding once, errors first."""
    return sorted(report.findings(), key=lambda finding: SEVERITIES.index(finding.severity))


def how_often(report: Report) -> list[tuple[tuple[str, str], int]]:
    """How many findings there are of each rule and severity, most first."""
    fired = Counter((finding.code, finding.severity) for finding in report.findings())
    return sorted(fired.items(), key=lambda item: (-item[1], item[0]))


def title(finding: Finding, report: Report) -> str:
    """The code and the name of the finding's rule: `CODE stale-declaration`."""
    return title_of(finding.code, report)


def title_of(code: str, report: Report) -> str:
    """The code and the name of a rule."""
    rule = report.rules.get(code)
    return f"{code} {rule.name}" if rule else code


def fix(finding: Finding) -> str:
    """What to change, after the word that announces it: `fix: set gradient_accumulation_steps to 2`; empty if it is not known."""
    words = finding.holds or next((fix.title for fix in finding.fixes if fix.edits), "")
    return f"fix: {words}" if words else ""


def explanation(finding: Finding) -> list[str]:
    """The arithmetic of a finding, what is assumed, and what would make it hold, a line each; not yet safe to print."""
    lines = (*finding.details, *(f"assuming {assumed(each)}" for each in finding.assumptions), fix(finding))
    return [line for line in lines if line]


def notes(finding: Finding, places: Places) -> Iterator[str]:
    """Yield the lines under a finding, each once: arithmetic, assumptions, what would make it hold. All safe to print."""
    yield from dict.fromkeys(places.words(line) for line in explanation(finding))
    yield from commands(finding, places)
    if finding.launch is not None and finding.launch.source != finding.at.source:
        yield f"launched at {places.where(finding.launch)}"


def commands(finding: Finding, places: Places) -> Iterator[str]:
    """Yield the command that makes one of the changes, if gbs can make any."""
    kinds = {each.applicability for each in finding.fixes if each.edits}
    flags = [flag for kind, flag in _FLAGS.items() if kind in kinds]
    if flags:
        path = places.path(finding.at.source)
        # The line is copied into a shell: a name that a shell would not take as it is is left out.
        yield f"run: gbs fix{f' {path}' if _is_plain(path) else ''}{', or'.join(filter(None, flags))}"


def _is_plain(path: str) -> bool:
    """Whether a shell and a command line take `path` as it is."""
    return path.isascii() and not path.startswith("-") and all(sign.isalnum() or sign in "/._-+@%=:," for sign in path)


def open_claims(report: Report) -> Iterator[tuple[FileReport, Undetermined]]:
    """Yield each claim that could not be decided, with its file."""
    for file in report.files:
        for outcome in file.undetermined:
            if outcome.claim:
                yield file, outcome


def open_claim(outcome: Undetermined) -> str:
    """What is claimed and what it implies, or what is missing to decide it; safe to print."""
    if outcome.implies:
        return escape(f"{outcome.message}: {outcome.implies}")
    missing = listing((called(name) for name in outcome.missing), last="and")
    return escape(f"{outcome.message}: {missing} unknown" if missing else outcome.message)
