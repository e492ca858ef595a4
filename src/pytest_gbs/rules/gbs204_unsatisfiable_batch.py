"""No number of GPUs works for this recipe.

Each check of the framework alone may have a number of GPUs that passes, and all of them together none. Such a recipe cannot run anywhere:
the first time anybody notices is after the cluster was allocated.

What the framework does: it stops at start, whatever it is launched on. HALOs divides `model.batch_size` by processes x
accumulation (`ValueError: 8 needs to be divisible by the number of processes * gradient_accumulation_steps`), and its loaders
for unpaired data refuse the one process that would be left (`can't use batch size of 1`).

How to mend it: the finding names the checks that no number of GPUs passes; change one of the sizes in them.

This finding stands for all others of the batch equation in the same run. It stays silent where a size in those checks is not known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pytest_gbs.core.constraints import applies, describe, holds, judge, place
from pytest_gbs.core.framework import Constraint
from pytest_gbs.core.location import Location
from pytest_gbs.core.outcome import Finding, Fix, Outcome, Related, Severity, Verified
from pytest_gbs.core.quantity import RANKS, Name, Quantity
from pytest_gbs.core.rule import Example, Needs, Rule, Scope
from pytest_gbs.core.run import Run
from pytest_gbs.core.typed import Final
from pytest_gbs.core.wording import count, leaves, short

CODE = "GBS204"
_ABOUT_GPUS: Final = ("GBS202", CODE, "GBS205")


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the framework checks divisions: does some number of GPUs pass them all?"""
    constraints = [c for c in run.framework.constraints if c.code in _ABOUT_GPUS and applies(c, run)]
    if not constraints:
        return
    from pytest_gbs.core.feasible import runs_somewhere

    somewhere = runs_somewhere(run)
    if somewhere:
        yield Verified(CODE, place(run, _names(constraints[:1])), decides=False)
    elif somewhere is False:
        yield _finding(run, _core(run, constraints) or constraints)


def _core(run: Run, constraints: list[Constraint]) -> list[Constraint]:
    """Return checks that no number of GPUs passes together, none of them needless, the first in preference; or none at all."""
    from pytest_gbs.core.feasible import runs_somewhere

    core = list(constraints)
    for constraint in reversed(constraints):
        others = [other for other in core if other is not constraint]
        if runs_somewhere(run._replace(framework=run.framework._replace(constraints=tuple(others)))) is False:
            core = others
    return core


def _finding(run: Run, core: list[Constraint]) -> Finding:
    """Return the finding: the `core` that excludes each other, and what stops the run on the hardware at hand."""
    anywhere = _without_hardware(run)
    said = [describe(anywhere, constraint) for constraint in core]
    alone = len(said) == 1
    message = f"no number of GPUs fits: {said[0] if alone else 'the checks of the framework exclude each other'}"
    reasons = [constraint.label for constraint in core if constraint.at_least is not None and constraint.label]
    stops = _stops(run)
    at = place(anywhere, _names(core))
    details = dict.fromkeys((*([] if alone else said), *reasons, *stops))
    related, fixes = tuple(_related(anywhere, core, at)), tuple(dict.fromkeys(_fixes(run, anywhere, core)))
    return Finding(CODE, message, Severity.ERROR, at, related=related, details=tuple(details), fixes=fixes)


def _fixes(run: Run, anywhere: Run, core: list[Constraint]) -> Iterator[Fix]:
    """Yield the changes that give the batch that is claimed, then the nearest ones that pass a check on one process at least."""
    from pytest_gbs.core.repairs import dividing, reaching

    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    for declaration in (claim.declaration for claim in run.claims):
        if isinstance(size, Quantity) and declaration.name == size.name and not declaration.admits(size.value):
            yield from (repair.fix for repair in reaching(run, size, declaration.value) if repair.fix is not None)
    if run.geometry.value(Name.WORLD_SIZE) is not None:
        yield from (fix for outcome in _failing(run) for fix in outcome.fixes)
    for constraint in core:
        names = tuple(name for name in constraint.divisor if name not in RANKS)
        sides = [[s for name in side if isinstance(s := anywhere.geometry.get(name), Quantity)] for side in (constraint.dividend, names)]
        if constraint.at_least is None and [len(side) for side in sides] == [len(constraint.dividend), len(names)]:
            yield from dividing(anywhere, *sides)


def _without_hardware(run: Run) -> Run:
    """Return `run` without the sizes that the number of GPUs at hand has a part in: none of them is to blame."""
    sizes = run.geometry.stated.items()
    free = {name: size for name, size in sizes if name not in RANKS and not any(leaf.name in RANKS for leaf in leaves(size))}
    return run._replace(geometry=run.geometry._replace(stated=free))


def _stops(run: Run) -> list[str]:
    """Return what stops the run on the number of GPUs at hand: the findings for which this one stands."""
    world = run.geometry.value(Name.WORLD_SIZE)
    if world is None:
        return []
    return [f"on {count(world, Name.WORLD_SIZE)}: {finding.message}" for finding in _failing(run)]


def _failing(run: Run) -> list[Finding]:
    """Return what the checks find on the number of GPUs at hand."""
    outcomes = (outcome for code in _ABOUT_GPUS if code != CODE for outcome in judge(run, code))
    return [outcome for outcome in outcomes if isinstance(outcome, Finding)]


def _names(constraints: Iterable[Constraint]) -> tuple[str, ...]:
    return tuple(name for constraint in constraints for name in (*constraint.dividend, *constraint.divisor))


def _related(run: Run, core: Iterable[Constraint], at: Location) -> Iterator[Related]:
    """Yield each other place that the sizes in `core` rest on, and the values that make this framework ask for a least size."""
    places = [(leaf.at, short(leaf.name)) for name in _names(core) for leaf in leaves(run.geometry.get(name))]
    if any(constraint.at_least is not None for constraint in core):
        chosen = [each for each in run.framework.recognition.when if holds(each, run.document, run.framework.loader)]
        places += [(run.document.locate(each.key), str(each.key[-1])) for each in chosen]
    labels = {place: label for place, label in reversed(places) if place is not None and place != at}
    yield from (Related(place, labels[place]) for place in reversed(labels))


_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/prompts
reward_funcs: [accuracy]
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
num_generations: {generations}
generation_batch_size: 36
"""

_HALOS = """\
loss: ppo
exp_name: llama-ppo
train_datasets: [ultrabin]
test_datasets: [ultrabin]
model:
  name_or_path: my/model
  batch_size: {batch}
  gradient_accumulation_steps: 8
"""

RULE = Rule(
    code=CODE,
    name="unsatisfiable-batch",
    scope=Scope.RUN,
    needs=Needs.CONSTRAINTS,
    summary="no number of GPUs works for this recipe",
    bad=(
        Example((("grpo.yaml", _RECIPE.format(generations=8)),)),
        Example((("ppo.yaml", _HALOS.format(batch=8)),), ("--world-size", "4")),
    ),
    good=(
        Example((("grpo.yaml", _RECIPE.format(generations=6)),)),
        Example((("ppo.yaml", _HALOS.format(batch=32)),), ("--world-size", "4")),
    ),
    check=check,
)
