"""A comment states a global batch size that the settings do not give.

Learning rate, warmup and schedule are tuned for the global batch size, and the comment is where people write down which one
that was. When a change touches the micro batch, the accumulation or the hardware, the comment goes stale and nothing notices:
training runs, with another batch.

The rule multiplies micro batch, accumulation and data-parallel ranks on the hardware that the comment itself names, and fills
in what it leaves open from other comments of the file, the recipe's own keys, the settings, and launcher files nearby if they
agree. It fires only if the claim is false for every admissible value of what is still unknown and for every reading of the
words; where it could be true, it says with which hardware.

How to fix it: if the settings are right, correct the number in the comment; if the comment is right, change accumulation or
micro batch until the product is what it says. The finding lists the whole-number changes that do.

It stays silent on commented-out settings, advice ("for best results"), history ("trained on"), and sizes of another batch. To
make a claim that no reader can mistake, write `# gbs: 128 on 8 nodes x 8 gpus`.
"""

from functools import partial

from pytest_gbs.claims.judgement import outcomes_of
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Cause

_RECIPE = "# Config for 2 nodes of 8 x H100s with GBS 128\n" + SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CLAIMS,
    summary="a comment states a global batch size that the settings do not give",
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=4)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(accumulation=2)),)),),
    check=partial(outcomes_of, cause=Cause.PRODUCT),
    explained_by=("unsatisfiable-batch",),
    decided_by="launch-changes-batch",
)
