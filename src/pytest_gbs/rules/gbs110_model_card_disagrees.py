"""The hyperparameters of a model card do not multiply to the total batch that it states.

The Trainer writes them at the end of training: `train_batch_size` of one device, `num_devices`, `gradient_accumulation_steps`, and
`total_train_batch_size`, which is their product. A card in which it is not was changed by hand, and readers reproduce another batch.

What the Trainer does: it leaves out `num_devices` and `gradient_accumulation_steps` if they are one.

It stays silent for the lists of other trainers, which count otherwise: the Trainer writes `distributed_type: multi-GPU`, or nothing.

How to fix it: correct the number that was changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from pytest_gbs.model.launch import Mistake, ModelCard
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in


def check(card: Mistake) -> Iterator[Outcome]:
    """Yield a finding for a model card whose factors give another total."""
    if not isinstance(card, ModelCard):
        return
    value = prod(factor.value for factor in card.factors)
    if value != card.total.value and card.total.at is not None:
        written = " x ".join(f"{factor.value:,} {factor.key}" for factor in card.factors)
        message = f"model card says {card.total.key} {card.total.value:,}, but {written} = {value:,}"
        related = tuple(Related(factor.at, factor.key) for factor in card.factors if factor.at is not None)
        yield Finding(
            ITS_RULE,
            message,
            Severity.WARNING,
            card.total.at,
            "stated",
            related,
            holds=f"change {card.total.key} to {value:,}, or the factor that is wrong",
        )


_CARD = """\
### Training hyperparameters

The following hyperparameters were used during training:
- learning_rate: 5e-07
- train_batch_size: 2
- num_devices: 8
- gradient_accumulation_steps: 4
- total_train_batch_size: {total}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.COMMAND,
    summary="the hyperparameters of a model card do not give the total batch that it states",
    severity=Severity.WARNING,
    bad=(Example((("README.md", _CARD.format(total=32)),)),),
    good=(Example((("README.md", _CARD.format(total=64)),)),),
    check=check,
)
