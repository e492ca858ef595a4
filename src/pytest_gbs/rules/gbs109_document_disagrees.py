"""A document states another global batch size for a recipe than its settings give.

A README says "global batch size of 32" beside the name of the recipe, and readers compute learning rates and budgets with it.

A sentence, an item of a list or a row of a table is about the recipe that it names, or about the only one that its section names. If
several may be meant, nothing is compared; nor is what reports results, history, evaluation, or the work of others.

What the framework does: it never reads a document.

How to fix it: correct the document or the settings.

It stays silent if a launch of the recipe gives the number, if the settings leave the number of GPUs open and some number would
give it, and if the document shows the command itself: that one is compared by `launch-changes-batch`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_gbs.arithmetic.wording import arithmetic, beside, leaves
from pytest_gbs.claims.findings import claimed_number
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Claim, Run


def check(runs: Sequence[Run]) -> Iterator[Outcome]:
    """Yield an outcome for each number that a document claims of the recipe, unless a launch gives it."""
    recipe, *launched = runs
    for claim in recipe.documented:
        readings = claim.judgement.readings
        if readings[0].holds:
            yield Verified(ITS_RULE, claim.declaration.at)
        elif all(reading.holds is False for reading in readings) and not any(_gives(run, claim) for run in launched):
            yield from _finding(recipe, claim)


def _gives(run: Run, claim: Claim) -> bool:
    """Whether a launch gives the number, or may: its batch is not known."""
    names = {reading.size.name for reading in claim.judgement.readings if reading.size is not None}
    values = [run.geometry.value(name) for name in names]
    return any(value is None or claim.declaration.admits(value) for value in values)


def _finding(run: Run, claim: Claim) -> Iterator[Finding]:
    size = next((reading.size for reading in claim.judgement.readings if reading.size is not None), None)
    if not isinstance(size, Quantity):
        return
    recipe = run.path.rpartition("/")[2]
    message = f"document says {claimed_number(claim.declaration)}, but {recipe} gives {size.value:,}"
    operands = [leaf for leaf in leaves(size) if leaf.at is not None]
    details = arithmetic(size, run.framework.equations)
    holds = f"change the document to {size.value:,}, or the settings of {recipe}"
    related = tuple(dict.fromkeys(beside(operands, claim.declaration.at)))
    yield Finding(ITS_RULE, message, Severity.WARNING, claim.declaration.at, "stated", related, details, holds)


_README = "# Training\n\nWe train with a global batch size of {batch}, see `dpo.yaml`.\n"
_RECIPE = "train:\n  train_iters: 10\n  global_batch_size: 64\n  micro_batch_size: 2\nrng: {seed: 1}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RECIPE,
    summary="a document states another batch for a recipe than its settings give",
    severity=Severity.WARNING,
    bad=(Example((("dpo.yaml", _RECIPE), ("README.md", _README.format(batch=32)))),),
    good=(Example((("dpo.yaml", _RECIPE), ("README.md", _README.format(batch=64)))),),
    check=check,
)
