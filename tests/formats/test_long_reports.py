"""A report of thousands of findings: its text is in memory, and nothing else that grows as much."""

import sys
import tracemalloc

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats.text import render
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.rules import rules

SOURCE = Source("a.yaml", "per_device_train_batch_size: 4\n", encoding="utf-8")


def test_the_text_is_there_twice_at_most() -> None:
    findings = tuple(
        Finding("GBS101", f"comment {n} says 128, but the settings give 256", Severity.ERROR, Location("a.yaml", 0, 30))
        for n in range(3_000)
    )
    file = FileReport("a.yaml", 1, Role.RECIPE, "trl", Verdict.VIOLATED, findings=findings)
    report = Report((file,), {"a.yaml": SOURCE}, {rule.code: rule for rule in rules()})
    render(report, FormatOptions())
    tracemalloc.start()
    text = render(report, FormatOptions())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert text.endswith("\n")
    assert most < 2.8 * sys.getsizeof(text)
