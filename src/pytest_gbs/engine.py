"""From a document to outcomes: the runs of a recipe, what each rule says of them, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from pytest_gbs.core.arguments import settings
from pytest_gbs.core.constraints import holds
from pytest_gbs.core.declaration import Declaration, Force
from pytest_gbs.core.document import CONFIGURATIONS, Document
from pytest_gbs.core.equation import Equation, law
from pytest_gbs.core.fileview import FileView
from pytest_gbs.core.framework import Framework
from pytest_gbs.core.globs import matches_any
from pytest_gbs.core.identity import by_identity
from pytest_gbs.core.launch import JUDGES_NOTHING, Kind, Launch
from pytest_gbs.core.location import Location
from pytest_gbs.core.outcome import Finding, Outcome, Severity, Undetermined, Verified
from pytest_gbs.core.preferences import Expectation, Settings
from pytest_gbs.core.quantity import HARDWARE, PARALLEL, Name, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.core.report import Verdict
from pytest_gbs.core.rule import Rule, Scope
from pytest_gbs.core.rulebook import OF_TABLE, Rulebook
from pytest_gbs.core.run import Claim, Judged, Policy, Run, World
from pytest_gbs.core.typed import TYPE_CHECKING, Any, Final, NamedTuple
from pytest_gbs.core.wording import leaves
from pytest_gbs.core.worlds import Evidence, Hardware, Nearby, Sizes, geometry, readings, said_in_comments, shown, world
from pytest_gbs.declarations import Stated, read_stated
from pytest_gbs.declarations.names import read_name

if TYPE_CHECKING:
    from pytest_gbs.launched import Running

# What a claim may be about; a stated micro batch or accumulation is a factor, judged with the claim it stands beside.
CLAIMED: Final = (Name.GLOBAL_BATCH_SIZE, Name.TOKENS_PER_STEP, Name.PROMPTS_PER_STEP)
_WORST: Final = {"verified": 0, "undetermined": 1, "violated": 2}


class Context(NamedTuple):
    """What a recipe is judged with, beside itself: settings, hardware given on the command line, and launcher files nearby."""

    settings: Settings
    hardware: Sizes  # of the settings, for this recipe
    given: Sizes
    nearby: Callable[[], Nearby]
    shared: tuple[Policy, ...] = ()


def build_runs(document: Document, framework: Framework, sizes: dict[str, Size], context: Context) -> tuple[Run, ...]:
    """Return the recipe by itself, and one more run for each launch context that the settings state for it."""
    stated = _stated(document, framework)
    declarations = stated.declarations
    own = {name: size for name in HARDWARE if isinstance(size := sizes.get(name), Quantity)}
    evidence = Evidence(own, context.given, context.hardware, context.nearby)
    table = _counting_tokens(framework) if Name.SEQUENCE_LENGTH in sizes else framework
    said = said_in_comments(declarations, Force.STATES)
    claims = tuple(
        Claim(d, tuple(_world(sizes, hardware, table, document) for hardware in readings(d, said, evidence, sizes)))
        for d in declarations
        if d.force == Force.STATES and not d.weak and d.name in CLAIMED
    )
    hardware = _reserve(framework, document, _with_parallel(shown(declarations, said, evidence), context))
    seen = geometry(sizes, hardware.sizes, table, document)
    policies = (*_policies(context.settings.expect, document.source.path), *context.shared)
    recipe = Run(document, table, None, seen, claims, declarations, policies, assumptions=hardware.assumptions, unread=stated.ended)
    return (_best_known(recipe, context), *_launched(recipe, sizes, context))


@by_identity
def _counting_tokens(framework: Framework) -> Framework:
    """Return the table with the tokens of an optimizer step: sequences of at most the sequence length, each sample one or two."""
    several = framework.sequences_per_sample
    factors = (Name.GLOBAL_BATCH_SIZE, *([Name.SEQUENCES_PER_SAMPLE] if several > 1 else []), Name.SEQUENCE_LENGTH)
    tokens = Equation(Name.TOKENS_PER_STEP, factors, unit="tokens", source="definition")
    assumed = (*framework.assumed, (Name.SEQUENCES_PER_SAMPLE, several)) if several > 1 else framework.assumed
    return framework._replace(equations=(*framework.equations, tokens), assumed=assumed)


def _world(sizes: dict[str, Size], hardware: Hardware, table: Framework, document: Document) -> World:
    return world(geometry(sizes, hardware.sizes, table, document), hardware)


def _stated(document: Document, framework: Framework) -> Stated:
    """Return what comments, the file's name and the run's names state."""
    path = document.source.path
    found = read_stated(document.comments, path) if document.comments else Stated()
    stem = path.rpartition("/")[2].rpartition(".")[0]
    named = list(read_name(stem, path, 0, None))
    for key in framework.names:
        node = document.get(*key)
        text = getattr(node, "text", "")
        if text and "/" not in text[-1:]:
            start = node.start + (0 if node.plain else 1)  # type: ignore[union-attr]
            named.extend(read_name(text, path, start, key))
    return found._replace(declarations=(*found.declarations, *named))


def _with_parallel(hardware: Hardware, context: Context) -> Hardware:
    """Return `hardware` with the parallel sizes that all launcher files nearby agree on, where hardware was given to launch on."""
    if not context.given:
        return hardware
    parallel = {q.name: q for q in context.nearby().parallel}
    return hardware._replace(sizes={**parallel, **hardware.sizes})


def _reserve(framework: Framework, document: Document, hardware: Hardware) -> Hardware:
    """Return `hardware` without what comments say of it where some of the GPUs may serve rather than train."""
    reserves, shares = framework.reserves, framework.shares
    if reserves is None or not holds(reserves, document, framework.loader):
        return hardware
    if shares is not None and holds(shares, document, framework.loader):
        return hardware
    return hardware._replace(sizes={name: size for name, size in hardware.sizes.items() if size.origin != Origin.COMMENT})


def _best_known(run: Run, context: Context) -> Run:
    """Return `run` shown in the world of its first claim that names its hardware, where nothing better was given."""
    if context.given or run.geometry.global_batch_size is not None:
        return run
    for claim in run.claims:
        if claim.worlds[0].geometry.global_batch_size is not None:
            return run._replace(geometry=claim.worlds[0].geometry, assumptions=claim.worlds[0].assumptions)
    return run


def _launched(run: Run, sizes: dict[str, Size], context: Context) -> Iterator[Run]:
    """Yield the run of each launch context that the settings state for this recipe; launches judge no claims of prose."""
    for launch in context.settings.launches:
        if not matches_any(run.path, launch.paths):
            continue
        stated = {Name.NUM_NODES: launch.num_nodes, Name.GPUS_PER_NODE: launch.gpus_per_node, Name.WORLD_SIZE: launch.world_size}
        hardware = {n: Quantity(n, v, Origin.LAUNCH, key=launch.name, note=launch.origin) for n, v in stated.items() if v is not None}
        seen = geometry(sizes, hardware, run.framework, run.document)
        start = Launch(Location(context.settings.source, 0, 0), Kind.SCRIPT, launch.name, tuple(hardware.values()))
        claims = tuple(Claim(claim.declaration, (World(seen),)) for claim in run.claims)
        yield run._replace(launch=start, geometry=seen, claims=claims, assumptions=())


def launch_run(running: Running, sizes: dict[str, Size], own: Run | None, declared: tuple[Declaration, ...]) -> Run:
    """Return the run of one launch, in its own world: what it really runs, held against the numbers that are claimed.

    `sizes` are those of the document that it runs, at their real places, `own` the recipe by itself, and `declared` what the
    comments of the launching script state of it.
    """
    framework = running.framework
    launch = running.found.launch._replace(kind=_kind(running, sizes))
    table = _counting_tokens(framework) if Name.SEQUENCE_LENGTH in sizes else framework
    hardware = _started(running, sizes)
    seen = geometry(sizes, hardware, table, running.document)
    judges = launch.kind not in JUDGES_NOTHING
    claimed = [claim.declaration for claim in own.claims] if own is not None and judges else []
    stated = [d for d in declared if d.name in CLAIMED] if judges else []
    claims = tuple(Claim(d, (World(seen),)) for d in (*claimed, *stated))
    policies = own.policies if own is not None and launch.kind == Kind.SCRIPT else ()
    assumptions = tuple(dict.fromkeys(_assumed(running, hardware, sizes)))
    places = running.places
    return Run(running.document, table, launch, seen, claims, declared, policies, assumptions=assumptions, places=places)


# A run of so few optimizer steps tries whether something works.
_FEW_STEPS: Final = 20
_BATCH: Final = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS, Name.GLOBAL_BATCH_SIZE)


def _kind(running: Running, sizes: dict[str, Size]) -> str:
    """Return the kind of a launch: a test where it takes a few steps alone, a template where a part of its batch is a variable."""
    launch = running.found.launch
    steps = sizes.get(Name.MAX_STEPS)
    if isinstance(steps, Quantity) and steps.origin == Origin.LAUNCH and 0 < steps.value <= _FEW_STEPS:
        return Kind.TEST
    batch = [size for name in _BATCH if isinstance(size := sizes.get(name), Unknown) and size.reason == Reason.INTERPOLATED]
    if launch.kind in (Kind.SCRIPT, Kind.DOCUMENT) and any(size.at and size.at.source != running.recipe for size in batch):
        return Kind.TEMPLATE
    return launch.kind


def _started(running: Running, sizes: dict[str, Size]) -> dict[str, Size]:
    """Return the hardware of a launch: what its launcher gives, else the recipe's own keys; never a comment."""
    given: dict[str, Size] = {size.name: size for size in running.found.start.sizes if size.name in (*HARDWARE, *PARALLEL)}
    if any(isinstance(given.get(name), Quantity) for name in HARDWARE):
        return given
    own = {name: size for name in HARDWARE if isinstance(size := sizes.get(name), Quantity)}
    parallel = {name: size for name, size in given.items() if name in PARALLEL}
    return {**parallel, **own} if own else given


def _assumed(running: Running, hardware: dict[str, Size], sizes: dict[str, Size]) -> Iterator[str]:
    """Yield what a launch takes for granted: variables that nobody sets, arguments that nobody adds."""
    for size in (*hardware.values(), *sizes.values()):
        name = size.note.removeprefix(_DEFAULT_OF) if isinstance(size, Quantity) else ""
        if isinstance(size, Quantity) and name != size.note and name.isidentifier() and name.isupper():
            yield name + _NOT_SET
    places = {size.at for size in sizes.values() if isinstance(size, Quantity) and size.origin == Origin.LAUNCH}
    for setting in settings(running.found.start.program[1:], running.framework.arguments):
        if setting.word.default and setting.at in places:
            yield from ((part.name or "a variable") + _NOT_SET for part in setting.word.parts if part.default)
    if any(_is_left_open(size.at, running) for size in _numbers(hardware)):
        yield _AS_IT_IS
    if running.found.launch.meant:
        yield "the text in quotes is meant as a whole, though a bare quote ends it"
    if running.found.launch.open:
        yield "the command line of the script changes nothing"


def _numbers(hardware: dict[str, Size]) -> Iterator[Quantity]:
    """Yield the numbers that a launch's hardware rests on."""
    for size in hardware.values():
        yield from leaves(size)


# A comment of a script that asks whoever runs it for other numbers, and how many characters behind it they may stand.
_ASKS: Final = ("change for", "change this", "change these", "change to your", "adjust to your", "set this to", "set these to")
_BEHIND: Final = 120


def _is_left_open(at: Location | None, running: Running) -> bool:
    """Return whether a comment right above a number, or beside it, asks for another one."""
    script = running.found.script
    if at is None or at.source != script.path:
        return False
    for block in script.comments:
        stop = block.pieces[-1][1] + len(block.text) - block.pieces[-1][0]
        if any(word in block.text.lower() for word in _ASKS) and 0 <= at.start - stop <= _BEHIND:
            return True
    return False


_DEFAULT_OF: Final = "default of "
_NOT_SET: Final = " is not set"
_AS_IT_IS: Final = "the number that a comment says to change is left as it is"


def _policies(expect: Iterable[Expectation], path: str) -> Iterator[Policy]:
    for e in expect:
        if not e.shared and matches_any(path, e.paths):
            yield Policy(e.name, e.low, e.high, e.values, e.origin, e.text)


class Launched(NamedTuple):
    """What the rules said of one launch of a recipe."""

    run: Run
    outcomes: dict[str, list[Outcome]]


class Judgement(NamedTuple):
    """What all rules said about one document: outcomes by rule code, bugs met on the way, and claims for rules that compare.

    `launched` is what they said of its launches by scripts, whose findings belong to the launching file.
    """

    outcomes: dict[str, list[Outcome]]
    internal: tuple[str, ...]
    judged: tuple[Judged, ...] = ()
    launched: tuple[Launched, ...] = ()


# The rule about keys that are missing, which other files may hold that a launch reads together with the recipe.
_LACKS: Final = "GBS209"


def judge_recipe(runs: tuple[Run, ...], view: FileView | None, rules: Rulebook) -> Judgement:
    """Return what file and run rules say of a recipe and its runs."""
    collected = _Collector()
    launched: list[Launched] = []
    if view is not None:
        for rule in rules.of(Scope.FILE):
            collected.collect(rule, view)
    partial = any(run.launch and run.launch.start and run.launch.start.together for run in runs)
    for run in runs:
        of_run = _Collector()
        scopes = (Scope.RUN,) if run.launch is None else (Scope.RUN, Scope.LAUNCH)
        for rule in rules.about(run.framework):
            if rule.scope in scopes and _concerns(rule, run) and not (partial and run.launch is None and rule.code == _LACKS):
                of_run.collect(rule, run)
        if run.launch is not None and run.places is not None:
            _collect_given(of_run, rules, run)
        if run.places is not None:
            of_run.relocate(run)
        told = _named(_softened(_one_cause(of_run), run), run)
        if run.launch is None or run.launch.start is None:
            collected.add(told)
        else:
            collected.internal.extend(told.internal)
            launched.append(Launched(run, _without_those_of(collected.outcomes, told.outcomes)))
    if len(runs) > 1:
        _compare_launches(runs, rules, collected, launched)
    outcomes = _without_decided(collected.outcomes, launched)
    judged = tuple(_judged(runs[0])) if runs and runs[0].launch is None else ()
    return Judgement(outcomes, tuple(collected.internal), judged, tuple(launched))


def _concerns(rule: Rule, run: Run) -> bool:
    """Return whether `rule`, which may have something to say of the table, may have anything to say of `run`."""
    return not rule.needs or rule.needs in OF_TABLE or bool(getattr(run, rule.needs))


# Rules that may fail for want of GPUs alone.
OF_HARDWARE: Final = ("GBS201", "GBS202", "GBS204", "GBS205")


def _softened(collected: _Collector, run: Run) -> _Collector:
    """Return `collected` with what is not certain of a launch told less firmly.

    Errors come from scripts. Where a variable that somebody may set decides about the processes, the framework need not stop.
    """
    launch = run.launch
    if launch is None or launch.start is None:
        return collected
    # The command that a recipe's own comment shows leaves out what everybody fills in: the number of machines, say.
    by_default = launch.at.source.endswith(CONFIGURATIONS) or any(a == _AS_IT_IS or a.endswith(_NOT_SET) for a in run.assumptions)
    if launch.kind == Kind.SCRIPT and not by_default:
        return collected
    # What a script says outright stays certain, whatever somebody may set of the rest.
    outright = launch.kind == Kind.SCRIPT and not launch.at.source.endswith(CONFIGURATIONS)
    for code, outcomes in list(collected.outcomes.items()):
        kept = [outcome for outcome in outcomes if not (by_default and code in OF_HARDWARE and isinstance(outcome, Finding))]
        collected.outcomes[code] = [o if outright and code in _OUTRIGHT and not _assumes(o) else _warning(o) for o in kept]
    return collected


# Rules that may find keys which exclude each other or are not there, whatever the numbers are.
_OUTRIGHT: Final = ("GBS203", "GBS209")


def _assumes(outcome: Outcome) -> bool:
    return isinstance(outcome, Finding) and bool(outcome.assumptions)


def _warning(outcome: Outcome) -> Outcome:
    grave = isinstance(outcome, Finding) and outcome.severity == Severity.ERROR
    return outcome._replace(severity=Severity.WARNING) if grave else outcome  # type: ignore[call-arg]


# Rules about single values, which a command line can get wrong as well as a file.
_OF_VALUES: Final = ("GBS003", "GBS004")


def _collect_given(collected: _Collector, rules: Rulebook, run: Run) -> None:
    """Add what rules about values say of those that the command line of a launch gives."""
    assert run.launch is not None
    view = FileView(run.document, run.framework, {}, None, False)
    told = _Collector()
    for rule in rules.all:
        if rule.code in _OF_VALUES:
            told.collect(rule, view)
    collected.internal.extend(told.internal)
    for code, outcomes in told.outcomes.items():
        given = [outcome for outcome in outcomes if outcome.at and not run.real(outcome.at).source.endswith(CONFIGURATIONS)]
        collected.outcomes.setdefault(code, []).extend(given)


def _compare_launches(runs: tuple[Run, ...], rules: Rulebook, collected: _Collector, launched: list[Launched]) -> None:
    """Add what rules say of all runs of a recipe together: in a launching file, each to the launch that it is about."""
    together = _Collector()
    for rule in rules.of(Scope.RECIPE):
        together.collect(rule, runs)
    collected.internal.extend(together.internal)
    for code, outcomes in together.outcomes.items():
        for outcome in outcomes:
            about = next(
                (each for each in launched if outcome.at and each.run.launch and each.run.launch.at.source == outcome.at.source), None
            )
            (about.outcomes if about else collected.outcomes).setdefault(code, []).append(outcome)


def _without_those_of(known: dict[str, list[Outcome]], outcomes: dict[str, list[Outcome]]) -> dict[str, list[Outcome]]:
    """Return the outcomes of a launch without findings that the recipe has by itself, whoever launches it."""
    told = {(code, outcome.message) for code, each in known.items() for outcome in each if isinstance(outcome, Finding)}
    kept = {c: [o for o in each if not (isinstance(o, Finding) and (c, o.message) in told)] for c, each in outcomes.items()}
    return {code: each for code, each in kept.items() if each}


# What a launch decides by its own rule, that the recipe by itself leaves open.
_DECIDED_BY: Final = {"GBS101": "GBS301", "GBS501": "GBS501"}


def _without_decided(outcomes: dict[str, list[Outcome]], launched: Iterable[Launched]) -> dict[str, list[Outcome]]:
    """Return the outcomes of a recipe without open claims and policies that one of its launches decides."""
    decided = {code for each in launched for code, found in each.outcomes.items() if any(not isinstance(o, Undetermined) for o in found)}
    for code, by in _DECIDED_BY.items():
        if by in decided and code in outcomes:
            outcomes[code] = [outcome for outcome in outcomes[code] if not isinstance(outcome, Undetermined)]
    return {code: each for code, each in outcomes.items() if each}


def judge_file(view: object, rules: Rulebook, scope: str) -> Judgement:
    """Return what the rules of one scope say about something that is no recipe."""
    collected = _Collector()
    for rule in rules.of(scope):
        collected.collect(rule, view)
    return Judgement(collected.outcomes, tuple(collected.internal))


class _Collector:
    """Gathers outcomes; the one place where a bug in a rule is caught, so that the run goes on and says so."""

    def __init__(self) -> None:
        self.outcomes: dict[str, list[Outcome]] = {}
        self.internal: list[str] = []

    def collect(self, rule: Rule, subject: Any) -> None:
        try:
            for outcome in rule.check(subject):
                self.outcomes.setdefault(rule.code, []).append(outcome)
        except Exception as error:
            path = getattr(subject, "path", None) or getattr(getattr(subject, "document", None), "source", ("?",))[0]
            self.internal.append(f"internal error in {rule.code} on {path}: {type(error).__name__}: {error}")

    def relocate(self, run: Run) -> None:
        """Turn places in the made-up document of `run` into real ones."""
        for code, outcomes in self.outcomes.items():
            self.outcomes[code] = [_really(outcome, run) for outcome in outcomes]

    def add(self, other: _Collector) -> None:
        for code, outcomes in other.outcomes.items():
            self.outcomes.setdefault(code, []).extend(outcomes)
        self.internal.extend(other.internal)


def _really(outcome: Outcome, run: Run) -> Outcome:
    """Return `outcome` at its real place, without edits where that is not the place it was made for."""
    if outcome.at is None:
        return outcome
    at = run.real(outcome.at)
    if not isinstance(outcome, Finding):
        return outcome._replace(at=at)
    related = tuple(each._replace(at=run.real(each.at)) for each in outcome.related)
    return outcome._replace(at=at, related=related)


def _named(collected: _Collector, run: Run) -> _Collector:
    """Return `collected` with each finding of a launch saying which launch it is about."""
    if run.launch is not None:
        at = run.launch.at if run.launch.at.stop else None
        words = () if at is not None else (f"launched as {run.launch.command}",)
        for code, outcomes in collected.outcomes.items():
            collected.outcomes[code] = [
                o._replace(launch=at, details=(*o.details, *words)) if isinstance(o, Finding) else o for o in outcomes
            ]
    return collected


def _one_cause(collected: _Collector) -> _Collector:
    """Return `collected` without what a recipe that runs nowhere says of its batch: GBS204 stands for it."""
    if any(isinstance(outcome, Finding) for outcome in collected.outcomes.get("GBS204", ())):
        for code in [code for code in collected.outcomes if code.startswith("GBS1") or code in ("GBS202", "GBS205")]:
            del collected.outcomes[code]
    return collected


def _judged(run: Run) -> Iterator[Judged]:
    """Yield the claims that name nodes and leave the GPUs of each open, with the number they would need."""
    for claim in run.claims:
        said = dict(claim.declaration.conditions)
        nodes = said.get(Name.NUM_NODES)
        if nodes is None or Name.GPUS_PER_NODE in said or Name.WORLD_SIZE in said or claim.declaration.unit == "tokens":
            continue
        sizes = {n: s for n, s in run.geometry.stated.items() if n not in (*HARDWARE, Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE)}
        sizes[Name.NUM_NODES] = Quantity(Name.NUM_NODES, nodes, Origin.COMMENT)
        found = law(Name.GLOBAL_BATCH_SIZE, sizes, run.framework.equations)
        if found is None or found.free != (Name.GPUS_PER_NODE,):
            continue
        needed = claim.declaration.value / found.coefficient
        whole = int(needed) if needed.denominator == 1 else None
        text = f"{claim.declaration.value:,} = {found.coefficient} x {needed} GPUs per node on {nodes} node{'s' * (nodes != 1)}"
        yield Judged(run.path, claim.declaration, nodes, whole, text)


# Rules about the batch, by the start of their codes.
_ABOUT_BATCH: Final = ("GBS1", "GBS2", "GBS3", "GBS4", "GBS5")


def verification(judgement: Judgement) -> Verified | None:
    """Return the first outcome for which a recipe may be called verified, of its own or of a launch; None where there is none."""
    told = (judgement.outcomes, *(each.outcomes for each in judgement.launched))
    return next((o for outcomes in told for each in outcomes.values() for o in each if isinstance(o, Verified) and _verifies(o)), None)


def _verifies(outcome: Verified) -> bool:
    return outcome.decides and outcome.code.startswith(_ABOUT_BATCH)


def verdict(outcomes: dict[str, list[Outcome]]) -> str:
    """Return the verdict on a recipe that follows from all outcomes of its rules."""
    flat = [outcome for each in outcomes.values() for outcome in each]
    severities = {outcome.severity for outcome in flat if isinstance(outcome, Finding)}
    if Severity.ERROR in severities:
        return Verdict.VIOLATED
    if Severity.WARNING in severities:
        return Verdict.WARNED
    if any(isinstance(outcome, Undetermined) and outcome.claim for outcome in flat):
        return Verdict.UNDETERMINED
    if any(isinstance(o, Verified) and _verifies(o) for o in flat):
        return Verdict.VERIFIED
    return Verdict.UNCLAIMED


def worst(outcomes: dict[str, list[Outcome]]) -> tuple[tuple[str, str], ...]:
    """Return each rule that applied with its worst outcome, by code."""
    words = {Verified: "verified", Undetermined: "undetermined", Finding: "violated"}
    return tuple(
        (code, max((words[type(o)] for o in outcomes[code]), key=_WORST.__getitem__)) for code in sorted(outcomes) if outcomes[code]
    )


def claimed(runs: tuple[Run, ...]) -> bool:
    """Return whether anything says what the batch of these runs should be."""
    return bool(runs and (runs[0].claims or runs[0].policies))


__all__ = [
    "OF_HARDWARE",
    "Context",
    "Judgement",
    "Launched",
    "build_runs",
    "claimed",
    "judge_file",
    "judge_recipe",
    "launch_run",
    "verdict",
    "verification",
    "worst",
]
