"""What the rules say of a recipe with its runs, or of a file that is not a recipe."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import counted
from pytest_gbs.checking import finalise
from pytest_gbs.checking.finalise import Launched, Outcomes, merged
from pytest_gbs.checking.rulebook import OF_TABLE, Rulebook
from pytest_gbs.model.document import CONFIGURATIONS
from pytest_gbs.model.equation import ratio
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.outcome import Outcome
from pytest_gbs.model.quantity import HARDWARE, Name, Origin, Quantity
from pytest_gbs.model.record import Any, Final, NamedTuple
from pytest_gbs.model.report import Bug
from pytest_gbs.model.rule import About, Rule, Scope
from pytest_gbs.model.run import NodeClaim, Run


class RecipeJudgement(NamedTuple):
    """What all rules said about one document: outcomes by rule code, bugs met on the way, and claims for rules that compare.

    `launched` is what they said of its launches by scripts, whose findings belong to the launching file.
    """

    outcomes: Outcomes
    internal: tuple[Bug, ...]
    judged: tuple[NodeClaim, ...] = ()
    launched: tuple[Launched, ...] = ()

    def along_with(self, *others: RecipeJudgement) -> RecipeJudgement:
        """This with the outcomes and bugs of `others` too."""
        together = (self, *others)
        bugs = tuple(bug for each in together for bug in each.internal)
        return self._replace(outcomes=merged(*(each.outcomes for each in together)), internal=bugs)


NOTHING_FOUND: Final = RecipeJudgement({}, ())


def judge_recipe(runs: tuple[Run, ...], view: FileView | None, rules: Rulebook) -> RecipeJudgement:
    """What file and run rules say of a recipe and its runs."""
    runner = _RuleRunner()
    partial = any(run.launch and run.launch.start and run.launch.start.together for run in runs)
    own = runner.of((rule for rule in rules.of(Scope.FILE) if _may_concern(rule, view)), view) if view is not None else {}
    started: list[Launched] = []
    for run in runs:
        outcomes = finalise.of_run(
            merged(runner.of(_concerning(rules, run, partial), run), _of_values_given(runner, rules, run)), run, rules
        )
        if run.launch is None or run.launch.start is None:
            own = merged(own, outcomes)
        else:
            started.append(Launched(run, outcomes))
    own = finalise.without_what_all_launches_override(own, started, rules)
    launched = [each._replace(outcomes=finalise.without_those_of(own, each.outcomes)) for each in started]
    if len(runs) > 1 or any(run.documented or any(declaration.weak for declaration in run.declarations) for run in runs):
        compared = finalise.not_explained(runner.of(rules.of(Scope.RECIPE), runs), own, rules)
        own, launched = _compared(compared, own, launched)
    judged = tuple(_judged(runs[0])) if runs and runs[0].launch is None else ()
    return RecipeJudgement(finalise.of_recipe(own, launched, rules), tuple(runner.bugs), judged, tuple(launched))


def _may_concern(rule: Rule, view: FileView) -> bool:
    """Whether a rule about files may have something to say of a recipe."""
    return not rule.needs or bool(getattr(view.document, rule.needs, ()) or getattr(view.framework, rule.needs, ()))


def _concerning(rules: Rulebook, run: Run, partial: bool) -> Iterator[Rule]:
    """Yield the rules that may have something to say of `run`; `partial` is true of a recipe that launches read with other files."""
    scopes = (Scope.RUN,) if run.launch is None else (Scope.RUN, Scope.LAUNCH)
    for rule in rules.about(run.framework):
        given = not rule.needs or rule.needs in OF_TABLE or bool(getattr(run, rule.needs))
        if rule.scope in scopes and given and not (partial and run.launch is None and rule.in_any_part):
            yield rule


def _of_values_given(runner: _RuleRunner, rules: Rulebook, run: Run) -> Outcomes:
    """What rules about values say of those that the command line of a launch gives."""
    if run.launch is None or run.places is None:
        return {}
    view = FileView(run.document, run.framework, {}, None)
    outcomes = runner.of((rule for rule in rules.all if rule.about == About.VALUE), view)
    return {
        code: [outcome for outcome in of_rule if outcome.at and not run.real(outcome.at).source.endswith(CONFIGURATIONS)]
        for code, of_rule in outcomes.items()
    }


def _compared(outcomes: Outcomes, own: Outcomes, launched: list[Launched]) -> tuple[Outcomes, list[Launched]]:
    """`own` and `launched` with what is said of all runs together: in a launching file, each to the launch that it is about."""
    for code, of_rule in outcomes.items():
        for outcome in of_rule:
            said = {code: [outcome]}
            place = outcome.at.source if outcome.at else None
            about = next((n for n, each in enumerate(launched) if each.run.launch and each.run.launch.at.source == place), None)
            if about is None:
                own = merged(own, said)
            else:
                launched[about] = launched[about]._replace(outcomes=merged(launched[about].outcomes, said))
    return own, launched


def judge_file(view: object, rules: Rulebook, scope: str) -> RecipeJudgement:
    """What the rules of one scope say about something that is not a recipe."""
    runner = _RuleRunner()
    return RecipeJudgement(runner.of(rules.of(scope), view), tuple(runner.bugs))


class _RuleRunner:
    """Runs rules, guarded: a bug in one is kept, and the others still run."""

    def __init__(self) -> None:
        self.guard = Guard()

    @property
    def bugs(self) -> list[Bug]:
        """The bugs that were met."""
        return self.guard.bugs

    def of(self, rules: Iterable[Rule], subject: Any) -> Outcomes:
        """What `rules` say of `subject`, each outcome with the code of its rule."""
        outcomes: dict[str, list[Outcome]] = {}
        path = getattr(subject, "path", None) or getattr(getattr(subject, "document", None), "source", ("?",))[0]
        for rule in rules:
            self.guard.attempt(path, partial(_run_rule, rule, subject, outcomes), None, rule.code)
        return outcomes


def _run_rule(rule: Rule, subject: Any, outcomes: dict[str, list[Outcome]]) -> None:
    """Add what a rule says of `subject` to `outcomes`, which keeps what it says before a bug stops it."""
    for outcome in rule.check(subject):
        own = outcome if outcome.code == rule.code else outcome._replace(code=rule.code)
        outcomes.setdefault(rule.code, []).append(own)


def _judged(run: Run) -> Iterator[NodeClaim]:
    """Yield the claims that name nodes and leave the GPUs of each open, with the number they would need."""
    for claim in run.claims:
        said = dict(claim.declaration.conditions)
        nodes = said.get(Name.NUM_NODES)
        if nodes is None or Name.GPUS_PER_NODE in said or Name.WORLD_SIZE in said or claim.declaration.unit == "tokens":
            continue
        sizes = {n: s for n, s in run.geometry.stated.items() if n not in (*HARDWARE, Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE)}
        sizes[Name.NUM_NODES] = Quantity(Name.NUM_NODES, nodes, Origin.COMMENT)
        found = symbolic(Name.GLOBAL_BATCH_SIZE, sizes, run.framework.equations)
        if found is None or found.free != (Name.GPUS_PER_NODE,):
            continue
        needed = ratio(claim.declaration.value, found.coefficient)
        whole = int(needed) if needed.denominator == 1 else None
        text = f"{claim.declaration.value:,} = {found.coefficient} x {needed} GPUs per node on {counted(nodes, 'node')}"
        yield NodeClaim(run.path, claim.declaration, nodes, whole, text)
