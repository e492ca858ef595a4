"""From what the rules say to what a report tells, in this order, one step a line in each of them.

1. `of_run`: a recipe by itself, or as one launch runs it.
2. `without_those_of`, `of_recipe`: the launches and their recipe, each without what the other says already.
3. `as_a_parent`: a file that others take in, once all files are known.
4. `of_file`: what settings and comments silence or rate otherwise.
5. `once`, `worst`, `verdict`: what the report on the file has of it.
6. `with_more`, `noted_once`, `told_where_it_stands`: what comparing files with each other adds and leaves out.

What a step needs to know of a rule, the rule says itself (`model.rule`); no rule is known by its code or its name here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from pytest_gbs.checking.rulebook import OF_TABLE, Rulebook
from pytest_gbs.model.document import CONFIGURATIONS
from pytest_gbs.model.launch import JUDGES_NOTHING, Kind
from pytest_gbs.model.outcome import Finding, Outcome, Severity, Undetermined, Verified
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import FileReport, Role, Verdict
from pytest_gbs.model.rule import AGREED, About, Needs
from pytest_gbs.model.run import Run

# What rules said, by the code of the rule.
Outcomes: TypeAlias = Mapping[str, list[Outcome]]

_WORDS: Final = {Verified: "verified", Undetermined: "undetermined", Finding: "violated"}
_WORST: Final = ("verified", "undetermined", "violated")


class Launched(NamedTuple):
    """What the rules said of one launch of a recipe."""

    run: Run
    outcomes: Outcomes


class Silence(NamedTuple):
    """What the settings and the comments of a file keep quiet or rate otherwise: codes, severities by code, and suppressions."""

    ignored: frozenset[str]
    severity: Mapping[str, str]
    suppress: Callable[[Outcomes], Heard]


class Heard(NamedTuple):
    """What is told all the same, and how much is not."""

    outcomes: Outcomes
    suppressed: int


def of_run(told: Outcomes, run: Run, rules: Rulebook) -> Outcomes:
    """What is reported of one run, by itself or as it is launched."""
    told = at_real_places(told, run)
    told = one_for_each_cause(told, rules)
    told = as_firmly_as_is_certain(told, run, rules)
    return with_its_launch(told, run)


def of_recipe(told: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """What is reported of a recipe beside its launches."""
    return without_what_launches_decide(told, launched, rules)


def of_file(told: Outcomes, silence: Silence) -> Heard:
    """What is reported of a document, as its team has asked for it."""
    told, ignored = without_ignored(told, silence.ignored)
    told = with_severities(told, silence.severity)
    told, suppressed = silence.suppress(told)
    return Heard(told, ignored + suppressed)


# Of one run.


def at_real_places(told: Outcomes, run: Run) -> Outcomes:
    """Return outcomes at their places in real files, for a run whose document is made up of several."""
    if run.places is None:
        return told
    return {code: [_at_real_place(outcome, run) for outcome in outcomes] for code, outcomes in told.items()}


def _at_real_place(outcome: Outcome, run: Run) -> Outcome:
    if outcome.at is None:
        return outcome
    at = run.real(outcome.at)
    if not isinstance(outcome, Finding):
        return outcome._replace(at=at)
    return outcome._replace(at=at, related=tuple(each._replace(at=run.real(each.at)) for each in outcome.related))


def one_for_each_cause(told: Outcomes, rules: Rulebook) -> Outcomes:
    """Return outcomes without those of rules that a finding of another one explains."""
    return not_explained(told, told, rules)


def not_explained(told: Outcomes, by: Outcomes, rules: Rulebook) -> Outcomes:
    """Return outcomes `told` without those of rules that a finding among `by` explains."""
    found = {rules.by_code[code].name for code, outcomes in by.items() if any(isinstance(outcome, Finding) for outcome in outcomes)}
    return {code: outcomes for code, outcomes in told.items() if found.isdisjoint(rules.by_code[code].explained_by)}


def as_firmly_as_is_certain(told: Outcomes, run: Run, rules: Rulebook) -> Outcomes:
    """Return outcomes with what is not certain of a launch told less firmly.

    Errors come from scripts. Where a variable that a user may set decides about the processes, the framework need not stop.
    """
    launch = run.launch
    if launch is None or launch.start is None:
        return told
    script = launch.kind == Kind.SCRIPT
    # The command that a recipe's own comment shows leaves out what everybody fills in: the number of machines, say.
    shown = launch.at.source.endswith(CONFIGURATIONS)
    by_default = shown or any(assumption.by_default for assumption in run.assumptions)
    if script and not by_default:
        return told
    softer = {}
    for code, outcomes in told.items():
        rule = rules.by_code[code]
        kept = [outcome for outcome in outcomes if not (by_default and rule.about == About.HARDWARE and isinstance(outcome, Finding))]
        # A batch of a command in a document that was locked is meant.
        certain = rule.needs == Needs.LOCKED or (script and not shown and rule.certain_in_launch)
        softer[code] = [outcome if certain and not _assumes(outcome) else _at_most_warning(outcome) for outcome in kept]
    return softer


def _assumes(outcome: Outcome) -> bool:
    return isinstance(outcome, Finding) and bool(outcome.assumptions)


def _at_most_warning(outcome: Outcome) -> Outcome:
    grave = isinstance(outcome, Finding) and outcome.severity == Severity.ERROR
    return outcome._replace(severity=Severity.WARNING) if grave else outcome  # type: ignore[call-arg]


def with_its_launch(told: Outcomes, run: Run) -> Outcomes:
    """Return outcomes with each finding of a launch saying which launch it is about."""
    if run.launch is None:
        return told
    at = run.launch.at if run.launch.at.stop else None
    words = () if at is not None else (f"launched as {run.launch.command}",)
    return {
        code: [o._replace(launch=at, details=(*o.details, *words)) if isinstance(o, Finding) else o for o in outcomes]
        for code, outcomes in told.items()
    }


# Of a recipe and its launches.


def without_those_of(recipe: Outcomes, told: Outcomes) -> Outcomes:
    """The outcomes of a launch without findings that its recipe has by itself, however it is launched."""
    known = {(code, outcome.message) for code, outcomes in recipe.items() for outcome in outcomes if isinstance(outcome, Finding)}
    kept = {c: [o for o in outcomes if not (isinstance(o, Finding) and (c, o.message) in known)] for c, outcomes in told.items()}
    return without_empty(kept)


def without_what_launches_decide(told: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """The outcomes of a recipe without what it leaves open and one of its launches decides."""
    decided = {
        rules.by_code[code].name
        for each in launched
        for code, outcomes in each.outcomes.items()
        if any(not isinstance(outcome, Undetermined) for outcome in outcomes)
    }
    return without_empty(
        {
            code: [o for o in outcomes if not isinstance(o, Undetermined)] if rules.by_code[code].decided_by in decided else outcomes
            for code, outcomes in told.items()
        }
    )


def without_what_all_launches_override(told: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """The outcomes of a recipe without what its framework would refuse there, if no launch of the recipe runs into it."""
    launches = [each.outcomes for each in launched if each.run.launch is not None and each.run.launch.kind not in JUDGES_NOTHING]
    if not launches:
        return told

    def stays(code: str, outcome: Outcome) -> bool:
        enforced = isinstance(outcome, Finding) and rules.by_code[code].needs in OF_TABLE
        return not enforced or any(not isinstance(each, Verified) for outcomes in launches for each in outcomes.get(code, ()))

    return without_empty({code: [each for each in outcomes if stays(code, each)] for code, outcomes in told.items()})


def needs_other_hardware(told: Outcomes, rules: Rulebook) -> bool:
    """Whether something is found that may be in order on other GPUs."""
    return any(isinstance(o, Finding) for code, outcomes in told.items() if rules.by_code[code].about == About.HARDWARE for o in outcomes)


def as_a_parent(told: Outcomes, rules: Rulebook) -> Outcomes:
    """The outcomes of a file that others take in, which set GPUs of their own: without what its GPUs break."""
    return without_empty(
        {
            code: [o for o in outcomes if not isinstance(o, Finding)] if rules.by_code[code].about == About.HARDWARE else outcomes
            for code, outcomes in told.items()
        }
    )


def without_empty(told: Outcomes) -> Outcomes:
    """Return outcomes without rules that say nothing."""
    return {code: outcomes for code, outcomes in told.items() if outcomes}


# Of a file.


def as_notes(told: Outcomes, rules: Rulebook) -> Outcomes:
    """The outcomes of a file that is set aside: what is found there fails nothing, but for what users asked for themselves."""
    notes = {c for c in told if rules.by_code[c].needs not in AGREED}
    return {
        c: [o._replace(severity=Severity.INFO) if isinstance(o, Finding) and c in notes else o for o in each] for c, each in told.items()
    }


def noted_once(files: Iterable[FileReport], set_aside: Container[str]) -> Iterator[FileReport]:
    """Yield `files`, those that are set aside without what another one of them notes in the same words."""
    noted: set[tuple[str, str]] = set()
    for file in files:
        if not file.findings or file.named or file.path not in set_aside:
            yield file
            continue
        notes = {(each.code, each.message): each for each in reversed(file.findings) if each.severity == Severity.INFO}
        kept = [each for each in file.findings if each in notes.values() or each.severity != Severity.INFO]
        yield file._replace(findings=tuple(each for each in kept if (each.code, each.message) not in noted))
        noted.update(notes)


def told_where_it_stands(files: Sequence[FileReport]) -> Iterator[FileReport]:
    """Yield `files`, launchers without what the report on another file has at the place in that file where it stands."""
    known = {(each.at, each.code, each.message) for file in files for each in file.findings if each.at.source == file.path}
    for file in files:
        if file.role != Role.LAUNCHER:
            yield file
            continue
        found = (each for each in file.findings if each.at.source == file.path or (each.at, each.code, each.message) not in known)
        yield file._replace(findings=tuple(found))


def without_ignored(told: Outcomes, ignored: frozenset[str]) -> Heard:
    """Return outcomes without those of rules that the settings switch off for the file."""
    if ignored.isdisjoint(told):
        return Heard(told, 0)
    gone = sum(isinstance(outcome, Finding) for code in ignored & told.keys() for outcome in told[code])
    return Heard({code: outcomes for code, outcomes in told.items() if code not in ignored}, gone)


def with_severities(told: Outcomes, severity: Mapping[str, str]) -> Outcomes:
    """Return outcomes with findings as grave as the settings say; `severity` is by code."""
    if severity.keys().isdisjoint(told):
        return told
    return {
        code: [with_severity(outcome, severity) if isinstance(outcome, Finding) else outcome for outcome in outcomes]
        for code, outcomes in told.items()
    }


def with_severity(finding: Finding, severity: Mapping[str, str]) -> Finding:
    """`finding` as grave as the settings say; `severity` is by code."""
    return finding._replace(severity=severity[finding.code]) if finding.code in severity else finding


def merged(*several: Outcomes) -> dict[str, list[Outcome]]:
    """All outcomes together."""
    together: dict[str, list[Outcome]] = {}
    for told in several:
        for code, outcomes in told.items():
            together.setdefault(code, []).extend(outcomes)
    return together


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, by place and code, whichever of several launches it is about."""
    found = {(finding.at, finding.code, finding.message): finding for finding in findings}
    return tuple(sorted(found.values(), key=lambda finding: (finding.at.start, finding.code, finding.message)))


def worst(told: Outcomes) -> tuple[tuple[str, str], ...]:
    """Each rule that applied with its worst outcome, by code."""
    words = {code: {_WORDS[type(outcome)] for outcome in outcomes} for code, outcomes in told.items() if outcomes}
    return tuple((code, max(words[code], key=_WORST.index)) for code in sorted(words))


def verdict(told: Outcomes) -> str:
    """The verdict on a recipe that follows from all outcomes of its rules."""
    flat = [outcome for outcomes in told.values() for outcome in outcomes]
    severities = {outcome.severity for outcome in flat if isinstance(outcome, Finding)}
    if Severity.ERROR in severities:
        return Verdict.VIOLATED
    if Severity.WARNING in severities:
        return Verdict.WARNED
    if any(isinstance(outcome, Undetermined) and outcome.claim for outcome in flat):
        return Verdict.UNDETERMINED
    if any(isinstance(outcome, Verified) and outcome.decides for outcome in flat):
        return Verdict.VERIFIED
    return Verdict.UNCLAIMED


def verification(told: Outcomes, launched: Iterable[Launched]) -> Verified | None:
    """The first outcome for which a recipe may be called verified, of its own or of a launch; None if there is none."""
    flat = (outcome for each in (told, *(each.outcomes for each in launched)) for outcomes in each.values() for outcome in outcomes)
    return next((outcome for outcome in flat if isinstance(outcome, Verified) and outcome.decides), None)


def with_more(file: FileReport, findings: Iterable[Finding]) -> FileReport:
    """The report on a recipe with what comparing it with others found; a place that has a finding is not told again."""
    known = {finding.at for finding in file.findings}
    new = tuple(finding for finding in findings if finding.at not in known)
    if not new or file.role != Role.RECIPE:
        return file
    grave = file.verdict == Verdict.VIOLATED or any(finding.severity == Severity.ERROR for finding in new)
    rules = dict(file.rules) | {finding.code: _WORDS[Finding] for finding in new}
    word = Verdict.VIOLATED if grave else Verdict.WARNED
    return file._replace(findings=(*file.findings, *new), rules=tuple(sorted(rules.items())), verdict=word)
