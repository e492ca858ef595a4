"""A number of examples that is not a whole number of steps, or another one than the epochs plan.

HALOs plans its learning rate with `n_examples // model.batch_size` steps, times `n_epochs` (not for SFT), and stops at the first
micro batch with which `n_examples` are seen.

What the framework does: it continues without a warning. Without accumulation the last step takes more examples than were asked for, one
step more than planned. With it the micro batches that fill no step are dropped. With more than one epoch, warmup is a share of
steps that never come. If the examples fill not even one step, training ends without any. If both keys are null it stops at
start.

How to fix it: make `n_examples` a multiple of `model.batch_size`; leave `n_epochs` at 1 beside it.

It stays silent if only epochs are given: the plan then depends on the data. How far the data reaches is not known here, so that
the steps are those of data that is long enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import beside, counted
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.constraints import place
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.document import Scalar
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.model.rule import HALOS_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import loader_of, resolve

_EPOCHS: Final = ("n_epochs",)
# The one loader whose plan leaves the epochs out: HALOs 4831988, train/dataloader.py:337-342, against 440-449 and its like.
_SFT: Final = (Condition(("loss", "dataloader"), ("SFTDataLoader",)), Condition(("loss",), ("sft",)))


class _Plan(NamedTuple):
    """What training on `examples` comes to: the steps it takes and those that are planned, and the micro batches that are dropped."""

    examples: int
    batch: int
    steps: int
    planned: int
    dropped: int


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the recipe says on how many examples it trains."""
    names = (Name.TRAIN_SAMPLES, Name.GLOBAL_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
    examples, batch, accumulation = map(run.geometry.get, names)
    at = place(run, (Name.GLOBAL_BATCH_SIZE, Name.TRAIN_SAMPLES))
    if Name.TRAIN_SAMPLES not in run.geometry.stated:
        yield from _neither(run)
        return
    if not (isinstance(examples, Quantity) and isinstance(batch, Quantity) and isinstance(accumulation, Quantity)):
        return
    if batch.value % accumulation.value:
        return  # HALOs refuses that on any number of processes
    plan = _plan(run, examples.value, batch.value, accumulation.value)
    found = _judged(run, plan)
    if found is None:
        yield Verified(ITS_RULE, at)
        return
    severity, message, details = found
    others = (batch, accumulation) if accumulation.value > 1 else (batch,)
    related = beside(others, at)
    yield Finding(ITS_RULE, message, severity, at, related=related, details=details)


def _plan(run: Run, examples: int, batch: int, accumulation: int) -> _Plan:
    """The steps of a run whose loader stops at the first micro batch of all processes that reaches `examples`."""
    part = batch // accumulation
    steps, dropped = divmod(-(-examples // part), accumulation)
    return _Plan(examples, batch, steps, examples // batch * _epochs(run), dropped)


def _epochs(run: Run) -> int:
    """The epochs by which the plan of steps is multiplied; 1 if it is not stated the loader."""
    known = isinstance(run.document.get("loss"), Scalar) or isinstance(run.document.get("loss", "dataloader"), Scalar)
    if not known or any(holds(each, run.document, run.framework.loader) for each in _SFT):
        return 1
    return run.geometry.value(Name.NUM_EPOCHS) or 1


def _judged(run: Run, plan: _Plan) -> tuple[str, str, tuple[str, ...]] | None:
    """How bad it is, the message and what it means; None where training takes the steps that are planned."""
    asked = f"n_examples {plan.examples:,}"
    steps = counted(plan.steps, "step")
    trained = f"{steps} of {plan.batch:,} {'is' if plan.steps == 1 else 'are'} {plan.steps * plan.batch:,} examples"
    if plan.steps == 0:
        return Severity.ERROR, f"{asked} ends before the first step of {plan.batch:,}; HALOs trains nothing and continues", ()
    epochs = run.geometry.value(Name.NUM_EPOCHS) or 1
    if plan.planned != plan.examples // plan.batch:
        message = f"{asked} ends training after {steps}, but n_epochs {epochs} plans {plan.planned:,}"
        return Severity.WARNING, message, (trained, "warmup is a fraction of the planned steps")
    if plan.examples % plan.batch == 0:
        return None
    uneven = f"{asked} is not a multiple of model.batch_size {plan.batch:,}; HALOs"
    if plan.dropped:
        words = "micro batch of each process fills" if plan.dropped == 1 else "micro batches of each process fill"
        return Severity.INFO, f"{uneven} trains on {plan.steps * plan.batch:,} of them", (trained, f"{plan.dropped} {words} no step")
    severity = Severity.INFO if plan.planned else Severity.WARNING
    return severity, f"{uneven} trains {steps}, but plans {plan.planned:,}", (trained,)


def _neither(run: Run) -> Iterator[Finding]:
    """Yield a finding where the recipe gives neither epochs nor examples, in so many words."""
    node, at = run.document.get(*_EPOCHS), run.document.locate(_EPOCHS)
    if at and isinstance(node, Scalar) and resolve(node, loader_of(run.document.syntax, run.framework.loader)) is None:
        # HALOs 4831988, train/dataloader.py:69.
        yield Finding(ITS_RULE, "n_epochs and n_examples are both null; HALOs stops at start", Severity.ERROR, at)


_RECIPE = f"loss: kto\nn_examples: {{examples}}\nn_epochs: {{epochs}}\n{HALOS_RECIPE}  batch_size: 64\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="training takes more or fewer steps than the settings plan",
    severity=Severity.WARNING,
    bad=(
        Example((("kto.yaml", _RECIPE.format(examples="20_000", epochs=1)),)),
        Example((("kto.yaml", _RECIPE.format(examples="19_968", epochs=3)),)),
    ),
    good=(
        Example((("kto.yaml", _RECIPE.format(examples="19_968", epochs=1)),)),
        Example((("kto.yaml", _RECIPE.format(examples="null", epochs=3)),)),
    ),
    check=check,
    frameworks=("halos",),
)
