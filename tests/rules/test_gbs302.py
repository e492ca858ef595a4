from pytest_gbs.model.launch import LauncherFile, Problem
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Related, Severity
from pytest_gbs.rules.gbs302_launcher_sizes_inconsistent import check

from .building import only

AT = Location("accelerate.yaml", 40, 42)
MACHINES = Location("accelerate.yaml", 20, 21)


def launcher(*problems: Problem) -> LauncherFile:
    return LauncherFile("accelerate.yaml", "accelerate", (), True, problems)


def test_a_consistent_file_has_no_outcome() -> None:
    assert list(check(launcher())) == []


def test_what_stops_the_launcher_is_an_error() -> None:
    found = only(list(check(launcher(Problem("num_processes is 7", AT, ((MACHINES, "machines"),), stops=True)))))
    assert (found.message, found.severity, found.at) == ("num_processes is 7", Severity.ERROR, AT)
    assert found.related == (Related(MACHINES, "machines"),)


def test_what_the_launcher_floors_in_silence_is_a_warning() -> None:
    found = only(list(check(launcher(Problem("10 processes on 4 machines start 8", AT, stops=False)))))
    assert found.severity == Severity.WARNING


def test_each_problem_is_a_finding() -> None:
    assert len(list(check(launcher(Problem("one", AT), Problem("two", MACHINES))))) == 2


def test_what_an_option_would_fix_is_reported_for_the_file_alone() -> None:
    found = only(list(check(launcher(Problem("no num_processes", AT, unless="--num_processes")))))
    assert found.severity == Severity.ERROR
