"""A comment states a result that its own factors do not give.

`# 8 GPUs x 4 x 2 = 128` is wrong for any settings: 8 x 4 x 2 is 64. Either a factor or the result was changed and the
other was not, so it is unclear which batch was meant.

How to fix it: recompute the product, and compare with what the settings give, which the finding states.

It stays silent if a factor is a word without a number, and if the result is rounded as people round (`1M` for
1,048,576 tokens).
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.claims.judgement import outcomes_of
from pytest_gbs.model.outcome import Outcome, Verified
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Cause, Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for each claim of `run` that writes out arithmetic."""
    yield from outcomes_of(run, Cause.ARITHMETIC)
    for claim in run.claims if run.launch is None else ():
        if claim.declaration.sum is not None and claim.judgement.verified:
            yield Verified(RULE.code, claim.declaration.at, decides=True)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: 2  # effective batch size: 8 GPUs x 4 x 2 = {result}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CLAIMS,
    summary="a comment states a result that its own factors do not give",
    bad=(Example((("sft.yaml", _RECIPE.format(result=128)),)),),
    good=(Example((("sft.yaml", _RECIPE.format(result=64)),)),),
    check=check,
    explained_by=("unsatisfiable-batch",),
)
