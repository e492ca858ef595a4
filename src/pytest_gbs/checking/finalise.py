"""From the outcomes of rules to the findings of a report, one step a line, in this order.

1. `of_run`: a recipe by itself, or as one launch runs it.
2. `without_those_of`, `of_recipe`: the launches and their recipe, each without what the other says already.
3. `as_a_parent`: a file that others include, once all files are known.
4. `of_file`: what settings and comments silence or rate otherwise.
5. `once`, `worst`, `verdict`: what the report on the file has of it.
6. `with_more`, `without_notes`: what comparing files with each other adds and leaves out.
7. `in_cells`: where a person sees it in a notebook.

What a step needs to know of a rule, the rule says itself (`model.rule`); no rule is known by its code or its name here.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping

from pytest_gbs.checking.rulebook import OF_TABLE, Rulebook
from pytest_gbs.model.assumption import Assuming
from pytest_gbs.model.document import CONFIGURATIONS
from pytest_gbs.model.launch import JUDGES_NOTHING, Kind
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Applicability, Finding, Outcome, Related, Severity, Undetermined, Verified
from pytest_gbs.model.record import Final, NamedTuple, TypeAlias
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
    suppress: Callable[[Outcomes], Reported]


class Reported(NamedTuple):
    """What is reported all the same, and how much is not."""

    outcomes: Outcomes
    suppressed: int


def of_run(outcomes: Outcomes, run: Run, rules: Rulebook) -> Outcomes:
    """What is reported of one run, by itself or as it is launched."""
    outcomes = at_real_places(outcomes, run)
    outcomes = not_explained(outcomes, outcomes, rules)
    outcomes = as_firmly_as_is_certain(outcomes, run, rules)
    return with_its_launch(outcomes, run)


def of_recipe(outcomes: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """What is reported of a recipe beside its launches."""
    return without_what_launches_decide(outcomes, launched, rules)


def of_file(outcomes: Outcomes, silence: Silence) -> Reported:
    """What is reported of a document, as its team has asked for it."""
    outcomes, ignored = without_ignored(outcomes, silence.ignored)
    outcomes = with_severities(outcomes, silence.severity)
    outcomes, suppressed = silence.suppress(outcomes)
    return Reported(outcomes, ignored + suppressed)


# Of one run.


def at_real_places(outcomes: Outcomes, run: Run) -> Outcomes:
    """The outcomes at their places in real files, for a run whose document is made up of several."""
    if run.places is None:
        return outcomes
    return {code: [_at_real_place(outcome, run) for outcome in of_rule] for code, of_rule in outcomes.items()}


def _at_real_place(outcome: Outcome, run: Run) -> Outcome:
    if outcome.at is None:
        return outcome
    at = run.real(outcome.at)
    if not isinstance(outcome, Finding):
        return outcome._replace(at=at)
    return outcome._replace(at=at, related=tuple(each._replace(at=run.real(each.at)) for each in outcome.related))


def not_explained(outcomes: Outcomes, by: Outcomes, rules: Rulebook) -> Outcomes:
    """The `outcomes` without those of rules that a finding among `by` explains."""
    found = {rules.by_code[code].name for code, of_rule in by.items() if any(isinstance(outcome, Finding) for outcome in of_rule)}
    return {code: of_rule for code, of_rule in outcomes.items() if found.isdisjoint(rules.by_code[code].explained_by)}


def as_firmly_as_is_certain(outcomes: Outcomes, run: Run, rules: Rulebook) -> Outcomes:
    """The outcomes, less firm where a launch leaves them uncertain.

    Only scripts give errors, and of a test only what stops it is reported. Where a variable that a user may set decides about the
    processes, the framework need not stop.
    """
    launch = run.launch
    if launch is None or launch.start is None:
        return outcomes
    script = launch.kind == Kind.SCRIPT
    # The command that a recipe's own comment shows leaves out what each user fills in: the number of machines, say.
    shown = launch.at.source.endswith(CONFIGURATIONS)
    open_to_users = {assumption.kind for assumption in run.assumptions if assumption.by_default}
    by_default = shown or bool(open_to_users)
    if script and not by_default:
        return outcomes
    weakened = {}
    for code, of_rule in outcomes.items():
        rule = rules.by_code[code]
        # A comment asks to adapt hardware alone.
        stays = rule.on_any_hardware and not shown and open_to_users == {Assuming.LEFT_AS_IT_IS}
        dropped = by_default and rule.about == About.HARDWARE and not stays
        kept = [outcome for outcome in of_rule if not (dropped and isinstance(outcome, Finding))]
        if launch.kind == Kind.TEST and rule.needs not in AGREED:
            kept = [outcome for outcome in kept if not isinstance(outcome, Finding) or outcome.severity == Severity.ERROR]
        # A batch of a command in a document that was locked is meant.
        certain = rule.needs == Needs.LOCKED or (script and not shown and rule.certain_in_launch)
        weakened[code] = [each if certain and not getattr(each, "assumptions", ()) else _at_most_warning(each) for each in kept]
    return weakened


def _at_most_warning(outcome: Outcome) -> Outcome:
    is_error = isinstance(outcome, Finding) and outcome.severity == Severity.ERROR
    return outcome._replace(severity=Severity.WARNING) if is_error else outcome  # type: ignore[call-arg]


def with_its_launch(outcomes: Outcomes, run: Run) -> Outcomes:
    """The outcomes, each finding of a launch with the launch that it is about."""
    if run.launch is None:
        return outcomes
    at = run.launch.at if run.launch.at.stop else None
    words = () if at is not None else (f"launched as {run.launch.command}",)
    return _with_findings(outcomes, lambda _, found: found._replace(launch=at, details=(*found.details, *words)))


# Of a recipe and its launches.


def without_those_of(recipe: Outcomes, outcomes: Outcomes) -> Outcomes:
    """The outcomes of a launch without findings that its recipe has anyway, and those that a fix of the recipe removes."""
    found = [(code, outcome) for code, of_rule in recipe.items() for outcome in of_rule if isinstance(outcome, Finding)]
    known = {(code, finding.message) for code, finding in found}
    fixed = {(code, finding.fixes) for code, finding in found if any(fix.edits for fix in finding.fixes)}

    def stays(code: str, outcome: Outcome) -> bool:
        return not isinstance(outcome, Finding) or ((code, outcome.message) not in known and (code, outcome.fixes) not in fixed)

    return kept(outcomes, stays)


def without_what_launches_decide(outcomes: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """The outcomes of a recipe without what it leaves open and one of its launches decides."""
    decided = {
        rules.by_code[code].name
        for each in launched
        for code, of_rule in each.outcomes.items()
        if any(not isinstance(outcome, Undetermined) for outcome in of_rule)
    }
    return kept(outcomes, lambda code, outcome: not isinstance(outcome, Undetermined) or rules.by_code[code].decided_by not in decided)


def without_what_all_launches_override(outcomes: Outcomes, launched: Iterable[Launched], rules: Rulebook) -> Outcomes:
    """The outcomes of a recipe without what its framework would refuse there, if no launch of the recipe runs into it."""
    launches = [each for each in launched if each.run.launch is not None and each.run.launch.kind not in JUDGES_NOTHING]
    if not launches:
        return outcomes

    def stays(code: str, outcome: Outcome) -> bool:
        rule = rules.by_code[code]
        if not isinstance(outcome, Finding):
            return True
        if rule.about == About.VALUE:
            return any(_has_value_at(each.run, outcome.at) for each in launches)
        return rule.needs not in OF_TABLE or any(not isinstance(o, Verified) for each in launches for o in each.outcomes.get(code, ()))

    return kept(outcomes, stays)


def _has_value_at(run: Run, at: Location) -> bool:
    """Whether the value that `run` has for a key is the one at `at`, rather than one from elsewhere."""
    own = run.document.locate(at.path) if at.path is not None else at
    places = (run.real(own),) if own is not None else (run.places or {}).values()  # which may spell the key otherwise
    return any((place.source, place.start) == (at.source, at.start) for place in places)


def needs_other_hardware(outcomes: Outcomes, rules: Rulebook) -> bool:
    """Whether something is found that may be in order on other GPUs."""
    return any(isinstance(o, Finding) for code, of_rule in outcomes.items() if rules.by_code[code].about == About.HARDWARE for o in of_rule)


def as_a_parent(outcomes: Outcomes, rules: Rulebook) -> Outcomes:
    """The outcomes of a file that others include, which set GPUs of their own: without what its GPUs break."""
    return kept(outcomes, lambda code, outcome: not isinstance(outcome, Finding) or rules.by_code[code].about != About.HARDWARE)


def kept(outcomes: Outcomes, stays: Callable[[str, Outcome], bool]) -> Outcomes:
    """The outcomes that stay, without rules that say nothing then."""
    return {code: left for code, of_rule in outcomes.items() if (left := [each for each in of_rule if stays(code, each)])}


def _with_findings(outcomes: Outcomes, changed: Callable[[str, Finding], Finding]) -> Outcomes:
    """The outcomes with each finding as it is `changed`."""
    return {code: [changed(code, o) if isinstance(o, Finding) else o for o in of_rule] for code, of_rule in outcomes.items()}


# Of a file.


def as_notes(outcomes: Outcomes, rules: Rulebook) -> Outcomes:
    """The outcomes of a secondary file: findings there fail nothing, except those of policies and locks that users set themselves."""
    notes = {code for code in outcomes if rules.by_code[code].needs not in AGREED}
    return _with_findings(outcomes, lambda code, found: found._replace(severity=Severity.INFO) if code in notes else found)


def without_notes(files: Iterable[FileReport], secondary_files: Container[str]) -> Iterator[FileReport]:
    """Yield `files`, the secondary ones without what is a note there: a test or a copy is not changed for the sake of its batch."""
    for file in files:
        if not file.findings or file.named or file.path not in secondary_files:
            yield file
        else:
            yield file._replace(findings=tuple(each for each in file.findings if each.severity != Severity.INFO))


def without_ignored(outcomes: Outcomes, ignored: frozenset[str]) -> Reported:
    """The outcomes without those of rules that the settings switch off for the file."""
    if ignored.isdisjoint(outcomes):
        return Reported(outcomes, 0)
    gone = sum(isinstance(outcome, Finding) for code in ignored & outcomes.keys() for outcome in outcomes[code])
    return Reported({code: of_rule for code, of_rule in outcomes.items() if code not in ignored}, gone)


def with_severities(outcomes: Outcomes, severity: Mapping[str, str]) -> Outcomes:
    """The outcomes with the severities of the settings; `severity` is by code."""
    if severity.keys().isdisjoint(outcomes):
        return outcomes
    return _with_findings(outcomes, lambda _, found: with_severity(found, severity))


def with_severity(finding: Finding, severity: Mapping[str, str]) -> Finding:
    """`finding` as severe as the settings say; `severity` is by code."""
    return finding._replace(severity=severity[finding.code]) if finding.code in severity else finding


def merged(*several: Outcomes) -> dict[str, list[Outcome]]:
    """All outcomes together."""
    together: dict[str, list[Outcome]] = {}
    for outcomes in several:
        for code, of_rule in outcomes.items():
            together.setdefault(code, []).extend(of_rule)
    return together


def once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each finding once, by place and code, whichever of several launches it is about; a number that is stated twice is one finding."""
    found = {finding.identity: finding for finding in findings}
    return tuple(_stated_once(sorted(found.values(), key=lambda finding: (finding.at.start, finding.code, finding.message))))


def _stated_once(findings: Iterable[Finding]) -> Iterable[Finding]:
    """The `findings`; those of one number that a file states in several places, with the same fix, become one."""
    firsts: dict[object, Finding] = {}
    for finding in findings:
        fixes = frozenset(fix for fix in finding.fixes if fix.applicability == Applicability.SETTINGS)
        about = (finding.code, finding.message, finding.launch, fixes) if fixes else finding.identity
        first = firsts.get(about)
        firsts[about] = finding if first is None else _with_another_place(first, finding)
    return firsts.values()


def _with_another_place(first: Finding, again: Finding) -> Finding:
    """The `first` finding with the place of a second one, which the same change fixes."""
    edits = [edit for fix in again.fixes if fix.applicability == Applicability.DECLARATIONS for edit in fix.edits]
    more = "".join(f" and {edit.expected} to {edit.replacement}" for edit in edits)
    fixes = (
        fix._replace(title=fix.title + more, edits=(*fix.edits, *edits)) if fix.applicability == Applicability.DECLARATIONS else fix
        for fix in first.fixes
    )
    return first._replace(related=(*first.related, Related(again.at, again.label)), fixes=tuple(fixes))


def worst(outcomes: Outcomes) -> tuple[tuple[str, str], ...]:
    """Each rule that applied with its worst outcome, by code."""
    words = {code: {_WORDS[type(outcome)] for outcome in of_rule} for code, of_rule in outcomes.items() if of_rule}
    return tuple((code, max(words[code], key=_WORST.index)) for code in sorted(words))


def verdict(outcomes: Outcomes) -> str:
    """The verdict on a recipe that follows from all outcomes of its rules."""
    flat = [outcome for of_rule in outcomes.values() for outcome in of_rule]
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


def verification(outcomes: Outcomes, launched: Iterable[Launched]) -> Verified | None:
    """The first outcome for which a recipe may be called verified, of its own or of a launch; None if there is none."""
    flat = (outcome for each in (outcomes, *(each.outcomes for each in launched)) for of_rule in each.values() for outcome in of_rule)
    return next((outcome for outcome in flat if isinstance(outcome, Verified) and outcome.decides), None)


def in_cells(file: FileReport, cell: Callable[[Location], str]) -> FileReport:
    """The report on a notebook, whose messages say the cell and its line: what people see of it are not the lines of its JSON."""
    places = ((each, cell(each.at)) for each in file.findings)
    said = tuple(each._replace(message=f"{each.message} ({place})") if place else each for each, place in places)
    return file._replace(findings=said)


def with_more(file: FileReport, findings: Iterable[Finding]) -> FileReport:
    """The report on a recipe with what comparing it with others found; a place that has a finding is not reported again."""
    known = {finding.at for finding in file.findings}
    new = tuple(finding for finding in findings if finding.at not in known)
    if not new or file.role != Role.RECIPE:
        return file
    is_violated = file.verdict == Verdict.VIOLATED or any(finding.severity == Severity.ERROR for finding in new)
    rules = dict(file.rules) | {finding.code: _WORDS[Finding] for finding in new}
    word = Verdict.VIOLATED if is_violated else Verdict.WARNED
    return file._replace(findings=(*file.findings, *new), rules=tuple(sorted(rules.items())), verdict=word)
