"""What `--strict` makes of a report: claims that can't be decided, and recipes without a claim, are errors."""

from __future__ import annotations

from pytest_gbs.formats._problems import open_claim
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity, Undetermined
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.model.settings import Settings


def tighten(report: Report, settings: Settings) -> Report:
    """`report` as strictly as `settings` ask; verdicts stay what they are."""
    if not settings.strict and not settings.strict_all:
        return report
    missing = next((code for code, rule in report.rules.items() if rule.of_unclaimed), "")
    return report._replace(files=tuple(_tighten(file, settings, missing) for file in report.files), advice=report.advice)


def _tighten(file: FileReport, settings: Settings, missing: str) -> FileReport:
    """What is reported of one file; `missing` is the code of the rule about recipes without a claim."""
    added = [_open(outcome) for outcome in file.undetermined if outcome.claim]
    claimless = settings.strict_all and file.role == Role.RECIPE and file.verdict == Verdict.UNCLAIMED
    if claimless and not any(finding.code == missing for finding in file.findings):
        message = "the recipe does not state its global batch size, and --strict=all requires it"
        added.append(Finding(missing, message, Severity.ERROR, Location(file.path)))
    findings = tuple(f._replace(severity=Severity.ERROR) if claimless and f.code == missing else f for f in file.findings)
    return file._replace(findings=(*findings, *added)) if added or findings != file.findings else file


def _open(outcome: Undetermined) -> Finding:
    """The finding of a claim that can't be decided."""
    return Finding(outcome.code, f"can't be decided: {open_claim(outcome)}", Severity.ERROR, outcome.at, "declared")
