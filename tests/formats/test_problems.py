"""The lines under a finding: what to change, and the command that changes it."""

import pytest

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._problems import notes
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix, Severity
from pytest_gbs.model.report import Report


def _commands(path: str, *kinds: str, edits: bool = True) -> list[str]:
    at = Location(path, 0, 1)
    fixes = tuple(Fix("set a to 2", kind, (Edit(at, "1", "2"),) if edits else ()) for kind in kinds)
    finding = Finding("GBS101", "a is 1", Severity.ERROR, at, fixes=fixes)
    return [line for line in notes(finding, Places(Report((), {}, {}), FormatOptions())) if line.startswith("run: ")]


def test_what_gbs_cannot_change_has_no_command() -> None:
    assert _commands("a.yaml") == []
    assert _commands("a.yaml", Applicability.DISPLAY) == []
    assert _commands("a.yaml", Applicability.SAFE, edits=False) == []


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ((Applicability.SAFE,), "run: gbs fix r/a.yaml"),
        ((Applicability.SETTINGS,), "run: gbs fix r/a.yaml --fix-settings"),
        ((Applicability.DECLARATIONS, Applicability.SETTINGS), "run: gbs fix r/a.yaml --fix-settings, or --fix-declarations"),
    ],
)
def test_the_command_that_changes_it_is_named(kinds: tuple[str, ...], expected: str) -> None:
    assert _commands("r/a.yaml", *kinds) == [expected]


@pytest.mark.parametrize("path", ["a; rm -rf ~.yaml", "$(id).yaml", "-q.yaml", "a b.yaml", "a\nb.yaml", "`id`.yaml", "\u202ea.yaml"])
def test_a_name_that_a_shell_would_obey_is_not_part_of_the_command(path: str) -> None:
    assert _commands(path, Applicability.SAFE) == ["run: gbs fix"]


@pytest.mark.parametrize("path", ["a+b/sft.yaml", "lr=1,bs=2/sft.yaml", "100%/a@b:c.yaml"])
def test_signs_that_mean_nothing_to_a_shell_are_kept(path: str) -> None:
    assert _commands(path, Applicability.SAFE) == [f"run: gbs fix {path}"]
