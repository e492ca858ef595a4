"""The run of a launch: what it really runs, on its own hardware, with its own assumptions."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import Final

from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.checking.runs import BATCH, CLAIMED, COUNTING, applied_with_tokens, claimed_in, named_in_settings, with_claims, world_of
from pytest_gbs.claims.second_reading import read_again
from pytest_gbs.claims.worlds import HardwareEvidence, Nearby, geometry, readings
from pytest_gbs.frameworks.conditions import Applied
from pytest_gbs.launches.resolved_launch import ResolvedLaunch
from pytest_gbs.model.assumption import Assuming, Assumption
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.document import Document
from pytest_gbs.model.launch import JUDGES_NOTHING, Kind
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import Finding
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.quantity import HARDWARE, PARALLEL, RANK_FACTORS, Name, Noted, Origin, Quantity, Reason, Size, Unknown
from pytest_gbs.model.run import Claim, Geometry, Run, World
from pytest_gbs.readers.command_settings import settings


def launch_run(resolved: ResolvedLaunch, sizes: dict[str, Size], own: Run | None, declared: tuple[Declaration, ...]) -> Run:
    """The run of one launch, in its own world: what it really runs, compared with the numbers that are claimed.

    `sizes` are those of the document that it runs, at their real places, `own` the recipe by itself, and `declared` what the
    comments of the launching script state of it.
    """
    run = _run(resolved, sizes, own, declared)
    if not declared:
        return run
    again = read_again(run, run.claims, declared, resolved.found.script.comments)
    return _run(resolved, sizes, own, again) if again is not None else run


def _run(resolved: ResolvedLaunch, sizes: dict[str, Size], own: Run | None, declared: tuple[Declaration, ...]) -> Run:
    """The run of one launch of which `declared` is said."""
    framework = resolved.framework
    launch = resolved.found.launch._replace(kind=_kind(resolved, sizes))
    applied = applied_with_tokens(resolved.document, framework, sizes)
    hardware = _started(resolved, sizes)
    seen = geometry(sizes, hardware, applied, resolved.document)
    judges = launch.kind not in JUDGES_NOTHING
    claimed = list(claimed_in(own, seen)) if own is not None and judges else []
    stated = [_as_meant(d, seen) for d in declared if d.name in CLAIMED and d.force in COUNTING] if judges else []
    policies_of_recipe = own.policies if own is not None and launch.kind == Kind.SCRIPT else ()
    policies = tuple(policy for policy in policies_of_recipe if not policy.ran)
    assumptions = tuple(dict.fromkeys(_assumed(resolved, hardware, sizes)))
    places = resolved.places
    names = named_in_settings(resolved.document, framework, places) if own is None and judges else ()
    run = Run(resolved.document, applied.real, launch, seen, (), (*declared, *names), policies, assumptions=assumptions, places=places)
    own_worlds = ((d, _in_its_world(d, sizes, hardware, applied, resolved.document) or (World(seen),)) for d in stated)
    run = with_claims(run, (*((declaration, (World(seen),)) for declaration in claimed), *own_worlds))
    return run._replace(claims=tuple(claim for claim in run.claims if own is None or not _is_known(claim, own)))


def _as_meant(declaration: Declaration, seen: Geometry) -> Declaration:
    """A plain batch size that a document states of a launch: it is stated if it is that of no device, no pass and no optimizer step."""
    micro, steps, ranks = (seen.value(name) for name in (*RANK_FACTORS, Name.DATA_PARALLEL_SIZE))
    total = seen.value(Name.GLOBAL_BATCH_SIZE)
    rollouts = any(seen.value(name) is not None for name in (Name.GENERATION_BATCH_SIZE, Name.PROMPTS_PER_ROLLOUT))
    if not declaration.weak or declaration.paragraph is None:
        return declaration
    if micro is not None and steps is not None and ranks is not None:
        meant = any(declaration.admits(each) for each in (micro, micro * steps, micro * ranks, micro * steps * ranks))
    else:
        meant = total is None or rollouts or any(each.low <= total for each in declaration.holds)  # a part of the batch is no larger
    return declaration if meant else declaration._replace(force=Force.STATES, weak=False)


def _in_its_world(
    declaration: Declaration, sizes: dict[str, Size], hardware: dict[str, Size], applied: Applied, document: Document
) -> tuple[World, ...]:
    """The worlds of a script's claim that names its hardware (`16 if 16 gpus`), if the launch leaves its own open, in all or its nodes."""
    named = {name: value for name, value in declaration.conditions if name in HARDWARE}
    own = {Name.GPUS_PER_NODE: size} if isinstance(size := hardware.get(Name.GPUS_PER_NODE), Quantity) else {}
    if not named or isinstance(hardware.get(Name.WORLD_SIZE), Quantity) or not all(_fills(named, each.value) for each in own.values()):
        return ()
    evidence = HardwareEvidence(own, {}, {}, Nearby)
    return tuple(world_of(sizes, stated, applied, document) for stated in readings(declaration, {}, evidence, sizes))


def _fills(named: dict[str, int], gpus: int) -> bool:
    """Whether hardware that a claim has `named` is that of several nodes, each with so many GPUs."""
    total = named.get(Name.WORLD_SIZE)
    several = Name.NUM_NODES in named if total is None else total > gpus and total % gpus == 0
    return several and named.get(Name.GPUS_PER_NODE, gpus) == gpus


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


_SIMULATED: Final = tuple(f"{kind}_world_size" for kind in ("fake", "mock", "sim", "simulated", "virtual"))


def _started(resolved: ResolvedLaunch, sizes: dict[str, Size]) -> dict[str, Size]:
    """The hardware of a launch: what its launcher gives, else the recipe's own keys; never a comment.

    A trainer of reinforcement learning whose keys count nodes and GPUs asks a cluster for them, whatever starts its one controller. Keys
    that have their defaults alone ask for nothing: the same trainer may run in the processes of its launcher. What a program simulates on
    one GPU, `--fake-world-size 8`, is not what was started: it is unknown.
    """
    if any((name,) in resolved.document.keyed for name in _SIMULATED):
        return {}
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
