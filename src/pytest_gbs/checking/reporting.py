"""From what the rules said of a document to its report: severities mapped, suppressions applied, a verdict drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.checking import finalise
from pytest_gbs.checking.finalise import Launched, Outcomes, Reported, Silence, merged, with_severity
from pytest_gbs.checking.judging import RecipeJudgement, judge_file
from pytest_gbs.checking.repository import Repository
from pytest_gbs.checking.rulebook import Rulebook
from pytest_gbs.checking.secondary_files import SecondaryFiles
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import Kind, LauncherFile
from pytest_gbs.model.location import Location, Source
from pytest_gbs.model.outcome import Finding, Severity, Undetermined, Verified
from pytest_gbs.model.record import TYPE_CHECKING, NamedTuple
from pytest_gbs.model.report import Bug, FileReport, Role, Verdict
from pytest_gbs.model.rule import Needs, Rule, Scope
from pytest_gbs.model.run import NodeClaim, Run
from pytest_gbs.model.settings import Settings
from pytest_gbs.rules import rules

if TYPE_CHECKING:
    from pytest_gbs.checking.launch_index import LaunchIndex
    from pytest_gbs.model.suppression import Suppression


def active_rules(settings: Settings) -> tuple[Rule, ...]:
    """The rules that `settings` switch on."""
    return tuple(rule for rule in (*rules(), *settings.rules) if _is_on(rule, settings))


def _is_on(rule: Rule, settings: Settings) -> bool:
    if rule.code in settings.ignore:
        return False
    if rule.code in settings.extend_select:
        return True
    return rule.code in settings.select if settings.select else rule.default


class FileResult(NamedTuple):
    """One document with what its rules said, before severities and suppressions apply; those are in the comments of `suppressible`."""

    path: str
    role: str
    named: bool
    judgement: RecipeJudgement
    source: Source | None = None
    framework: str | None = None
    runs: tuple[Run, ...] = ()
    suppressible: Document | None = None
    document: int = 1
    part: str = ""
    problem: str = ""
    launcher: LauncherFile | None = None
    launches: int = 0


class Reporting:
    """Turns checked documents into reports; keeps the texts of the places in their findings."""

    def __init__(self, repository: Repository, settings: Settings, keep_runs: bool) -> None:
        self._repository, self._settings, self.keep_runs = repository, settings, keep_runs
        active = active_rules(settings)
        self.rules = Rulebook(active)
        self.sources: dict[str, Source] = {}
        self.launches: LaunchIndex | None = None
        self._severity = dict(settings.severity)
        self._names = {rule.code: rule.name for rule in (*rules(), *settings.rules)}
        # What did not run, or runs only when all files are known, can't make a suppression unused; nor can the rule about those.
        late = {rule.code for rule in active if rule.scope in (Scope.REPOSITORY, Scope.SUPPRESSIONS)}
        self._inactive = (self._names.keys() - {rule.code for rule in active}) | late
        self._suppressions: dict[str, tuple[Suppression, ...]] = {}
        self._silences: set[str] = set()
        self.secondary_files = SecondaryFiles(repository.tree)

    def finish(self, result: FileResult) -> FileReport:
        """The report of one document: severities mapped, suppressions applied, verdict drawn."""
        outcomes = result.judgement.outcomes
        if any(outcomes.values()) and not result.named and result.path in self.secondary_files:
            outcomes = finalise.as_notes(outcomes, self.rules)
        silence = Silence(self._ignored(result.path), self._severity, lambda outcomes: self._suppress(result, outcomes))
        outcomes, suppressed = finalise.of_file(outcomes, silence)
        flat = [outcome for each in outcomes.values() for outcome in each]
        findings = finalise.once(o for o in flat if isinstance(o, Finding))
        undetermined = tuple(o for o in flat if isinstance(o, Undetermined))
        recipe = result.role == Role.RECIPE
        together = self._with_launches(result, outcomes)
        applying = finalise.worst(together)
        assumptions = {a: None for o in flat if isinstance(o, (Finding, Verified)) for a in o.assumptions}
        verdict = finalise.verdict(together) if recipe else _verdict_alone(result, together)
        report = FileReport(
            result.path,
            result.document,
            result.role,
            result.framework,
            verdict,
            applying,
            findings,
            undetermined,
            suppressed,
            tuple(assumptions),
            result.runs if self.keep_runs else (),
            result.named,
            result.problem,
            result.launcher if self.keep_runs else None,
            result.launches,
            finalise.once(o for each in result.judgement.launched for o in self._about(each)) if recipe else (),
            result.part,
            (verdict == Verdict.UNCLAIMED or (verdict == Verdict.VERIFIED and not any(run.declarations for run in result.runs)))
            and not any(map(_is_known, result.runs)),
            any(self.rules.by_code[code].scope == Scope.UNREAD for code, _ in applying),
        )
        if result.source is not None and (findings or any(o.claim for o in undetermined) or self.keep_runs):
            self.sources[result.path] = result.source
        for finding in findings:
            self._keep_sources(finding.at, *(related.at for related in finding.related))
        for run in report.runs:
            self._keep_sources(*(leaf.at for size in run.geometry.stated.values() for leaf in leaves(size) if leaf.at))
            self._keep_sources(*(declaration.at for declaration in run.declarations))
        return report

    def _with_launches(self, result: FileResult, outcomes: Outcomes) -> Outcomes:
        """`outcomes` of a recipe with those of its launches, whose findings are reported for the launching files."""
        together = merged(outcomes)
        for each in result.judgement.launched:
            for finding in self._about(each):
                together.setdefault(finding.code, []).append(finding)
            for code, of_rule in each.outcomes.items():
                together.setdefault(code, []).extend(outcome for outcome in of_rule if not isinstance(outcome, Finding))
        return together

    def _about(self, launched: Launched) -> list[Finding]:
        """What is wrong with a launch, as far as it is a verdict on its recipe: in a README only what is locked."""
        launch = launched.run.launch
        if launch is None:
            return []
        silenced = self._silenced_in(launch.at.source)
        of_rules = (
            of_rule
            for code, of_rule in launched.outcomes.items()
            if launch.kind == Kind.SCRIPT or self.rules.by_code[code].needs == Needs.LOCKED
        )
        found = (o for of_rule in of_rules for o in of_rule if isinstance(o, Finding) and not silenced(o))
        return [with_severity(finding, self._severity) for finding in found]

    def _silenced_in(self, script: str) -> Callable[[Finding], bool]:
        """A function that says whether comments or settings silence a finding of a launching file."""
        if script not in self._silences:
            source = self._repository.tree.read(script)
            if self.launches is not None and isinstance(source, Source) and "gbs:" in source.text:
                from pytest_gbs.checking.ignore import read_suppressions

                self._suppressions[script] = read_suppressions(self.launches.document(script, source), self._names)
            self._silences.add(script)
        return self._is_silenced

    def _keep_sources(self, *places: Location) -> None:
        for location in places:
            if location.source not in self.sources:
                source = self._repository.tree.read(location.source)
                if isinstance(source, Source):
                    self.sources[location.source] = source

    def _suppress(self, result: FileResult, outcomes: Outcomes) -> Reported:
        """The outcomes that remain after suppression comments, with what those have in them that is of no use."""
        if result.suppressible is None:
            return Reported(outcomes, 0)
        from pytest_gbs.checking.ignore import apply, read_suppressions

        suppressions = read_suppressions(result.suppressible, self._names)
        if not suppressions:
            return Reported(outcomes, 0)
        self._suppressions[result.path] = (*self._suppressions.get(result.path, ()), *suppressions)
        subjects = {id(o): _subject(o) for each in outcomes.values() for o in each if not isinstance(o, Verified)}
        kept, silenced, unused = apply(
            subjects.values(), suppressions, result.suppressible.source, self._inactive, self._settings.require_ignore_reason
        )
        stays = {id(finding) for finding in kept}
        remaining = {c: [o for o in each if id(o) not in subjects or id(subjects[id(o)]) in stays] for c, each in outcomes.items()}
        useless = finalise.with_severities(judge_file(unused, self.rules, Scope.SUPPRESSIONS).outcomes, self._severity)
        return Reported(merged(remaining, useless), len(silenced))

    def _ignored(self, path: str) -> frozenset[str]:
        """The codes of the rules that the settings switch off for the file at `path`."""
        if not self._settings.per_file_ignores:
            return frozenset()
        from pytest_gbs.checking.ignore import per_file_ignored

        return per_file_ignored(self._settings, path)

    def compare(self, files: list[FileReport], judged: tuple[NodeClaim, ...], internal: list[Bug]) -> list[FileReport]:
        """`files` with what rules that compare recipes found; a claim that is violated already is not reported again."""
        if not judged:
            return files
        judgement = judge_file(judged, self.rules, Scope.REPOSITORY)
        internal.extend(judgement.internal)
        added: defaultdict[str, list[Finding]] = defaultdict(list)
        for outcome in (o for each in judgement.outcomes.values() for o in each):
            if isinstance(outcome, Finding) and not self._is_silenced(outcome):
                added[outcome.at.source].append(with_severity(outcome, self._severity))
        return [self._with(file, added.get(file.path, [])) for file in files] if added else files

    def _is_silenced(self, finding: Finding) -> bool:
        path = finding.at.source
        if finding.code in self._ignored(path):
            return True
        suppressions = self._suppressions.get(path, ())
        source = self._repository.tree.read(path) if suppressions else None
        if not isinstance(source, Source):
            return False
        from pytest_gbs.checking.ignore import is_silenced

        return is_silenced(finding, suppressions, source, self._settings.require_ignore_reason)

    def _with(self, file: FileReport, findings: list[Finding]) -> FileReport:
        more = finalise.with_more(file, findings)
        for finding in more.findings[len(file.findings) :]:
            self._keep_sources(finding.at)
        return more


def _subject(outcome: Finding | Undetermined) -> Finding:
    """What a suppression is compared with: a finding itself, an undetermined claim as one."""
    return outcome if isinstance(outcome, Finding) else Finding(outcome.code, outcome.message, Severity.INFO, outcome.at)


def _is_known(run: Run) -> bool:
    """Whether the batch of `run` is known, or at least that of one GPU."""
    if run.geometry.global_batch_size is not None:
        return True
    from pytest_gbs.claims.locked import is_known

    return is_known(run)


def _verdict_alone(result: FileResult, outcomes: Outcomes) -> str | None:
    """The verdict on a script that is its own recipe; None if nothing says what its batch should be, and for documents."""
    if not any(run.launch is not None and run.launch.kind == Kind.SCRIPT for run in result.runs):
        return None
    word = finalise.verdict(outcomes) if result.framework is not None and result.launches else Verdict.UNCLAIMED
    return None if word == Verdict.UNCLAIMED else word
