"""No number of GPUs works for this recipe.

Each check of the framework alone may have a number of GPUs that passes, and all of them together none. Such a recipe cannot run anywhere:
the first time anybody notices is after the cluster was allocated.

How to mend it: the finding lists the checks that exclude each other; change one of the sizes in them.

This finding stands for all others of the batch equation in the same run.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.core.constraints import applies, describe, place
from pytest_gbs.core.outcome import Finding, Outcome, Severity, Verified
from pytest_gbs.core.rule import Example, Rule, Scope
from pytest_gbs.core.run import Run

CODE = "GBS204"
_ABOUT_GPUS = ("GBS202", "GBS205")


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the framework checks divisions: does some number of GPUs pass them all?"""
    constraints = [c for c in run.framework.constraints if c.code in _ABOUT_GPUS and applies(c, run)]
    if not constraints:
        return
    from pytest_gbs.core.feasible import feasible_world_sizes

    feasible = feasible_world_sizes(run)
    at = place(run, (*constraints[0].dividend, *constraints[0].divisor))
    if feasible.get("all") or feasible.get("sizes"):
        yield Verified(CODE, at, decides=False)
    elif "sizes" in feasible:
        details = tuple(describe(run, constraint) for constraint in constraints)
        message = "no number of GPUs fits: the checks of the framework exclude each other"
        if len(constraints) == 1:
            message = f"no number of GPUs fits: {details[0]}"
        yield Finding(CODE, message, Severity.ERROR, at, details=details if len(details) > 1 else ())


_RECIPE = """\
model_name_or_path: my/model
dataset_name: my/prompts
reward_funcs: [accuracy]
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
num_generations: {generations}
generation_batch_size: 36
"""

RULE = Rule(
    code=CODE,
    name="unsatisfiable-batch",
    scope=Scope.RUN,
    summary="no number of GPUs works for this recipe",
    bad=(Example((("grpo.yaml", _RECIPE.format(generations=8)),)),),
    good=(Example((("grpo.yaml", _RECIPE.format(generations=6)),)),),
    check=check,
)
