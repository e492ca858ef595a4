"""The global batch that a recipe states is not the one it trains with: the framework rounds the accumulation down.

litgpt and the pre-training of OpenVLA divide the global batch by the number of GPUs and by the micro batch. Both divisions drop
their remainder.

What the framework does: it continues without a warning. `global_batch_size: 129` on 64 GPUs trains with 128, and 512 with micro
batches of 24 on 8 GPUs trains with 384: the learning rate and every comparison with other runs rest on a number that is not used.

How to fix it: make the global batch a multiple of the micro batch times the number of GPUs. The finding names the number that
really counts.

It stays silent if the number of GPUs is not known, and if so little is left that the framework stops, which GBS202
reports.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import beside, leaves, product
from pytest_gbs.frameworks.repairs import change
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Fix, Outcome, Severity, Verified
from pytest_gbs.model.quantity import Name, Origin, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the global batch is given and what becomes of it is known."""
    stated, steps = run.geometry.said(Name.GLOBAL_BATCH_SIZE), run.geometry.get(Name.GRADIENT_ACCUMULATION_STEPS)
    if not isinstance(stated, Quantity) or stated.origin == Origin.DERIVED or not isinstance(steps, Quantity) or steps.value < 1:
        return
    at = stated.at or Location(run.path)
    real = run.geometry.realised.get(Name.GLOBAL_BATCH_SIZE)
    if not isinstance(real, Quantity):
        yield Verified(ITS_RULE, at, run.assumptions, decides=True)
        return
    key = stated.key or "the global batch"
    title = run.framework.title.split(" (")[0]
    message = f"{key} {stated.value:,} becomes {real.value:,}: {title} rounds the accumulation down without a warning"
    related = tuple(dict.fromkeys(beside(leaves(real), at)))
    details = (f"{real.value:,} = {product(real)}",)
    holds, fixes = f"set {key} to {real.value}", _fixes(run, stated, real)
    yield Finding(ITS_RULE, message, Severity.WARNING, at, "rounded", related, details, holds, run.assumptions, fixes)


def _fixes(run: Run, stated: Quantity, real: Quantity) -> tuple[Fix, ...]:
    """The fix that states the batch that the recipe trains with."""
    fix = change(run, stated, real.value)
    return (fix,) if fix is not None else ()


_RECIPE = """\
checkpoint_dir: checkpoints/my/model
devices: 8
train:
  global_batch_size: {batch}
  micro_batch_size: 24
  lr_warmup_steps: 100
  save_interval: 1000
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the framework rounds the global batch down without a warning",
    severity=Severity.WARNING,
    bad=(Example((("full.yaml", _RECIPE.format(batch=512)),)),),
    good=(Example((("full.yaml", _RECIPE.format(batch=576)),)),),
    explained_by=("stale-declaration",),
    check=check,
    frameworks=("litgpt", "openvla"),
)
