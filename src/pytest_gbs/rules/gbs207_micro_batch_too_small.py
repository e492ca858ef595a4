"""A micro batch smaller than the loss can work with.

Some losses compare the samples of one micro batch with each other. KTO pairs each prompt with the answer of another sample
of the same micro batch to estimate its KL term, so that a micro batch of one leaves it with nothing.

Accumulation does not help: what counts is the number of samples that one rank sees at once.

What the framework does: TRL stops with `ValueError: Actual (not effective) batch size must be > 1` when the trainer is
built.

How to fix it: double `per_device_train_batch_size` and halve `gradient_accumulation_steps`: the global batch stays as it
is. If memory does not allow that, choose a loss without the KL term (`loss_type: apo_zero_unpaired`).

It stays silent for losses that look at one sample at a time, and if the micro batch is not known.
"""

from functools import partial

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.rule import Example, Needs, Rule, Scope, written_in

_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/preferences
desirable_weight: 1.0
undesirable_weight: 1.0
per_device_train_batch_size: {micro}
gradient_accumulation_steps: {accumulation}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CHECKED,
    summary="the micro batch is smaller than the loss needs",
    bad=(Example((("kto.yaml", _RECIPE.format(micro=1, accumulation=8)),)),),
    good=(Example((("kto.yaml", _RECIPE.format(micro=2, accumulation=4)),)),),
    check=partial(judge, rule="micro-batch-too-small"),
)
