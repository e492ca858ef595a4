"""A batch that the framework divides has no whole result.

Frameworks split a batch over ranks, groups or steps, and stop with an error when it does not split evenly: after the
cluster was allocated, and on every rank at once. The rule judges each such division that the framework's table cites. If
the number of GPUs is not known, it fires only if no number of GPUs can work.

How to fix it: change one of the numbers in the finding so that the division leaves no remainder, or use a number of GPUs that it
names.
"""

from functools import partial

from pytest_gbs.frameworks.constraints import judge
from pytest_gbs.model.rule import GRPO_RECIPE, About, Example, Needs, Rule, Scope, written_in

_RECIPE = f"{GRPO_RECIPE}num_generations: 4\ngeneration_batch_size: {{batch}}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.CHECKED,
    summary="a batch is not a multiple of what the framework divides it by",
    bad=(Example((("grpo.yaml", _RECIPE.format(batch=36)),), ("--world-size", "8")),),
    good=(Example((("grpo.yaml", _RECIPE.format(batch=64)),), ("--world-size", "8")),),
    check=partial(judge, rule="batch-not-divisible"),
    about=About.HARDWARE,
    explained_by=("unsatisfiable-batch", "world-not-divisible"),
)
