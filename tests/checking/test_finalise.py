"""The steps from what rules say to what a report shows, one by one."""

from collections.abc import Iterator

import pytest

from pytest_gbs.checking import finalise
from pytest_gbs.checking.finalise import Launched, Outcomes, Reported, Silence
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.launch import Kind, Launch, Start
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.outcome import Applicability, Edit, Finding, Fix, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import FileReport, Role, Verdict
from pytest_gbs.model.rule import About, Rule, Scope
from pytest_gbs.model.run import Run

from ..rules.building import parsed, run


def nothing(_: object) -> Iterator[Outcome]:
    """Yield nothing."""
    return iter(())


def rule(code: str, name: str) -> Rule:
    """A rule that finds nothing."""
    return Rule(code, name, Scope.RUN, "a rule for tests", (), (), nothing)


# Hardware, what it explains, what a launch decides, what is certain of a launch, and a rule that says nothing of itself.
BOOK = Rulebook(
    (
        rule("T1", "no-such-hardware")._replace(about=About.HARDWARE),
        rule("T2", "wrong-number")._replace(explained_by=("no-such-hardware",)),
        rule("T3", "open-claim")._replace(decided_by="launched-otherwise"),
        rule("T4", "launched-otherwise"),
        rule("T5", "both-at-once")._replace(certain_in_launch=True),
        rule("T6", "plain"),
        rule("T7", "nowhere")._replace(about=About.HARDWARE, on_any_hardware=True),
    )
)
AT = Location("sft.yaml", 3, 4)
NOT_SET = Assumption(Assuming.NOT_SET, "GPUS")


def found(code: str, message: str = "wrong", severity: str = Severity.ERROR, at: Location = AT) -> Finding:
    """A finding."""
    return Finding(code, message, severity, at)


def opened(code: str, claim: bool = True) -> Undetermined:
    """An outcome that can not be decided."""
    return Undetermined(code, AT, "says 128", claim=claim)


def reported(*outcomes: Outcome) -> dict[str, list[Outcome]]:
    """The outcomes by code."""
    by_code: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_code.setdefault(outcome.code, []).append(outcome)
    return by_code


def launched(kind: str = Kind.SCRIPT, source: str = "run.sh", *assumptions: Assumption) -> Run:
    """The run of one launch."""
    at = Location(source, 10, 20)
    launch = Launch(at, kind, "torchrun", (), start=Start("torchrun", at, (), ()))
    return run(assumptions=assumptions)._replace(launch=launch)


# Of one run.


def test_a_recipe_by_itself_is_shown_as_it_was_said() -> None:
    said = reported(found("T1"), found("T5"), opened("T3"), Verified("T6", AT))
    assert finalise.of_run(said, run(), BOOK) == said


def test_a_document_made_of_several_has_its_places_in_them() -> None:
    key: KeyPath = ("batch",)
    real, made_up, comment = Location("base.yaml", 7, 8), Location("sft.yaml", 7, 8, key), AT._replace(path=key)
    finding = found("T6", at=made_up)._replace(related=(Related(made_up, "micro"), Related(AT, "other"), Related(comment, "claimed")))
    said = reported(finding, Verified("T6", made_up), Verified("T6"))
    composed = run()._replace(document=parsed("batch: 8\n"), places={key: real})
    placed = [
        finding._replace(at=real, related=(Related(real, "micro"), Related(AT, "other"), Related(comment, "claimed"))),
        Verified("T6", real),
        Verified("T6"),
    ]
    assert finalise.at_real_places(said, composed) == {"T6": placed}
    assert finalise.at_real_places(said, run()) == said


@pytest.mark.parametrize("cause", [opened("T1"), Verified("T1")], ids=["open", "in order"])
def test_what_is_not_violated_explains_nothing(cause: Outcome) -> None:
    said = reported(cause, found("T2"))
    assert finalise.not_explained(said, said, BOOK) == said


def test_a_finding_explains_all_that_another_rule_says() -> None:
    said = reported(found("T1"), found("T2"), opened("T2"), Verified("T2"), found("T6"))
    assert finalise.not_explained(said, said, BOOK) == reported(found("T1"), found("T6"))


@pytest.mark.parametrize(
    "of",
    [
        pytest.param(run(), id="no launch"),
        pytest.param(run(assumptions=(NOT_SET,)), id="no launch, whatever is assumed"),
        pytest.param(launched(), id="a script that leaves nothing open"),
        pytest.param(launched(Kind.SCRIPT, "run.sh", Assumption(Assuming.QUOTES)), id="nothing that somebody may set"),
    ],
)
def test_what_is_certain_is_shown_as_firmly(of: Run) -> None:
    said = reported(found("T1"), found("T5"), found("T6"))
    assert finalise.as_firmly_as_is_certain(said, of, BOOK) == said


def test_a_document_warns() -> None:
    said = reported(found("T1"), found("T5"), found("T6", severity=Severity.INFO), opened("T3"))
    softer = reported(
        found("T1", severity=Severity.WARNING),
        found("T5", severity=Severity.WARNING),
        found("T6", severity=Severity.INFO),
        opened("T3"),
    )
    assert finalise.as_firmly_as_is_certain(said, launched(Kind.DOCUMENT, "README.md"), BOOK) == softer


@pytest.mark.parametrize(
    "assumption", [NOT_SET, Assumption(Assuming.LEFT_AS_IT_IS, Name.NUM_NODES, 2)], ids=["a variable", "a number to change"]
)
def test_a_variable_that_somebody_may_set_decides_about_the_gpus_and_not_about_the_rest(assumption: Assumption) -> None:
    said = reported(found("T1"), opened("T1"), found("T5"), found("T6"))
    softer = reported(opened("T1"), found("T5"), found("T6", severity=Severity.WARNING))
    assert finalise.as_firmly_as_is_certain(said, launched(Kind.SCRIPT, "run.sh", assumption), BOOK) == softer


def test_what_no_hardware_changes_stays_where_only_that_is_to_be_adapted() -> None:
    nodes = Assumption(Assuming.LEFT_AS_IT_IS, Name.NUM_NODES, 2)
    said = reported(found("T1"), found("T7"))
    stays = finalise.as_firmly_as_is_certain(said, launched(Kind.SCRIPT, "run.sh", nodes), BOOK)
    assert stays == {"T1": [], "T7": [found("T7", severity=Severity.WARNING)]}
    for of in (launched(Kind.SCRIPT, "run.sh", nodes, NOT_SET), launched(Kind.SCRIPT, "sft.yaml", nodes)):
        assert finalise.as_firmly_as_is_certain(said, of, BOOK) == {"T1": [], "T7": []}


def test_what_rests_on_an_assumption_is_not_certain_of_a_launch() -> None:
    resting = found("T5")._replace(assumptions=(NOT_SET,))
    (outcome,) = finalise.as_firmly_as_is_certain(reported(resting), launched(Kind.SCRIPT, "run.sh", NOT_SET), BOOK)["T5"]
    assert outcome == resting._replace(severity=Severity.WARNING)


def test_the_command_in_a_comment_of_the_recipe_leaves_the_number_of_machines_open() -> None:
    said = reported(found("T1"), found("T5"))
    assert finalise.as_firmly_as_is_certain(said, launched(Kind.SCRIPT, "sft.yaml"), BOOK) == {
        "T1": [],
        "T5": [found("T5", severity=Severity.WARNING)],
    }


def test_a_finding_says_which_launch_it_is_about() -> None:
    of = launched()
    assert of.launch is not None
    said = reported(found("T6"), Verified("T6", AT))
    assert finalise.with_its_launch(said, of) == {"T6": [found("T6")._replace(launch=of.launch.at), Verified("T6", AT)]}
    of_settings = of._replace(launch=of.launch._replace(at=Location("gbs.toml", 0, 0), start=None, command="small"))
    (outcome, _) = finalise.with_its_launch(said, of_settings)["T6"]
    assert outcome == found("T6")._replace(details=("launched as small",))


# Of a recipe and its launches.


def test_a_launch_says_what_its_recipe_does_not_say_by_itself() -> None:
    recipe = reported(found("T6", "as ever"), opened("T3"))
    of_launch = reported(found("T6", "as ever", at=Location("run.sh", 1, 2)), found("T6", "another"), opened("T3"), found("T5", "as ever"))
    assert finalise.without_those_of(recipe, of_launch) == reported(found("T6", "another"), opened("T3"), found("T5", "as ever"))


def test_a_launch_does_not_say_what_the_fix_of_its_recipe_fixes() -> None:
    def fixed(code: str, message: str, *numbers: str) -> Finding:
        fixes = tuple(Fix(number, Applicability.SETTINGS, (Edit(AT, "12", number),)) for number in numbers)
        return found(code, message)._replace(fixes=fixes)

    recipe = reported(fixed("T6", "12 samples per GPU", "16"), fixed("T3", "nothing helps"))
    others = fixed("T5", "96 samples", "16"), fixed("T6", "96 samples", "8"), fixed("T6", "96 samples"), fixed("T3", "of two operands")
    assert finalise.without_those_of(recipe, reported(*others)) == reported(*others)
    assert finalise.without_those_of(recipe, reported(fixed("T6", "96 samples", "16"))) == {}


@pytest.mark.parametrize(
    "of_launch",
    [
        pytest.param({}, id="nothing said"),
        pytest.param(reported(opened("T4")), id="open as well"),
        pytest.param(reported(found("T6")), id="another rule"),
    ],
)
def test_what_no_launch_decides_stays_open(of_launch: Outcomes) -> None:
    said = reported(opened("T3"), found("T6"))
    assert finalise.of_recipe(said, [Launched(launched(), of_launch)], BOOK) == said


@pytest.mark.parametrize("outcome", [found("T4"), Verified("T4")], ids=["violated", "in order"])
def test_what_a_launch_decides_is_open_no_more(outcome: Outcome) -> None:
    of_launch = [Launched(launched(), reported(outcome))]
    assert finalise.of_recipe(reported(opened("T3"), opened("T6")), of_launch, BOOK) == reported(opened("T6"))
    assert finalise.of_recipe(reported(found("T3")), of_launch, BOOK) == reported(found("T3"))


def test_a_parent_does_not_report_what_its_gpus_break() -> None:
    said = reported(found("T1"), opened("T1"), found("T6"))
    assert finalise.needs_other_hardware(said, BOOK)
    assert not finalise.needs_other_hardware(reported(opened("T1"), found("T6")), BOOK)
    assert finalise.as_a_parent(said, BOOK) == reported(opened("T1"), found("T6"))


# Of a file.


def _loud(outcomes: Outcomes) -> Reported:
    return Reported(outcomes, 0)


def test_without_settings_all_is_reported() -> None:
    said = reported(found("T1"), opened("T3"))
    assert finalise.of_file(said, Silence(frozenset(), {}, _loud)) == Reported(said, 0)


def test_settings_switch_off_and_rate_before_comments_silence() -> None:
    said = reported(found("T1"), opened("T1"), found("T5"), opened("T5"))
    asked: list[Outcomes] = []

    def suppress(outcomes: Outcomes) -> Reported:
        asked.append(outcomes)
        return Reported({}, 2)

    assert finalise.of_file(said, Silence(frozenset({"T1", "T9"}), {"T5": Severity.INFO}, suppress)) == Reported({}, 3)
    assert asked == [reported(found("T5", severity=Severity.INFO), opened("T5"))]


def stated(at: Location, written: str, change: Fix) -> Finding:
    """The finding of a claim at `at`, which `change` of a setting or another comment would fix."""
    comment = Fix(f"change {written} in the comment to 64", Applicability.DECLARATIONS, (Edit(at, written, "64"),))
    return found("T2", at=at)._replace(label="declared", fixes=(change, comment))


DOUBLED = Fix("set accumulation to 8", Applicability.SETTINGS, (Edit(AT, "4", "8"),))


def test_what_other_settings_fix_or_another_launch_has_stays_apart() -> None:
    header, below = (
        stated(Location("sft.yaml", 0, 3), "128", DOUBLED),
        stated(Location("sft.yaml", 9, 12), "128", DOUBLED._replace(title="")),
    )
    assert finalise.once([header, below]) == (header, below)
    launched = stated(below.at, "128", DOUBLED)._replace(launch=AT)
    assert finalise.once([header, launched]) == (header, launched)
    bare = [each._replace(fixes=()) for each in (header, below)]
    assert list(finalise.once(bare)) == bare


def test_two_things_that_are_wrong_in_one_place_stay_apart() -> None:
    none, several = found("T1")._replace(message="finds nothing"), found("T1")._replace(message="finds several lines")
    assert finalise.once([none, several]) == (none, several)


def test_a_number_that_is_stated_twice_is_one_finding_with_both_places() -> None:
    header, below = stated(Location("sft.yaml", 0, 3), "128", DOUBLED), stated(Location("sft.yaml", 9, 13), "0128", DOUBLED)
    (one,) = finalise.once([below, header])
    assert (one.at, one.related) == (header.at, (Related(below.at, "declared"),))
    assert one.fixes == (
        DOUBLED,
        Fix(
            "change 128 in the comment to 64 and 0128 to 64",
            Applicability.DECLARATIONS,
            (Edit(header.at, "128", "64"), Edit(below.at, "0128", "64")),
        ),
    )


def test_a_finding_that_several_launches_have_is_reported_once_in_its_place() -> None:
    later, earlier = found("T1"), found("T2", at=Location("sft.yaml", 1, 2))
    assert finalise.once([later, earlier, later._replace(launch=AT)]) == (earlier, later._replace(launch=AT))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        pytest.param({}, Verdict.UNCLAIMED, id="nothing"),
        pytest.param(reported(Verified("T6")), Verdict.UNCLAIMED, id="nothing of its batch"),
        pytest.param(reported(opened("T3", claim=False)), Verdict.UNCLAIMED, id="a constraint that waits for hardware"),
        pytest.param(reported(found("T6", severity=Severity.INFO)), Verdict.UNCLAIMED, id="advice"),
        pytest.param(reported(Verified("T6", decides=True)), Verdict.VERIFIED, id="its batch"),
        pytest.param(reported(Verified("T6", decides=True), opened("T3")), Verdict.UNDETERMINED, id="one claim open"),
        pytest.param(reported(opened("T3"), found("T6", severity=Severity.WARNING)), Verdict.WARNED, id="a warning"),
        pytest.param(reported(found("T5", severity=Severity.WARNING), found("T6")), Verdict.VIOLATED, id="an error"),
    ],
)
def test_the_verdict_is_that_of_the_worst(said: Outcomes, verdict: str) -> None:
    assert finalise.verdict(said) == verdict


def test_each_rule_has_its_worst_outcome() -> None:
    said = {**reported(found("T6"), Verified("T6"), opened("T3"), Verified("T3"), Verified("T1")), "T2": []}
    assert finalise.worst(said) == (("T1", "verified"), ("T3", "undetermined"), ("T6", "violated"))


def test_what_comparing_recipes_finds_is_added_where_nothing_was_said_yet() -> None:
    file = FileReport("sft.yaml", 1, Role.RECIPE, "trl", Verdict.VERIFIED, (("T3", "verified"),), (found("T2"),))
    assert finalise.with_more(file, [found("T6")]) == file
    assert finalise.with_more(file._replace(role=Role.LAUNCHER), [found("T6", at=Location("sft.yaml", 9, 10))]).findings == (found("T2"),)
    warning = found("T6", severity=Severity.WARNING, at=Location("sft.yaml", 9, 10))
    more = finalise.with_more(file, [warning])
    assert (more.verdict, more.findings, more.rules) == (Verdict.WARNED, (found("T2"), warning), (("T3", "verified"), ("T6", "violated")))
    assert finalise.with_more(file._replace(verdict=Verdict.VIOLATED), [warning]).verdict == Verdict.VIOLATED
    assert finalise.with_more(file, [warning._replace(severity=Severity.ERROR)]).verdict == Verdict.VIOLATED
