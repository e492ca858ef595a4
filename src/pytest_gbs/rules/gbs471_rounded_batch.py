"""verl trains on another batch than the one stated, without a warning.

verl before 0.8 multiplies the mini batch by the completions of each prompt, divides it by the ranks, and rounds down. The optimizer
then steps on fewer completions than the settings say; what is left over makes one more and smaller step at the end of a rollout.
Learning rate, steps and logs all go by the batch that was meant.

What the framework does: the FSDP workers round with `//=` and split a rollout into mini batches of what remains; the loss of the smaller
last one is weighted as if it were whole. The newer SFT trainer rounds the batch of each rank down in the same way. Neither prints a
warning. Since 0.8 verl stops where the ranks can't share a mini batch, which is an error if the repository pins such a version, and
since 0.9 it fills a rollout up to whole mini batches.

How to fix it: choose a mini batch whose completions (`ppo_mini_batch_size` x `rollout.n`) are a multiple of the ranks, and a rollout
that is a multiple of the mini batch.

It stays silent if the number of GPUs is not known, and if another check of verl stops it. What is left over of a rollout is undetermined
unless a version of verl before 0.9 is pinned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.frameworks.constraints import place
from pytest_gbs.model.equation import Enforcement, Equation
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run

_PARTS: Final = frozenset((Name.RANK_BATCH_SIZE, Name.MICRO_BATCH_SIZE))


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where verl may round: does each step train on the batch stated, and the last step of a rollout too?"""
    sizes = run.geometry._replace(realised={})
    batch, ranks, rank = (sizes.value(name) for name in (Name.GLOBAL_BATCH_SIZE, Name.DATA_PARALLEL_SIZE, Name.RANK_BATCH_SIZE))
    if not batch or not ranks or not rank:
        return
    at = place(run, (Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE))
    rollout = sizes.value(Name.GENERATION_BATCH_SIZE)
    if batch % ranks:
        yield _rounded(run, batch, ranks, rank)
    elif not rollout or not _splits(run):
        yield Verified(ITS_RULE, at, run.assumptions)
    elif rollout > batch and rollout % batch and rollout % ranks == 0:
        yield _leaves(run, rollout, batch)
    elif rollout % batch == 0:
        yield Verified(ITS_RULE, at, run.assumptions)


def _rounded(run: Run, batch: int, ranks: int, rank: int) -> Finding:
    """What is wrong where the ranks can't share the batch: it is rounded down, or verl stops, or either where its version is not known."""
    does, unit = _equation(run, Name.RANK_BATCH_SIZE), run.framework.unit
    message = f"each optimizer step trains on {rank * ranks:,} {unit}, not {batch:,}: {rank:,} on each of {ranks:,} ranks"
    severity, label = Severity.WARNING, "rounded down"
    if does.mismatch == Enforcement.STOPS_LATE:
        if does.since:
            message += f"; since {does.since} verl stops instead"
        else:
            message = f"{batch:,} {unit} can't be split evenly over {ranks:,} ranks; verl stops during training"
            severity, label = Severity.ERROR, "not a multiple of the ranks"
    at, fixes = place(run, (Name.DATA_PARALLEL_SIZE, Name.GLOBAL_BATCH_SIZE)), _fixes(run, Name.GLOBAL_BATCH_SIZE, Name.DATA_PARALLEL_SIZE)
    return Finding(ITS_RULE, message, severity, at, label, assumptions=run.assumptions, fixes=fixes)


def _leaves(run: Run, rollout: int, batch: int) -> Outcome:
    """What comes of a rollout that is not a multiple of the batch: a smaller step, unless a newer verl fills it up."""
    does, left = _equation(run, Name.STEPS_PER_ROLLOUT), rollout % batch
    at = place(run, (Name.GENERATION_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE))
    parts = f"{rollout:,} = {rollout // batch:,} x {batch:,} + {left:,}"
    message = f"the last optimizer step of each rollout trains on {left:,} {run.framework.unit}, not {batch:,}: {parts}"
    if does.mismatch != Enforcement.CORRECTS:
        fixes = _fixes(run, Name.GENERATION_BATCH_SIZE, Name.GLOBAL_BATCH_SIZE)
        return Finding(ITS_RULE, message, Severity.WARNING, at, "leaves a remainder", assumptions=run.assumptions, fixes=fixes)
    if does.since:
        return Undetermined(ITS_RULE, at, message, implies=f"false with verl {does.since} and later, which fills it up", claim=False)
    return Verified(ITS_RULE, at, run.assumptions)


def _equation(run: Run, name: str) -> Equation:
    """The equation that gives size `name`, which says what this version of verl does with a remainder."""
    return next(each for each in run.framework.equations if each.result == name)


def _fixes(run: Run, divided: str, by: str) -> tuple[Fix, ...]:
    """The nearest numbers of one setting with which size `divided` leaves no remainder."""
    from pytest_gbs.frameworks.repairs import dividing, fixes

    top, bottom = run.geometry.said(divided), run.geometry.said(by)
    return fixes(dividing(run, (top,), (bottom,))) if isinstance(top, Quantity) and isinstance(bottom, Quantity) else ()


def _splits(run: Run) -> bool:
    """Whether a rollout is split into whatever is left; with Megatron it must hold whole mini batches, or is filled up to them."""
    of_rollout = (each for each in run.framework.constraints if Name.GENERATION_BATCH_SIZE in each.dividend)
    return all(_PARTS.isdisjoint(each.divisor) for each in of_rollout)


_RECIPE = """\
data:
  train_batch_size: 1024
actor_rollout_ref:
  actor:
    ppo_mini_batch_size: {mini}
    ppo_micro_batch_size_per_gpu: 2
  rollout:
    n: 1
trainer:
  n_gpus_per_node: 8
  nnodes: 8
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="verl rounds the batch down without a warning",
    severity=Severity.WARNING,
    bad=(
        Example((("ppo.yaml", _RECIPE.format(mini=260)),)),
        Example((("ppo.yaml", _RECIPE.format(mini=384)), ("requirements.txt", "verl==0.7.0\n"))),
    ),
    good=(Example((("ppo.yaml", _RECIPE.format(mini=256)),)),),
    check=check,
    frameworks=("verl",),
)
