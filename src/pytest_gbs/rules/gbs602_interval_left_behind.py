"""The global batch size changed since the base revision, and intervals of the recipe count optimizer steps.

It is advice, and off unless selected (`extend-select = ["GBS602"]`). With half the batch an epoch has twice the steps: warmup,
saves and evaluations that are given in steps come twice as often as before in samples, and `max_steps` trains on half of them.
The file does not say whether that is intended.

What the framework does: it counts optimizer steps.

How to fix it: scale the intervals with the batch (half the batch, twice the steps), or give them as a share of the run where the
framework takes one (`save_steps: 0.05`).

It compares nothing without `--changed-since`, and stays silent if the batch is the same or not known.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.fileview import INTERVALS
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield advice for each interval that `run` gives in optimizer steps, where those have another size than at the base."""
    before = run.base.record.global_batch_size if run.base is not None else None
    now = run.geometry.global_batch_size
    if before is None or now is None or before == now:
        return
    for name in sorted(INTERVALS - {Name.LOGGING_STEPS}):
        size = run.geometry.get(name)
        if isinstance(size, Quantity) and size.origin == Origin.FILE and size.at is not None:
            samples = f"{size.value * now:,} {run.framework.unit}"
            message = f"{size.key} {size.value:,} is now {samples} (batch {now:,}); with batch {before:,} it was {size.value * before:,}"
            holds = f"set {size.key} to {size.value * before // now}" if size.value * before % now == 0 else ""
            yield Finding(ITS_RULE, message, Severity.INFO, size.at, "in steps", holds=holds, assumptions=run.assumptions)


_RECIPE = "# Config for 1 node of 8 GPUs\n" + SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\nsave_steps: 100\n"
_FLAGS = ("--select", "GBS602")
_BEFORE = (("sft.yaml", _RECIPE.format(accumulation=4)),)

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.BASE,
    summary="an interval in optimizer steps covers another number of samples than before",
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=2)),), _FLAGS, base=_BEFORE),),
    good=(Example(_BEFORE, _FLAGS, base=_BEFORE),),
    check=check,
    severity=Severity.INFO,
    default=False,
)
