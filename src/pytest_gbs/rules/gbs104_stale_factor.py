"""A comment names a factor of the batch that is set to something else.

`# global batch = 8 GPUs x micro_batch=4 x grad_accum=2 = 64` says three things beside the 64. If the micro batch is now 8, the
comment's arithmetic is still right, but wrong for this recipe. The finding points at the factor, which is the cause, rather
than at the product, and states the product that the settings give now.

How to fix it: set the key back to the number in the comment, or write the new factor and the new product into the comment.

Factors without names are compared as a whole: the rule fires only if exactly one has no partner among the settings. It
stays silent if two differ, since they may have been traded for each other; then GBS101 compares the product.
"""

from functools import partial

from pytest_gbs.claims.judgement import outcomes_of
from pytest_gbs.model.rule import Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Cause

_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/data
max_length: 4096
# 8 GPUs * micro_batch=4 * grad_accum=2 -> effective batch 64
per_device_train_batch_size: {micro}
gradient_accumulation_steps: 2
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CLAIMS,
    summary="a comment names a factor of the batch that is set to something else",
    bad=(Example((("sft.yaml", _RECIPE.format(micro=8)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(micro=4)),)),),
    check=partial(outcomes_of, cause=Cause.FACTOR),
    explained_by=("unsatisfiable-batch",),
)
