"""From what the rules said of a document to its report: severities mapped, suppressions applied, a verdict drawn."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from pytest_gbs.core.document import Document
from pytest_gbs.core.launch import Kind, LauncherFile
from pytest_gbs.core.location import Location, Source
from pytest_gbs.core.outcome import Finding, Outcome, Severity, Undetermined, Verified
from pytest_gbs.core.preferences import Settings
from pytest_gbs.core.report import FileReport, Role, Verdict
from pytest_gbs.core.rule import Rule, Scope
from pytest_gbs.core.rulebook import Rulebook
from pytest_gbs.core.run import Judged, Run
from pytest_gbs.core.typed import TYPE_CHECKING
from pytest_gbs.core.wording import leaves
from pytest_gbs.engine import Judgement, Launched, judge_file, verdict, worst
from pytest_gbs.repository import Repository
from pytest_gbs.rules import rules

if TYPE_CHECKING:
    from pytest_gbs.core.suppression import Suppression
    from pytest_gbs.launch_index import LaunchIndex


def active_rules(settings: Settings) -> tuple[Rule, ...]:
    """Return the rules that `settings` switch on."""
    return tuple(rule for rule in (*rules(), *settings.rules) if _is_on(rule, settings))


def _is_on(rule: Rule, settings: Settings) -> bool:
    if rule.code in settings.ignore:
        return False
    if rule.code in settings.extend_select:
        return True
    return rule.code in settings.select if settings.select else rule.default


class Pending:
    """One document with what its rules said, before severities and suppressions apply."""

    __slots__ = (
        "document",
        "framework",
        "judgement",
        "launcher",
        "launches",
        "named",
        "path",
        "problem",
        "role",
        "runs",
        "source",
        "suppressible",
    )

    def __init__(self, path: str, role: str, named: bool, judgement: Judgement, source: Source | None = None) -> None:
        self.path, self.role, self.named, self.judgement, self.source = path, role, named, judgement, source
        self.document: int = 1
        self.framework: str | None = None
        self.launcher: LauncherFile | None = None
        self.runs: tuple[Run, ...] = ()
        self.launches = 0
        self.problem = ""
        self.suppressible: Document | None = None


class Telling:
    """Turns pending documents into reports; keeps the texts of the places that they tell of."""

    def __init__(self, repository: Repository, settings: Settings, keep_runs: bool) -> None:
        self._repository, self._settings, self._keep_runs = repository, settings, keep_runs
        active = active_rules(settings)
        self.rules = Rulebook(active)
        self.sources: dict[str, Source] = {}
        self.launches: LaunchIndex | None = None
        self._severity = dict(settings.severity)
        self._names = {rule.code: rule.name for rule in (*rules(), *settings.rules)}
        # What did not run, or runs only when all files are known, can't make a suppression unused; nor can GBS901 itself.
        late = {rule.code for rule in active if rule.scope in (Scope.REPOSITORY, Scope.SUPPRESSIONS)}
        self._inactive = (self._names.keys() - {rule.code for rule in active}) | late
        self._suppressions: dict[str, tuple[Suppression, ...]] = {}
        self._silences: set[str] = set()

    def finish(self, pending: Pending) -> FileReport:
        """Return the report of one document: severities mapped, suppressions applied, verdict drawn."""
        outcomes, suppressed = self._silence(pending)
        flat = [outcome for each in outcomes.values() for outcome in each]
        findings = tuple(_once(o for o in flat if isinstance(o, Finding)))
        undetermined = tuple(o for o in flat if isinstance(o, Undetermined))
        recipe = pending.role == Role.RECIPE
        together = self._with_launches(pending, outcomes)
        assumptions = {a: None for o in flat if isinstance(o, (Finding, Verified)) for a in o.assumptions}
        report = FileReport(
            pending.path,
            pending.document,
            pending.role,
            pending.framework,
            verdict(together) if recipe else _verdict_alone(pending, together),
            worst(together),
            findings,
            undetermined,
            suppressed,
            tuple(assumptions),
            pending.runs if self._keep_runs else (),
            pending.named,
            pending.problem,
            pending.launcher if self._keep_runs else None,
            pending.launches,
            tuple(_once(o for each in pending.judgement.launched for o in self._about(each))) if recipe else (),
        )
        if pending.source is not None and (findings or any(o.claim for o in undetermined) or self._keep_runs):
            self.sources[pending.path] = pending.source
        for finding in findings:
            self._keep_sources(finding.at, *(related.at for related in finding.related))
        for run in report.runs:
            self._keep_sources(*(leaf.at for size in run.geometry.stated.values() for leaf in leaves(size) if leaf.at))
        return report

    def _with_launches(self, pending: Pending, outcomes: dict[str, list[Outcome]]) -> dict[str, list[Outcome]]:
        """Return `outcomes` of a recipe with those of its launches, whose findings the launching files tell."""
        together = {code: list(each) for code, each in outcomes.items()}
        for each in pending.judgement.launched:
            for finding in self._about(each):
                together.setdefault(finding.code, []).append(finding)
            for code, told in each.outcomes.items():
                together.setdefault(code, []).extend(outcome for outcome in told if not isinstance(outcome, Finding))
        return together

    def _about(self, launched: Launched) -> list[Finding]:
        """Return what is wrong with a launch, as far as it is a verdict on its recipe: what is wrong in a README is none."""
        launch = launched.run.launch
        if launch is None or launch.kind != Kind.SCRIPT:
            return []
        silenced = self._silenced_in(launch.at.source)
        found = (outcome for told in launched.outcomes.values() for outcome in told)
        return [each for o in found if isinstance(o, Finding) and not silenced(o) and isinstance(each := self._remap(o), Finding)]

    def _silenced_in(self, script: str) -> Callable[[Finding], bool]:
        """Return what tells whether comments or settings silence a finding of a launching file."""
        if script not in self._silences:
            source = self._repository.tree.read(script)
            if self.launches is not None and isinstance(source, Source) and "gbs:" in source.text:
                from pytest_gbs.suppressions import read_suppressions

                self._suppressions[script] = read_suppressions(self.launches.document(script, source), self._names)
            self._silences.add(script)
        return self._is_silenced

    def _keep_sources(self, *places: Location) -> None:
        for location in places:
            if location.source not in self.sources:
                source = self._repository.tree.read(location.source)
                if isinstance(source, Source):
                    self.sources[location.source] = source

    def _silence(self, pending: Pending) -> tuple[dict[str, list[Outcome]], int]:
        """Return the outcomes that remain after severities, per-file ignores and suppression comments, and how many went."""
        ignored = self._ignored(pending.path)
        outcomes = {code: [self._remap(o) for o in each] for code, each in pending.judgement.outcomes.items() if code not in ignored}
        gone = sum(isinstance(o, Finding) for code, each in pending.judgement.outcomes.items() if code in ignored for o in each)
        if pending.suppressible is None:
            return outcomes, gone
        from pytest_gbs.suppressions import apply, read_suppressions

        suppressions = read_suppressions(pending.suppressible, self._names)
        if not suppressions:
            return outcomes, gone
        self._suppressions[pending.path] = (*self._suppressions.get(pending.path, ()), *suppressions)
        subjects = {id(o): _subject(o) for each in outcomes.values() for o in each if not isinstance(o, Verified)}
        kept, silenced, unused = apply(
            subjects.values(), suppressions, pending.suppressible.source, self._inactive, self._settings.require_ignore_reason
        )
        stays = {id(finding) for finding in kept}
        remaining = {c: [o for o in each if id(o) not in subjects or id(subjects[id(o)]) in stays] for c, each in outcomes.items()}
        for code, each in judge_file(unused, self.rules, Scope.SUPPRESSIONS).outcomes.items():
            remaining.setdefault(code, []).extend(self._remap(o) for o in each)
        return remaining, gone + len(silenced)

    def _ignored(self, path: str) -> frozenset[str]:
        """Return the codes of the rules that the settings switch off for the file at `path`."""
        if not self._settings.per_file_ignores:
            return frozenset()
        from pytest_gbs.suppressions import per_file_ignored

        return per_file_ignored(self._settings, path)

    def _remap(self, outcome: Outcome) -> Outcome:
        if self._severity and isinstance(outcome, Finding) and outcome.code in self._severity:
            return outcome._replace(severity=self._severity[outcome.code])
        return outcome

    def compare(self, files: list[FileReport], judged: tuple[Judged, ...], internal: list[str]) -> list[FileReport]:
        """Return `files` with what rules that compare recipes found; a claim that is violated already is not reported again."""
        judgement = judge_file(judged, self.rules, Scope.REPOSITORY)
        internal.extend(judgement.internal)
        added: defaultdict[str, list[Finding]] = defaultdict(list)
        for outcome in (o for each in judgement.outcomes.values() for o in each):
            remapped = self._remap(outcome)
            if isinstance(remapped, Finding) and not self._is_silenced(remapped):
                added[remapped.at.source].append(remapped)
        return [self._with(file, added.get(file.path, [])) for file in files] if added else files

    def _is_silenced(self, finding: Finding) -> bool:
        path = finding.at.source
        if finding.code in self._ignored(path):
            return True
        suppressions = self._suppressions.get(path, ())
        source = self._repository.tree.read(path) if suppressions else None
        if not isinstance(source, Source):
            return False
        from pytest_gbs.suppressions import apply

        return not apply((finding,), suppressions, source, (), self._settings.require_ignore_reason)[0]

    def _with(self, file: FileReport, findings: list[Finding]) -> FileReport:
        known = {finding.at for finding in file.findings}
        new = tuple(finding for finding in findings if finding.at not in known)
        if not new or file.role != Role.RECIPE:
            return file
        for finding in new:
            self._keep_sources(finding.at)
        worst_of = dict(file.rules) | {finding.code: "violated" for finding in new}
        grave = any(finding.severity == Severity.ERROR for finding in new)
        word = file.verdict if file.verdict == Verdict.VIOLATED else Verdict.VIOLATED if grave else Verdict.WARNED
        return file._replace(findings=(*file.findings, *new), rules=tuple(sorted(worst_of.items())), verdict=word)


def _subject(outcome: Finding | Undetermined) -> Finding:
    """Return what a suppression is held against: a finding itself, an undetermined claim as one."""
    return outcome if isinstance(outcome, Finding) else Finding(outcome.code, outcome.message, Severity.INFO, outcome.at)


def _verdict_alone(pending: Pending, outcomes: dict[str, list[Outcome]]) -> str | None:
    """Return the verdict on a script that is its own recipe; None where nothing says what its batch should be, and for documents."""
    if not any(run.launch is not None and run.launch.kind == Kind.SCRIPT for run in pending.runs):
        return None
    word = verdict(outcomes) if pending.framework is not None and pending.launches else Verdict.UNCLAIMED
    return None if word == Verdict.UNCLAIMED else word


def _once(findings: Iterator[Finding]) -> list[Finding]:
    """Return each finding once, by place and code, whichever of several launches it is about."""
    found = {(finding.at, finding.code, finding.message): finding for finding in findings}
    return sorted(found.values(), key=lambda finding: (finding.at.start, finding.code, finding.message))


__all__ = ["Pending", "Telling", "active_rules"]
