"""KTO on a micro batch of one, where the mismatched answer is the matched one.

KTO compares each answer with an estimate of how far the policy has moved from the reference: the mean over answers that do not
belong to their prompts. HALOs makes those by pairing each prompt of a micro batch with the answer of the next one.

In a micro batch of one the next one is the same: the estimate is taken on the very answers that the loss rewards, and the logs
do not show it.

What the framework does: it continues without a warning (train/dataloader.py:549-557). The loader refuses a batch of one over all
processes, but not over each of them.

How to fix it: use fewer processes or less accumulation, or a larger `model.batch_size`, so that `batch_size / (processes x
gradient_accumulation_steps)` is two or more.

It stays silent for other losses, and if the number of processes is not known.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import beside, leaves, product
from pytest_gbs.frameworks.conditions import holds
from pytest_gbs.frameworks.constraints import place
from pytest_gbs.model.condition import Condition
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import HALOS_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run

# HALOs 4831988, config/loss/kto.yaml:6; by its option's name where the tree is not at hand.
_KTO: Final = (Condition(("loss", "trainer"), ("KTOTrainer",)), Condition(("loss",), ("kto",)))
_LARGER: Final = "accumulate less, or train on fewer GPUs or with a larger batch"


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where HALOs trains with KTO and the micro batch is known."""
    micro = run.geometry.get(Name.MICRO_BATCH_SIZE)
    if not isinstance(micro, Quantity) or not any(holds(each, run.document, run.framework.loader) for each in _KTO):
        return
    at = place(run, (Name.MICRO_BATCH_SIZE,))
    if micro.value > 1:
        yield Verified(ITS_RULE, at)
    elif micro.value == 1:
        message = "in a micro batch of 1, KTO pairs each prompt with its own answer; HALOs continues without a warning"
        factors = f"{run.geometry.global_batch_size} = {product(batch)}" if (batch := _batch(run, micro)) else ""
        related = beside(leaves(micro), at)
        yield Finding(ITS_RULE, message, Severity.WARNING, at, related=related, details=(factors,) if factors else (), holds=_LARGER)


def _batch(run: Run, micro: Quantity) -> Quantity | None:
    """The batch as the product of its factors, if all of them are known."""
    batch = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    factors = (micro, *(run.geometry.get(name) for name in (Name.GRADIENT_ACCUMULATION_STEPS, Name.DATA_PARALLEL_SIZE)))
    known = tuple(factor for factor in factors if isinstance(factor, Quantity))
    return batch._replace(because=known) if isinstance(batch, Quantity) and len(known) == len(factors) else None


_RECIPE = f"loss: kto\n{HALOS_RECIPE}  batch_size: 32\n  gradient_accumulation_steps: {{accumulation}}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="in a micro batch of 1, KTO pairs each prompt with its own answer",
    severity=Severity.WARNING,
    bad=(Example((("kto.yaml", _RECIPE.format(accumulation=4)),), ("--world-size", "8")),),
    good=(Example((("kto.yaml", _RECIPE.format(accumulation=2)),), ("--world-size", "8")),),
    check=check,
    frameworks=("halos",),
)
