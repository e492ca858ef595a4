"""An interval between evaluations that is not the one written down.

HALOs counts `eval_every` in examples, despite its comment, and evaluates where the examples seen are a multiple of it. They
grow by a whole `model.batch_size` at each step.

What the framework does: launch.py takes off what is left over after whole batches, and prints `WARNING: eval_every must be
divisible by batch_size`. An `eval_every` smaller than the batch becomes 0 that way, and the training loop divides by it: the run
stops with a `ZeroDivisionError` once the models are loaded.

How to fix it: make `eval_every` a multiple of `model.batch_size`.

It is an error if the interval becomes 0, a warning if it is corrected, and advice if the default is corrected. It stays silent
if the batch or the interval is not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import beside
from pytest_gbs.frameworks.constraints import place
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import HALOS_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for the interval between evaluations, where it and the batch are known."""
    interval, batch = run.geometry.get(Name.EVAL_INTERVAL), run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if not isinstance(interval, Quantity) or not isinstance(batch, Quantity):
        return
    at = place(run, (Name.GLOBAL_BATCH_SIZE, Name.EVAL_INTERVAL))
    really = interval.value - interval.value % batch.value
    if really == interval.value:
        yield Verified(ITS_RULE, at)
        return
    stated = f"{interval.key} {interval.value:,}{' (the default)' if interval.origin == Origin.DEFAULT else ''}"
    related = beside((interval, batch), at)
    if really:
        severity = Severity.INFO if interval.origin == Origin.DEFAULT else Severity.WARNING
        message = f"{stated} is not a multiple of {batch.key} {batch.value:,}; HALOs sets it to {really:,} and continues"
        steps = f"{really:,} examples are {really // batch.value:,} steps of {batch.value:,}"
        yield Finding(
            ITS_RULE,
            message,
            severity,
            at,
            related=related,
            details=(steps,),
            holds=f"set {interval.key} to {really:,} or {really + batch.value:,}",
        )
    else:
        message = f"{stated} is less than {batch.key} {batch.value:,}; HALOs sets it to 0 and stops with a division by zero during training"
        yield Finding(ITS_RULE, message, Severity.ERROR, at, related=related, holds=f"set {interval.key} to a multiple of {batch.value:,}")


_RECIPE = f"loss: dpo\neval_every: {{interval}}\n{HALOS_RECIPE}  batch_size: 32\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the interval between evaluations holds no whole batches",
    bad=(Example((("dpo.yaml", _RECIPE.format(interval=1000)),)), Example((("dpo.yaml", _RECIPE.format(interval=16)),))),
    good=(Example((("dpo.yaml", _RECIPE.format(interval=992)),)),),
    check=check,
    frameworks=("halos",),
)
