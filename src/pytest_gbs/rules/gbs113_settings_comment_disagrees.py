"""A comment states a batch that the settings beside it do not give, in a file of a trainer that no table knows, or in a document.

Many repositories have a trainer of their own, and settings like `batch_size: 4` and `grad_accum: 8  # effective batch = 32`. If one
of the two numbers changes, the comment goes stale as it does anywhere else. So it does in the blocks of YAML and Python that a README
shows.

What the program does with these numbers is not known. The rule goes by their names: a batch size, an accumulation, and any number of
processes, or one if no program of the repository has a word for several. It fires only if no number of processes gives what the
comment says, and if that is not the batch size by itself, which a trainer may divide into micro batches.

How to fix it: correct the number in the comment, or the setting. To have the file checked like that of a known framework, describe the
trainer in a few lines (`gbs init` prints them).

It stays silent if the file does not have one batch size and one accumulation, or one of each in the mapping that the comment is in; and
if it sets the batch of all processes too.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.claims.factors import named_factors, with_hardware
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.quantity import RANK_FACTORS, Name, Origin, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Cause, Claim, Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding for each statement of a batch that the settings give on no number of processes."""
    for claim in run.claims:
        outcome = claim.judgement.outcome
        if isinstance(outcome, Finding) and not _may_be_true(run, claim) and not any(_gives_too(claim, other) for other in run.claims):
            yield outcome._replace(code=ITS_RULE, severity=Severity.WARNING, fixes=())


def _may_be_true(run: Run, claim: Claim) -> bool:
    """Whether a claim may be true of what a trainer does that is not read: it divides the batch size, or starts several processes.

    Hardware that another comment names may be that of another run. If the world is one process by default, the programs say so.
    """
    said, cause, world = claim.declaration, claim.judgement.cause, run.geometry.get(Name.WORLD_SIZE)
    batch, steps = (run.geometry.value(name) or 1 for name in RANK_FACTORS)
    batch *= (run.geometry.value(Name.SEQUENCE_LENGTH) or 1) if said.unit == "tokens" else 1
    of_one = isinstance(world, Quantity) and world.at is None
    if cause == Cause.ARITHMETIC:
        return False
    if isinstance(world, Quantity) and world.origin == Origin.DEFAULT:
        return cause == Cause.PRODUCT and said.admits(batch * steps)
    hardware = {factor.name: factor.value for factor in with_hardware(said)}
    ranks = hardware.get(Name.WORLD_SIZE) or prod(hardware.values())
    if any(said.admits(batch * number) for number in (1, ranks)):
        return True
    each = batch * steps
    of_several = any(interval.high // each > (interval.low - 1) // each for interval in said.holds)
    return cause == Cause.PRODUCT and (said.admits(each) or (of_several and not hardware and not of_one))


def _gives_too(claim: Claim, other: Claim) -> bool:
    """Whether another statement of the same comment may be true of the batch: `32 windows, about 48 examples per step`.

    Where a factor is stale, it must name the same ones: `accum=2 on 8 GPUs, accum=4 on 4`.
    """
    said, right = claim.declaration, other.declaration
    if other.judgement.finding is not None or said.name != right.name or said.at.path != right.at.path:
        return False
    names, others = ({factor.name for factor in named_factors(each)} for each in (said, right))
    return claim.judgement.cause != Cause.FACTOR or names <= others


_SETTINGS = "train:\n  batch_size: {batch}\n  grad_accum: 8  # effective batch = 32\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.SETTINGS,
    summary="a comment states a batch that the settings of an unknown trainer do not give",
    bad=(Example((("train.yaml", _SETTINGS.format(batch=8)),)),),
    good=(Example((("train.yaml", _SETTINGS.format(batch=4)),)),),
    severity=Severity.WARNING,
    check=check,
)
