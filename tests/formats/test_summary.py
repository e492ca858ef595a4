"""The summary: numbers, singular and plural, and what follows from them."""

import pytest

from pytest_gbs.formats import FormatOptions
from pytest_gbs.formats._places import Places
from pytest_gbs.formats._summary import headline, remarks
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding, Severity, Undetermined
from pytest_gbs.model.report import FileReport, Report, Role, Verdict
from pytest_gbs.rules import rules

EIGHT = Assumption(Assuming.FILES_NEARBY, "gpus_per_node", 8, 3, "zero3.yaml:16  num_processes: 8")


def recipes(*verdicts: str, assumptions: tuple[Assumption, ...] = ()) -> tuple[FileReport, ...]:
    """A recipe for each verdict."""
    held = (("GBS101", "verified"),)
    return tuple(
        FileReport(f"{n}.yaml", 1, Role.RECIPE, "trl", verdict, held, assumptions=assumptions) for n, verdict in enumerate(verdicts)
    )


def launchers(number: int) -> tuple[FileReport, ...]:
    """So many launcher files."""
    return tuple(FileReport(f"l{n}.yaml", 1, Role.LAUNCHER, None, None) for n in range(number))


def scripts(*launches: int) -> tuple[FileReport, ...]:
    """A script for each number of launches, none of which is a recipe of its own."""
    return tuple(FileReport(f"s{n}.sh", 1, Role.LAUNCHER, None, None, launches=number) for n, number in enumerate(launches))


def report(*files: FileReport, advice: str = "") -> Report:
    """A report on files."""
    return Report(files, {}, {rule.code: rule for rule in rules()}, advice)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param((), "no recipe in 0 files", id="nothing"),
        pytest.param(launchers(1), "no recipe in 1 file, 1 launcher", id="a launcher alone"),
        pytest.param(recipes(Verdict.VERIFIED), "1 recipe in 1 file: 1 verified", id="one"),
        pytest.param(scripts(1), "1 launch in 1 file, no recipe", id="a script alone"),
        pytest.param(scripts(2, 3), "5 launches in 2 files, no recipe", id="scripts alone"),
        pytest.param((*scripts(2), *launchers(1)), "2 launches in 2 files, 1 launcher, no recipe", id="a script and its launcher file"),
        pytest.param(
            (*scripts(2), *recipes(Verdict.VERIFIED)), "1 recipe in 2 files, 2 launches: 1 verified", id="a script and its recipe"
        ),
        pytest.param(
            (*recipes(*[Verdict.VERIFIED] * 2, Verdict.VIOLATED, *[Verdict.UNCLAIMED] * 19), *launchers(3)),
            "22 recipes in 25 files, 3 launchers: 2 verified, 1 violated, 19 unclaimed",
            id="as in the design",
        ),
        pytest.param(
            (*recipes(Verdict.UNCLAIMED), FileReport("0.yaml", 2, Role.RECIPE, "trl", Verdict.WARNED, suppressed=2)),
            "2 recipes in 1 file: 1 warned, 1 unclaimed, 2 findings suppressed",
            id="two documents of one file",
        ),
    ],
)
def test_headline(files: tuple[FileReport, ...], expected: str) -> None:
    assert headline(report(*files)) == expected


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param([Verdict.UNCLAIMED], [], id="nothing rests on it"),
        pytest.param([Verdict.VERIFIED], ["verified assumes"], id="one"),
        pytest.param([Verdict.VERIFIED] * 2, ["verified assume"], id="two"),
        pytest.param([Verdict.VERIFIED, Verdict.VIOLATED], ["verified and violated assume"], id="both"),
    ],
)
def test_assumptions_are_said_once_with_the_setting_that_makes_them_facts(verdicts: list[str], expected: list[str]) -> None:
    found = [line for line in reported(report(*recipes(*verdicts, assumptions=(EIGHT,)))) if "assume" in line]
    rest = " 8 GPUs per node (3 launcher files agree); if that is right, set gpus-per-node = 8 in [tool.gbs]"
    assert found == [line + rest for line in expected]


def test_an_assumption_of_some_says_of_how_many() -> None:
    files = (*recipes(Verdict.VERIFIED, assumptions=(EIGHT,)), *(f._replace(path="x.yaml") for f in recipes(Verdict.VERIFIED)))
    assert reported(report(*files))[0].startswith("1 of 2 verified assumes 8 GPUs per node")


def test_an_open_claim_has_a_line_of_its_own_and_the_advice_comes_last() -> None:
    at = Location("0.yaml", 0, 0)
    open_claims = (
        Undetermined("GBS101", at, "comment says 128", ("gpus_per_node",), "true with 8 GPUs per node"),
        Undetermined("GBS101", at, "comment says 64", ("world_size", "micro_batch_size")),
        Undetermined("GBS205", at, "a constraint that waits for hardware", ("world_size",), claim=False),
    )
    file = recipes(Verdict.UNDETERMINED)[0]._replace(undetermined=open_claims)
    assert reported(
        report(file, advice="set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides 1 claim")
    ) == [
        "undetermined: 0.yaml:1:1  comment says 128: true with 8 GPUs per node",
        "undetermined: 0.yaml:1:1  comment says 64: GPUs and micro batch size unknown",
        "nothing was verified",
        "set gpus-per-node in [tool.gbs] to the number of GPUs on each of your nodes: it decides 1 claim",
    ]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        pytest.param([], False, id="no recipe"),
        pytest.param([Verdict.VERIFIED, Verdict.UNCLAIMED], False, id="something was"),
        pytest.param([Verdict.VIOLATED], False, id="something was judged"),
        pytest.param([Verdict.UNCLAIMED] * 3, True, id="only unclaimed"),
        pytest.param([Verdict.WARNED], True, id="a warning verifies nothing"),
    ],
)
def test_it_says_where_nothing_was_verified(verdicts: list[str], expected: bool) -> None:
    assert ("nothing was verified" in reported(report(*recipes(*verdicts)))) is expected


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        pytest.param(launchers(2), False, id="launcher files"),
        pytest.param((*scripts(2), *recipes(Verdict.UNCLAIMED)), False, id="a recipe beside them"),
        pytest.param(scripts(2), True, id="launches alone"),
    ],
)
def test_it_says_what_to_do_with_launches_alone(files: tuple[FileReport, ...], expected: bool) -> None:
    assert any("gbs lock records them" in line for line in reported(report(*files))) is expected


def reported(about: Report) -> list[str]:
    return list(remarks(about, Places(about, FormatOptions())))


def test_recipes_without_a_claim_that_holds_are_consistent() -> None:
    checked = FileReport("9.yaml", 1, Role.RECIPE, "trl", Verdict.VERIFIED, (("GBS101", "undetermined"), ("GBS202", "verified")))
    found = report(*recipes(Verdict.VERIFIED, Verdict.UNCLAIMED), checked)
    assert headline(found) == "3 recipes in 3 files: 1 verified, 1 consistent, 1 unclaimed"
    assuming = found._replace(files=tuple(each._replace(assumptions=(EIGHT,)) for each in found.files))
    assert reported(assuming)[0].startswith("verified and consistent assume 8 GPUs per node")
    assert reported(found._replace(files=(*found.files[:2], checked._replace(assumptions=(EIGHT,)))))[0].startswith("consistent assumes 8")
    assert "consistent: this recipe states no batch size, and passes the framework's own checks; gbs lock protects it" in reported(found)
    twice = found._replace(files=(*found.files, checked._replace(path="10.yaml")))
    assert "consistent: these recipes state no batch size, and pass the framework's own checks; gbs lock protects them" in reported(twice)


def test_recipes_of_which_nothing_can_be_locked_are_not_said_to_be_protected() -> None:
    found = report(*recipes(Verdict.UNCLAIMED, Verdict.UNCLAIMED))
    bare = tuple(each._replace(rules=()) for each in found.files)
    some, none = (found._replace(files=(first, bare[1]._replace(unknown=True))) for first in (bare[0], bare[0]._replace(unknown=True)))
    assert reported(some)[0].endswith("gbs lock protects all but 1, of which not even the batch of one GPU is known")
    assert "gbs lock can't protect them, since not even the batch of one GPU is known: gbs show says what is missing" in reported(none)[0]


@pytest.mark.parametrize(("rule", "expected"), [("GBS202", "1 consistent"), ("GBS101", "1 verified"), ("GBS106", "1 verified")])
def test_what_a_name_says_is_a_claim_that_holds(rule: str, expected: str) -> None:
    checked = FileReport("bs128.yaml", 1, Role.RECIPE, "trl", Verdict.VERIFIED, ((rule, "verified"),))
    assert headline(report(checked)) == f"1 recipe in 1 file: {expected}"


@pytest.mark.parametrize(("path", "expected"), [("run.sh", ", 1 launcher: 1 launcher"), ("train.py", ": 1 program")])
def test_a_program_with_findings_is_not_a_launcher(path: str, expected: str) -> None:
    found = Finding("GBS405", "a schedule", Severity.WARNING, Location(path, 0, 1))
    checked = FileReport(path, 1, Role.LAUNCHER, "", None, (), findings=(found,))
    assert headline(report(checked)) == f"no recipe in 1 file{expected} with findings; 1 warning"


@pytest.mark.parametrize(("suppressed", "expected"), [(0, True), (1, False)])
def test_a_recipe_whose_findings_are_suppressed_may_state_a_batch(suppressed: int, expected: bool) -> None:
    checked = FileReport("a.yaml", 1, Role.RECIPE, "trl", Verdict.UNCLAIMED, (), suppressed=suppressed)
    assert any("states no batch size" in line for line in reported(report(checked))) is expected


def test_findings_are_counted() -> None:
    at = Location("0.yaml", 0, 1)
    findings = tuple(
        Finding("GBS101", f"{n}", severity, at)
        for n, severity in enumerate((Severity.ERROR, Severity.ERROR, Severity.WARNING, Severity.INFO))
    )
    found = report(recipes(Verdict.VIOLATED)[0]._replace(findings=findings))
    assert headline(found) == "1 recipe in 1 file: 1 violated; 2 errors, 1 warning"


def unset(*names: str) -> tuple[Assumption, ...]:
    """That these variables are not set."""
    return tuple(Assumption(Assuming.NOT_SET, name) for name in names)


@pytest.mark.parametrize(
    ("assumptions", "expected"),
    [
        pytest.param([unset("A")], ["verified assumes A is not set"], id="one"),
        pytest.param([unset("A", "2")], ["verified assumes A is not set", "verified assumes argument 2 is not given"], id="an argument"),
        pytest.param([unset("A"), unset("A")], ["verified assume A is not set"], id="two recipes"),
        pytest.param([unset("A", "B")], ["verified assumes A and B are not set"], id="two"),
        pytest.param([unset("A"), unset("B"), ()], ["2 of 3 verified assume A and B are not set"], id="each of another recipe"),
        pytest.param([unset(*"ABCDEF")], ["verified assumes A, B, C, D, E and F are not set"], id="six"),
        pytest.param([unset(*"ABCDEFG")], ["verified assumes A, B, C, D, E and 2 more variables are not set"], id="seven"),
    ],
)
def test_variables_that_are_assumed_not_to_be_set_are_one_line(assumptions: list[tuple[Assumption, ...]], expected: list[str]) -> None:
    files = [recipes(Verdict.VERIFIED, assumptions=each)[0]._replace(path=f"{n}.yaml") for n, each in enumerate(assumptions)]
    about = report(*files)
    assert [line for line in remarks(about, Places(about, FormatOptions())) if "assume" in line] == expected
