"""Intervals that must be multiples of each other and are not.

`load_best_model_at_end` needs an evaluation at every save, else the best checkpoint is not known: the steps between two
saves must be a multiple of the steps between two evaluations.

Intervals count optimizer steps. They are tuned whenever the batch changes, and one of the two is easily forgotten.

What the framework does: transformers stops with a `ValueError` while it reads its arguments: `--load_best_model_at_end
requires the saving steps to be a round multiple of the evaluation steps`.

fairseq2 stops as well: validations and checkpoints must fall on steps at which metrics are published, checkpoints that are kept for good
on steps with a checkpoint, and where the best are kept, checkpoints on steps with a validation.

How to fix it: make `save_steps` a multiple of `eval_steps`, or switch `load_best_model_at_end` off.

It stays silent, in recipes of transformers, without `load_best_model_at_end`, for intervals of whole epochs, and for fractions of the
run (`save_steps: 0.05`).
"""

from functools import partial

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in

_SAVES = "save_strategy: steps\nsave_steps: 500\nload_best_model_at_end: true\n"
_RECIPE = f"{SFT_RECIPE}gradient_accumulation_steps: 2\neval_strategy: steps\neval_steps: {{evaluation}}\n{_SAVES}"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CHECKED,
    summary="an interval is not a multiple of what the framework requires",
    bad=(Example((("sft.yaml", _RECIPE.format(evaluation=200)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(evaluation=250)),)),),
    check=partial(judge, rule="intervals-not-divisible"),
)
