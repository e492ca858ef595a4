"""A total batch size that axolotl reads and does not train with.

`batch_size` looks like the batch that is trained with. Without `gradient_accumulation_steps` axolotl's schema fills in an accumulation
of 1 before anything divides `batch_size` by the micro batch, so that each GPU takes one micro batch per optimizer step.

`batch_size` is used all the same to estimate the number of steps, which becomes `max_steps`: a run with `micro_batch_size: 4` and
`batch_size: 128` trains with 4 on each GPU and ends after a 32nd of its epochs.

What the framework does: axolotl logs `batch_size is not recommended. Please use gradient_accumulation_steps instead.` and goes on.

How to fix it: delete `batch_size`, and write the accumulation that you mean: `batch_size` divided by `micro_batch_size` and by
the number of GPUs.

It stays silent if `batch_size` is the micro batch, which is what is trained with, if the accumulation is left open with `null`,
and if it is set as well (axolotl stops, which GBS203 reports).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.wording import short
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import value_at

_TOTAL: Final = ("batch_size",)
_ACCUMULATION: Final = ("gradient_accumulation_steps",)


def check(run: Run) -> Iterator[Outcome]:
    """Yield a finding where `run` trains with another batch than the `batch_size` of its recipe."""
    if run.framework.name != "axolotl" or _ACCUMULATION in run.document.keyed:
        return
    total, at = value_at(run.document, _TOTAL, run.framework.loader), run.document.locate(_TOTAL)
    micro = run.geometry.value(Name.MICRO_BATCH_SIZE)
    filled_in = run.geometry.value(Name.GRADIENT_ACCUMULATION_STEPS) == 1  # before 0.4.1 nothing did
    if at is None or micro is None or not filled_in or type(total) is not int or total in (0, micro):
        return
    message = f"axolotl ignores batch_size {total:,} for training: accumulation is 1, so each GPU trains on {micro:,} per step"
    place = run.at(Name.MICRO_BATCH_SIZE)
    related = (Related(place, short(Name.MICRO_BATCH_SIZE)),) if place else ()
    details, holds = ("axolotl only uses it to estimate the number of steps",), "set gradient_accumulation_steps instead"
    yield Finding(ITS_RULE, message, Severity.WARNING, at, "without effect", related, details, holds)


_RECIPE = """\
base_model: my/model
datasets:
  - path: my/data
    type: alpaca
sequence_len: 4096
micro_batch_size: 4
{batch}
num_epochs: 1
learning_rate: 0.0002
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="axolotl does not train with the batch_size that is set",
    severity=Severity.WARNING,
    frameworks=("axolotl",),
    bad=(Example((("qlora.yml", _RECIPE.format(batch="batch_size: 128")),)),),
    good=(
        Example((("qlora.yml", _RECIPE.format(batch="gradient_accumulation_steps: 4")),)),
        Example((("qlora.yml", _RECIPE.format(batch="batch_size: 4")),)),
    ),
    check=check,
)
