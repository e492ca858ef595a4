"""From a document to outcomes: the runs of a recipe, and what each rule says of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.checking import finalise
from pytest_gbs.checking.finalise import Launched, Outcomes, merged
from pytest_gbs.checking.rulebook import OF_TABLE, Rulebook
from pytest_gbs.claims.grammars import StatedByComments, read_stated
from pytest_gbs.claims.grammars.names import read_name
from pytest_gbs.claims.worlds import (
    HardwareEvidence,
    HardwareWorld,
    Nearby,
    Sizes,
    geometry,
    grows_with_gpus,
    is_of_other_settings,
    multiplied,
    quotes_another_program,
    readings,
    said_in_comments,
    shown,
    world,
)
from pytest_gbs.files.globs import matches_any
from pytest_gbs.frameworks.conditions import applying, serves_too
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import CONFIGURATIONS, Document
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.fileview import FileView
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.guard import Guard
from pytest_gbs.model.launch import JUDGES_NOTHING, Kind, Launch
from pytest_gbs.model.location import KeyPath, Location
from pytest_gbs.model.outcome import Finding, Outcome
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, Name, Note, Noted, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.report import Bug
from pytest_gbs.model.rule import About, Rule, Scope
from pytest_gbs.model.run import Claim, Geometry, NodeClaim, Policy, Run, World
from pytest_gbs.model.settings import Expectation, Settings

if TYPE_CHECKING:
    from pytest_gbs.launches.resolved_launch import ResolvedLaunch

# What a claim may be about; a stated micro batch or accumulation is a factor, judged with the claim it is beside.
CLAIMED: Final = (Name.GLOBAL_BATCH_SIZE, Name.TOKENS_PER_STEP, Name.PROMPTS_PER_STEP)


class Context(NamedTuple):
    """What a recipe is judged with, beside itself: settings, given hardware, launcher files nearby, and what documents state of it."""

    settings: Settings
    hardware: Sizes  # of the settings, for this recipe
    given: Sizes
    nearby: Callable[[], Nearby]
    shared: tuple[Policy, ...] = ()
    documented: tuple[Declaration, ...] = ()


def build_runs(
    document: Document, framework: Framework, sizes: dict[str, Size], context: Context, places: dict[KeyPath, Location] | None = None
) -> tuple[Run, ...]:
    """The recipe by itself, and one more run for each launch context that the settings state for it.

    `places` says where the values of a document really stand that is made up of several.
    """
    stated = _stated(document, framework)
    declarations = stated.declarations
    own = {name: size for name in HARDWARE if isinstance(size := sizes.get(name), Quantity)}
    evidence = HardwareEvidence(own, context.given, context.hardware, context.nearby)
    table = _counting_tokens(framework) if Name.SEQUENCE_LENGTH in sizes else framework
    said = said_in_comments(declarations, Force.STATES)

    def in_their_worlds(stated: Iterable[Declaration]) -> Iterator[tuple[Declaration, tuple[World, ...]]]:
        for d in stated:
            if d.force not in _COUNTS or d.weak or quotes_another_program(d, document, framework):
                continue
            worlds = tuple(_world(sizes, hardware, table, document) for hardware in readings(d, said, evidence, sizes))
            if d.name == Name.RANK_BATCH_SIZE and grows_with_gpus(
                worlds[0].geometry, applying(table, document)
            ):  # on one GPU as on any number of them
                one = HardwareWorld({Name.WORLD_SIZE: Quantity(Name.WORLD_SIZE, 1, Origin.COMMENT, at=d.at)})
                worlds = (_world(sizes, one, table, document),)
            claimed = multiplied(d, worlds[0].geometry)
            if claimed is not None and claimed.name in CLAIMED:
                yield claimed, worlds

    claimed = tuple(in_their_worlds(declarations))
    if others := {place for d, worlds in claimed if is_of_other_settings(d, worlds[0].geometry) for place in (d.at, *d.condition_places)}:
        said = said_in_comments(tuple(d for d in declarations if d.at not in others), Force.STATES)
    hardware = _reserve(framework, document, _with_parallel(shown(declarations, said, evidence), context))
    seen = geometry(sizes, hardware.sizes, table, document)
    policies = (*_policies(context.settings.expect, document.source.path), *context.shared)
    recipe = Run(
        document,
        applying(table, document),
        None,
        seen,
        (),
        declarations,
        policies,
        hardware.assumptions,
        places=places,
        unread=stated.ended,
    )
    recipe = _with_claims(_best_known(recipe, (worlds[0] for d, worlds in claimed if not d.per_rank), context), claimed)
    if context.documented:
        documented = _with_claims(recipe, in_their_worlds(context.documented))
        recipe = recipe._replace(
            documented=documented.claims if documented is not recipe else (), declarations=(*declarations, *context.documented)
        )
    return (recipe, *_launched(recipe, sizes, context))


def _with_claims(run: Run, claimed: Iterable[tuple[Declaration, tuple[World, ...]]]) -> Run:
    """`run` with what is claimed of it, each claim judged once and for all."""
    claimed = tuple(claimed)
    if not claimed:
        return run
    from pytest_gbs.claims.judgement import judged

    claims = (judged(run, declaration, worlds) for declaration, worlds in claimed)
    return run._replace(claims=tuple(each for each in claims if each.declaration.force != Force.CONFIRMS or each.judgement.verified))


# What may be true or false, and what counts only where it is true.
_COUNTS: Final = (Force.STATES, Force.CONFIRMS)


@lru_cache
def _counting_tokens(framework: Framework) -> Framework:
    """The table with the tokens of an optimizer step: sequences of at most the sequence length, each sample one or two."""
    several = framework.sequences_per_sample
    factors = (Name.GLOBAL_BATCH_SIZE, *([Name.SEQUENCES_PER_SAMPLE] if several > 1 else []), Name.SEQUENCE_LENGTH)
    tokens = Equation(Name.TOKENS_PER_STEP, factors, unit="tokens", source="definition")
    assumed = (*framework.assumed, (Name.SEQUENCES_PER_SAMPLE, several)) if several > 1 else framework.assumed
    return framework._replace(equations=(*framework.equations, tokens), assumed=assumed)


def _world(sizes: dict[str, Size], hardware: HardwareWorld, table: Framework, document: Document) -> World:
    return world(geometry(sizes, hardware.sizes, table, document), hardware)


def _stated(document: Document, framework: Framework) -> StatedByComments:
    """What comments, the file's name and the run's names state."""
    path = document.source.path
    found = read_stated(document.comments, path) if document.comments else StatedByComments()
    stem = path.rpartition("/")[2].rpartition(".")[0]
    named = [each._replace(at=Location(path, 0, 0)) for each in read_name(stem, path, 0, None)]
    return found._replace(declarations=(*found.declarations, *named, *_named_in_settings(document, framework)))


def _named_in_settings(document: Document, framework: Framework) -> Iterator[Declaration]:
    """Yield what the names state that a run has in its settings."""
    for key in framework.names:
        node = document.get(*key)
        text = getattr(node, "text", "")
        if text and "/" not in text[-1:]:
            start = node.start + (0 if node.plain else 1)  # type: ignore[union-attr]
            yield from read_name(text, document.source.path, start, key)


def _with_parallel(hardware: HardwareWorld, context: Context) -> HardwareWorld:
    """`hardware` with the parallel sizes that all launcher files nearby agree on, where hardware was given to launch on."""
    if not context.given:
        return hardware
    parallel = {q.name: q for q in context.nearby().parallel}
    return hardware._replace(sizes={**parallel, **hardware.sizes})


def _reserve(framework: Framework, document: Document, hardware: HardwareWorld) -> HardwareWorld:
    """`hardware` without what comments say of it if some of the GPUs may serve rather than train."""
    if not serves_too(framework, document):
        return hardware
    return hardware._replace(sizes={name: size for name, size in hardware.sizes.items() if size.origin != Origin.COMMENT})


def _best_known(run: Run, claimed: Iterable[World], context: Context) -> Run:
    """`run` shown in the world of its first claim that names its hardware, if nothing better was given."""
    if context.given or run.geometry.global_batch_size is not None:
        return run
    world = next((world for world in claimed if world.geometry.global_batch_size is not None), None)
    return run._replace(geometry=world.geometry, assumptions=world.assumptions) if world is not None else run


def _launched(run: Run, sizes: dict[str, Size], context: Context) -> Iterator[Run]:
    """Yield the run of each launch context that the settings state for this recipe; launches judge no claims of prose."""
    for launch in context.settings.launches:
        if not matches_any(run.path, launch.paths):
            continue
        stated = {Name.NUM_NODES: launch.num_nodes, Name.GPUS_PER_NODE: launch.gpus_per_node, Name.WORLD_SIZE: launch.world_size}
        hardware = {n: Quantity(n, v, Origin.LAUNCH, key=launch.name, note=Note(launch.origin)) for n, v in stated.items() if v is not None}
        seen = geometry(sizes, hardware, run.framework, run.document)
        start = Launch(Location(context.settings.source, 0, 0), Kind.SCRIPT, launch.name, tuple(hardware.values()))
        bare = run._replace(launch=start, geometry=seen, claims=(), assumptions=())
        yield _with_claims(bare, ((each, (World(seen),)) for each in _claimed_in(run, seen)))


def _claimed_in(run: Run, seen: Geometry) -> Iterator[Declaration]:
    """Yield what is claimed of `run` as it reads in another world."""
    each = (multiplied(claim.declaration, seen) for claim in run.claims)
    yield from (claim for claim in each if claim is not None)


def launch_run(resolved: ResolvedLaunch, sizes: dict[str, Size], own: Run | None, declared: tuple[Declaration, ...]) -> Run:
    """The run of one launch, in its own world: what it really runs, compared with the numbers that are claimed.

    `sizes` are those of the document that it runs, at their real places, `own` the recipe by itself, and `declared` what the
    comments of the launching script state of it.
    """
    framework = resolved.framework
    launch = resolved.found.launch._replace(kind=_kind(resolved, sizes))
    table = _counting_tokens(framework) if Name.SEQUENCE_LENGTH in sizes else framework
    hardware = _started(resolved, sizes)
    seen = geometry(sizes, hardware, table, resolved.document)
    judges = launch.kind not in JUDGES_NOTHING
    claimed = list(_claimed_in(own, seen)) if own is not None and judges else []
    stated = [d for d in declared if d.name in CLAIMED and d.force in _COUNTS] if judges else []
    policies_of_recipe = own.policies if own is not None and launch.kind == Kind.SCRIPT else ()
    policies = tuple(policy for policy in policies_of_recipe if not policy.ran)
    assumptions = tuple(dict.fromkeys(_assumed(resolved, hardware, sizes)))
    places = resolved.places
    applied = applying(table, resolved.document)
    names = _named_in_settings(resolved.document, framework) if own is None and judges else ()
    run = Run(resolved.document, applied, launch, seen, (), (*declared, *names), policies, assumptions=assumptions, places=places)
    own_worlds = ((d, _in_its_world(d, sizes, hardware, table, resolved.document) or (World(seen),)) for d in stated)
    run = _with_claims(run, (*((declaration, (World(seen),)) for declaration in claimed), *own_worlds))
    return run._replace(claims=tuple(claim for claim in run.claims if own is None or not _is_known(claim, own)))


def _in_its_world(
    declaration: Declaration, sizes: dict[str, Size], hardware: dict[str, Size], table: Framework, document: Document
) -> tuple[World, ...]:
    """The worlds of a script's claim that names its hardware (`16 if 16 gpus`), if the launch leaves its own open."""
    named = any(name in HARDWARE for name, _ in declaration.conditions)
    if not named or any(isinstance(hardware.get(name), Quantity) for name in (Name.WORLD_SIZE, Name.GPUS_PER_NODE)):
        return ()
    nothing = HardwareEvidence({}, {}, {}, Nearby)
    return tuple(_world(sizes, stated, table, document) for stated in readings(declaration, {}, nothing, sizes))


def _is_known(claim: Claim, own: Run) -> bool:
    """Whether a claim is false of a launch for the same number for which it is false of the recipe by itself."""
    same = next((each.judgement for each in own.claims if each.declaration == claim.declaration), None)
    given = claim.judgement.readings[0]
    if same is None or not isinstance(same.outcome, Finding) or given.holds is not False or given.size is None:
        return False
    return any(reading.size is not None and reading.size.value == given.size.value for reading in same.readings)


# A run of so few optimizer steps tries whether something works.
_FEW_STEPS: Final = 20
_trying = lazy_pattern(r"(?i)(?<![a-z])(?:overfit|smoke[-_]?test)(?![a-z])")
BATCH: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)


def _kind(resolved: ResolvedLaunch, sizes: dict[str, Size]) -> str:
    """The kind of a launch: a test if it takes a few steps alone or says that it tries, a template if a part of its batch is a variable."""
    launch = resolved.found.launch
    if any(_trying().search(part.text or "") for word in resolved.found.start.program for part in word.parts):
        return Kind.TEST
    steps = sizes.get(Name.MAX_STEPS)
    if isinstance(steps, Quantity) and steps.origin == Origin.LAUNCH and 0 < steps.value <= _FEW_STEPS:
        return Kind.TEST
    batch = [size for name in BATCH if isinstance(size := sizes.get(name), Unknown) and size.reason == Reason.INTERPOLATED]
    if launch.kind in (Kind.SCRIPT, Kind.DOCUMENT) and any(size.at and size.at.source != resolved.recipe for size in batch):
        return Kind.TEMPLATE
    return launch.kind


def _started(resolved: ResolvedLaunch, sizes: dict[str, Size]) -> dict[str, Size]:
    """The hardware of a launch: what its launcher gives, else the recipe's own keys; never a comment.

    A trainer of reinforcement learning whose keys count nodes and GPUs asks a cluster for them, whatever starts its one controller. Keys
    that have their defaults alone ask for nothing: the same trainer may run in the processes of its launcher.
    """
    given: dict[str, Size] = {size.name: size for size in resolved.found.start.sizes if size.name in (*HARDWARE, *PARALLEL)}
    own = {name: size for name in HARDWARE if isinstance(size := sizes.get(name), Quantity)}
    stated = any(size.origin != Origin.DEFAULT for size in own.values())
    asks = resolved.framework.unit == "completions" and stated and sizes.keys() >= {Name.NUM_NODES, Name.GPUS_PER_NODE}
    if not asks and any(isinstance(given.get(name), Quantity) for name in HARDWARE):
        return given
    parallel = {name: size for name, size in given.items() if name in PARALLEL}
    return {**parallel, **own} if own else given


def _assumed(resolved: ResolvedLaunch, hardware: dict[str, Size], sizes: dict[str, Size]) -> Iterator[Assumption]:
    """Yield what a launch takes for granted: that variables with a default are not set, and that the script gets no extra arguments."""
    for size in (*hardware.values(), *sizes.values()):
        if isinstance(size, Quantity) and size.note.kind == Noted.DEFAULT:
            yield from (Assumption(Assuming.NOT_SET, name) for name in size.note.variables.split())
    yield from (Assumption(Assuming.NOT_SET, name) for name in resolved.assumed)
    from pytest_gbs.readers.command_settings import settings

    places = {size.at for size in sizes.values() if isinstance(size, Quantity) and size.origin == Origin.LAUNCH}
    for setting in settings(resolved.found.start.program[1:], resolved.framework.arguments):
        if setting.word.default and setting.at in places:
            yield from (Assumption(Assuming.NOT_SET, name) for name in setting.word.variables or ("",))
    for size in _numbers(hardware):
        if _is_left_open(size.at, resolved):
            yield Assumption(Assuming.LEFT_AS_IT_IS, size.name, size.value)
    if resolved.found.launch.meant:
        yield Assumption(Assuming.QUOTES)
    if resolved.found.launch.open:
        yield Assumption(Assuming.NOTHING_ADDED)


def _numbers(hardware: dict[str, Size]) -> Iterator[Quantity]:
    """Yield the numbers that a launch's hardware rests on."""
    for size in hardware.values():
        yield from leaves(size)


# A comment of a script that asks the user for other numbers, and how many characters behind it they may stand.
_ASKS: Final = ("change for", "change this", "change these", "change to your", "adjust to your", "set this to", "set these to")
_BEHIND: Final = 120


def _is_left_open(at: Location | None, resolved: ResolvedLaunch) -> bool:
    """Whether a comment right above a number, or beside it, asks for another one."""
    script = resolved.found.script
    if at is None or at.source != script.path:
        return False
    stop = attrgetter("stop")
    first, last = bisect_left(script.comments, at.start - _BEHIND, key=stop), bisect_right(script.comments, at.start, key=stop)
    return any(word in block.text.lower() for block in script.comments[first:last] for word in _ASKS)


def _policies(expect: Iterable[Expectation], path: str) -> Iterator[Policy]:
    for e in expect:
        if not e.shared and matches_any(path, e.paths):
            yield Policy(e.name, e.low, e.high, e.values, e.origin, e.text, e.ran)


class RecipeJudgement(NamedTuple):
    """What all rules said about one document: outcomes by rule code, bugs met on the way, and claims for rules that compare.

    `launched` is what they said of its launches by scripts, whose findings belong to the launching file.
    """

    outcomes: Outcomes
    internal: tuple[Bug, ...]
    judged: tuple[NodeClaim, ...] = ()
    launched: tuple[Launched, ...] = ()


def judge_recipe(runs: tuple[Run, ...], view: FileView | None, rules: Rulebook) -> RecipeJudgement:
    """What file and run rules say of a recipe and its runs."""
    asked = _Asked()
    partial = any(run.launch and run.launch.start and run.launch.start.together for run in runs)
    own = asked.of((rule for rule in rules.of(Scope.FILE) if _may_concern(rule, view)), view) if view is not None else {}
    started: list[Launched] = []
    for run in runs:
        outcomes = finalise.of_run(merged(asked.of(_concerning(rules, run, partial), run), _of_values_given(asked, rules, run)), run, rules)
        if run.launch is None or run.launch.start is None:
            own = merged(own, outcomes)
        else:
            started.append(Launched(run, outcomes))
    own = finalise.without_what_all_launches_override(own, started, rules)
    launched = [each._replace(outcomes=finalise.without_those_of(own, each.outcomes)) for each in started]
    if len(runs) > 1 or any(run.documented or any(declaration.weak for declaration in run.declarations) for run in runs):
        compared = finalise.not_explained(asked.of(rules.of(Scope.RECIPE), runs), own, rules)
        own, launched = _compared(compared, own, launched)
    judged = tuple(_judged(runs[0])) if runs and runs[0].launch is None else ()
    return RecipeJudgement(finalise.of_recipe(own, launched, rules), tuple(asked.bugs), judged, tuple(launched))


def _may_concern(rule: Rule, view: FileView) -> bool:
    """Whether a rule about files may have something to say of a recipe."""
    return not rule.needs or any(getattr(each, rule.needs, ()) for each in (view.document, view.framework))


def _concerning(rules: Rulebook, run: Run, partial: bool) -> Iterator[Rule]:
    """Yield the rules that may have something to say of `run`; `partial` is true of a recipe that launches read with other files."""
    scopes = (Scope.RUN,) if run.launch is None else (Scope.RUN, Scope.LAUNCH)
    for rule in rules.about(run.framework):
        given = not rule.needs or rule.needs in OF_TABLE or bool(getattr(run, rule.needs))
        if rule.scope in scopes and given and not (partial and run.launch is None and rule.in_any_part):
            yield rule


def _of_values_given(asked: _Asked, rules: Rulebook, run: Run) -> Outcomes:
    """What rules about values say of those that the command line of a launch gives."""
    if run.launch is None or run.places is None:
        return {}
    view = FileView(run.document, run.framework, {}, None, False)
    outcomes = asked.of((rule for rule in rules.all if rule.about == About.VALUE), view)
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
    asked = _Asked()
    return RecipeJudgement(asked.of(rules.of(scope), view), tuple(asked.bugs))


class _Asked:
    """Asks rules, guarded: a bug in one is kept, and the others are asked."""

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
            self.guard.attempt(path, partial(_ask, rule, subject, outcomes), None, rule.code)
        return outcomes


def _ask(rule: Rule, subject: Any, outcomes: dict[str, list[Outcome]]) -> None:
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
        needed = claim.declaration.value / found.coefficient
        whole = int(needed) if needed.denominator == 1 else None
        text = f"{claim.declaration.value:,} = {found.coefficient} x {needed} GPUs per node on {nodes} node{'s' * (nodes != 1)}"
        yield NodeClaim(run.path, claim.declaration, nodes, whole, text)


def claimed(runs: tuple[Run, ...]) -> bool:
    """Whether anything says what the batch of these runs should be."""
    return bool(runs and (runs[0].claims or runs[0].policies))


__all__ = [
    "Context",
    "RecipeJudgement",
    "build_runs",
    "claimed",
    "judge_file",
    "judge_recipe",
    "launch_run",
]
