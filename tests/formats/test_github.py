"""The limits of GitHub: what it would drop in silence is counted aloud."""

import pytest

from pytest_gbs.formats import FormatOptions, find
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity
from pytest_gbs.model.report import FileReport, Report, Role, Verdict


def commands(*severities: str) -> list[str]:
    """The commands about one finding of each severity."""
    findings = tuple(Finding("GBS101", f"number {n}", severity, Location("a.yaml", n, n + 1)) for n, severity in enumerate(severities))
    report = Report((FileReport("a.yaml", 1, Role.RECIPE, "trl", Verdict.VIOLATED, (), findings),), {}, {})
    return [line for line in find("github").render(report, FormatOptions()).splitlines() if line.startswith("::")]


@pytest.mark.parametrize(
    ("severities", "shown", "left"),
    [
        pytest.param([Severity.ERROR] * 10, 10, 0, id="as many as it shows"),
        pytest.param([Severity.ERROR] * 10 + [Severity.WARNING] * 10, 20, 0, id="ten of each"),
        pytest.param([Severity.ERROR] * 13, 10, 3, id="more errors"),
        pytest.param([Severity.WARNING] * 11 + [Severity.ERROR], 11, 1, id="more warnings"),
        pytest.param([Severity.INFO] * 12, 9, 3, id="notices leave room for the count"),
    ],
)
def test_ten_of_each_kind_and_a_count(severities: list[str], shown: int, left: int) -> None:
    lines = commands(*severities)
    rest = [line for line in lines if line.startswith("::notice title=gbs::")]
    assert len(lines) - len(rest) == shown
    assert [line.split("::")[2].split(" more ")[0] for line in rest] == ([str(left)] if left else [])


def test_errors_come_first() -> None:
    lines = commands(Severity.INFO, Severity.WARNING, Severity.ERROR)
    assert [line.split()[0] for line in lines] == ["::error", "::warning", "::notice"]
