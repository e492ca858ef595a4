"""No number of GPUs works for this recipe.

Each check of the framework alone may have a number of GPUs that passes, and all of them together none. Such a recipe cannot run anywhere:
it is noticed only after the cluster was allocated.

What the framework does: it stops at start, on any hardware. HALOs divides `model.batch_size` by processes x
accumulation (`ValueError: 8 needs to be divisible by the number of processes * gradient_accumulation_steps`), and its loaders
for unpaired data refuse the one process that would be left (`can't use batch size of 1`).

How to fix it: the finding names the checks that no number of GPUs passes; change one of the sizes in them.

This finding replaces all others of the batch equation in the same run. It stays silent if a size in those checks is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.arithmetic.wording import count, leaves, short
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.constraints import applies, describe, in_versions, judge, place
from pytest_gbs.model.equation import Enforcement, Equation
from pytest_gbs.model.framework import Constraint
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import RANKS, Name, Origin, Quantity, Size
from pytest_gbs.model.record import Final, TypeAlias
from pytest_gbs.model.rule import GRPO_RECIPE, HALOS_RECIPE, About, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run

# The rules whose findings this one stands for.
_STANDS_FOR: Final = ("batch-not-divisible", "group-not-divisible")
# What a number of GPUs has to pass.
_Check: TypeAlias = Constraint | Equation


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the framework checks divisions: does some number of GPUs pass them all?"""
    applying = [each for each in run.framework.constraints if applies(each, run)]
    constraints = [each for each in applying if each.rule in (RULE.name, *_STANDS_FOR)]
    if not constraints:
        return
    from pytest_gbs.frameworks.feasible import runs_somewhere

    somewhere = runs_somewhere(run, applying)
    if somewhere:
        yield Verified(ITS_RULE, place(run, _names(constraints[:1])))
    elif somewhere is False:
        yield _finding(run, _core(run, constraints, applying))


def _core(run: Run, constraints: list[Constraint], applying: list[Constraint]) -> list[_Check]:
    """What no number of GPUs passes together, none of it needless: checks in preference, the first ones before the last.

    The equations have a part in it if the checks alone leave a number, and so have the parallel sizes, of whose product the GPUs
    are a multiple.
    """
    others = (each for each in applying if each not in constraints)
    core: list[_Check] = [*constraints, *others, *run.framework.equations]
    for each in reversed(core):
        without = [other for other in core if other is not each]
        if _fits_nowhere(run, without):
            core = without
    world = (Name.WORLD_SIZE,)
    degrees = [
        q for e in run.framework.equations if e.product == world for n in e.divisors if isinstance(q := run.geometry.get(n), Quantity)
    ]
    partners = [q.name for q in degrees if q.value > 1 and not _fits_nowhere(_with_one(run, q.name), core)]
    return [*core, Constraint(RULE.name, world, tuple(partners))] if partners else core


def _fits_nowhere(run: Run, checks: list[_Check]) -> bool:
    """Whether no number of GPUs passes `checks` alone; the equations that are none of them still say what follows from what."""
    from pytest_gbs.frameworks.feasible import runs_somewhere

    equations = (e if e in checks else e._replace(mismatch=Enforcement.IGNORES) for e in run.framework.equations)
    constraints = [each for each in checks if isinstance(each, Constraint)]
    framework = run.framework._replace(equations=tuple(equations), constraints=tuple(constraints))
    return runs_somewhere(run._replace(framework=framework), constraints) is False


def _with_one(run: Run, name: str) -> Run:
    """`run` with a size of one in the place of size `name`."""
    return run._replace(geometry=run.geometry._replace(stated={**run.geometry.stated, name: Quantity(name, 1, Origin.FILE)}))


def _finding(run: Run, core: list[_Check]) -> Finding:
    """The finding: the `core` that excludes each other, and what stops the run on the hardware at hand."""
    anywhere = _without_hardware(run)
    said = [describe(anywhere, each) for each in core]
    alone = len(said) == 1
    doubted = min(core, key=lambda each: not each.doubt)
    reason = said[0] if alone else "these checks of the framework contradict each other"
    message = f"no number of GPUs works: {reason}{in_versions(doubted, run.framework)}"
    reasons = [each.label for each in core if isinstance(each, Constraint) and each.at_least is not None and each.label]
    stops = _stops(run)
    at = place(anywhere, _names(core))
    details = dict.fromkeys((*([] if alone else said), *reasons, *stops))
    related, fixes = tuple(_related(anywhere, core, at)), tuple(dict.fromkeys(_fixes(run, anywhere, core)))
    severity = Severity.WARNING if doubted.doubt else Severity.ERROR
    return Finding(ITS_RULE, message, severity, at, related=related, details=tuple(details), fixes=fixes)


def _fixes(run: Run, anywhere: Run, core: list[_Check]) -> Iterator[Fix]:
    """Yield the changes that give the batch that is claimed, then the nearest ones that pass a check on one process at least."""
    from pytest_gbs.frameworks.repairs import dividing, fixes, reaching

    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    for declaration in (claim.declaration for claim in run.claims):
        if isinstance(size, Quantity) and declaration.name == size.name and not declaration.admits(size.value):
            yield from fixes(reaching(run, size, declaration.value))
    if run.geometry.value(Name.WORLD_SIZE) is not None:
        yield from (fix for outcome in _failing(run) for fix in outcome.fixes)
    for constraint in (each for each in core if isinstance(each, Constraint)):
        names = tuple(name for name in constraint.divisor if name not in RANKS)
        sides = [[s for name in side if isinstance(s := anywhere.geometry.get(name), Quantity)] for side in (constraint.dividend, names)]
        if constraint.at_least is None and [len(side) for side in sides] == [len(constraint.dividend), len(names)]:
            yield from fixes(dividing(anywhere, *sides))


def _without_hardware(run: Run) -> Run:
    """`run` without the sizes that the number of GPUs at hand has a part in: none of them is to blame."""
    from pytest_gbs.frameworks.feasible import on_any_hardware

    sizes = run.geometry.stated.items()
    free: dict[str, Size] = {name: kept for name, size in sizes if (kept := on_any_hardware(name, size)) is not None}
    return run._replace(geometry=run.geometry._replace(stated=free))


def _stops(run: Run) -> list[str]:
    """What stops the run on the number of GPUs at hand: the findings for which this one stands."""
    world = run.geometry.value(Name.WORLD_SIZE)
    if world is None:
        return []
    return [f"on {count(world, Name.WORLD_SIZE)}: {finding.message}" for finding in _failing(run)]


def _failing(run: Run) -> list[Finding]:
    """What the checks find on the number of GPUs at hand."""
    outcomes = (outcome for rule in _STANDS_FOR for outcome in judge(run, rule))
    return [outcome for outcome in outcomes if isinstance(outcome, Finding)]


def _names(checks: Iterable[_Check]) -> tuple[str, ...]:
    return tuple(name for each in checks for name in _operands(each))


def _operands(check: _Check) -> tuple[str, ...]:
    if isinstance(check, Equation):
        return (check.result, *check.product, *check.divisors)
    return check.names


def _related(run: Run, core: Iterable[_Check], at: Location) -> Iterator[Related]:
    """Yield each other place that the sizes in `core` rest on, and the values that make this framework ask for a least size."""
    places = [(leaf.at, short(leaf.name)) for name in _names(core) for leaf in leaves(run.geometry.get(name))]
    if any(isinstance(each, Constraint) and each.at_least is not None for each in core):
        chosen = [each for each in run.framework.recognition.when if holds(each, run.document, run.framework.loader)]
        places += [(run.document.locate(each.key), str(each.key[-1])) for each in chosen]
    labels = {place: label for place, label in reversed(places) if place is not None and place != at}
    yield from (Related(place, labels[place]) for place in reversed(labels))


_RECIPE = f"{GRPO_RECIPE}num_generations: {{generations}}\ngeneration_batch_size: 36\n"

_HALOS = f"loss: ppo\n{HALOS_RECIPE}  gradient_accumulation_steps: 8\n  batch_size: {{batch}}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CONSTRAINTS,
    summary="no number of GPUs works for this recipe",
    bad=(Example((("grpo.yaml", _RECIPE.format(generations=8)),)), Example((("ppo.yaml", _HALOS.format(batch=8)),), ("--world-size", "4"))),
    good=(
        Example((("grpo.yaml", _RECIPE.format(generations=6)),)),
        Example((("ppo.yaml", _HALOS.format(batch=32)),), ("--world-size", "4")),
    ),
    check=check,
    about=About.HARDWARE,
    on_any_hardware=True,
)
