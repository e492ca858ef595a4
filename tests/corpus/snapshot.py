"""What the corpus comes to, as one page that is read before it is accepted: `python -m tests.corpus.snapshot --update`.

It names no line of any recipe: counts by verdict and rule for each repository, the findings as file, rule and message, and the global
batch of each recipe that has one.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from pytest_gbs.model.report import Report, Role
from tests.corpus.laid_out import report_on, repositories

FILE = Path(__file__).with_name("snapshot.json")


def summary() -> dict[str, Any]:
    """The whole page."""
    return {part: {folder.name: _repository(report_on(folder)) for folder in repositories(part)} for part in ("files", "negatives")}


def _repository(report: Report) -> dict[str, Any]:
    verdicts = Counter(file.verdict for file in report.recipes())
    launchers = sum(file.role == Role.LAUNCHER for file in report.files)
    page: dict[str, Any] = {"files": len(report.files)}
    if launchers:
        page["launchers"] = launchers
    page.update({f"{verdict}": number for verdict, number in sorted(verdicts.items(), key=str)})
    findings = [f"{finding.at.source}: {finding.code} {finding.severity}: {finding.message}" for finding in report.findings()]
    if findings:
        page["findings"] = findings
    undetermined = [f"{o.at.source}: {o.message}, {o.implies}" for file in report.files for o in file.undetermined if o.claim]
    if undetermined:
        page["undetermined"] = undetermined
    batches = {file.path: batch for file in report.recipes() if (batch := file.runs[0].geometry.global_batch_size)}
    if batches:
        page["global_batch_size"] = batches
    return page


def text() -> str:
    """The page as it is stored."""
    return json.dumps(summary(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if "--update" in sys.argv:
        FILE.write_text(text(), encoding="utf-8")
    else:
        sys.stdout.write(text())
