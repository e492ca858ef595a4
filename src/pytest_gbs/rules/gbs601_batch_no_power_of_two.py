"""The global batch size is not a power of two.

It is advice, and off unless selected (`extend-select = ["GBS601"]`): a rule of thumb, not a fact. Kernels and collectives no
longer need one; batches of 128, 256 or 512 are what people tune, compare and scale by halves and doubles, and a batch of 120 is
more often what a change of hardware left behind than a choice.

What the framework does: it trains with it all the same.

How to fix it: if the number was not chosen on purpose, take the power of two nearby; `gbs plan` lists how to reach it.

It stays silent if the batch is not known, if a comment claims this very number, and for batches counted in tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.arithmetic.wording import arithmetic, beside, leaves
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield advice where the batch of `run` is known and not a power of two, and not claimed."""
    size = run.geometry.get(Name.GLOBAL_BATCH_SIZE)
    if not isinstance(size, Quantity) or size.value < 1 or run.framework.unit == "tokens" or size.value & (size.value - 1) == 0:
        return
    if any(claim.declaration.admits(size.value) for claim in run.claims):
        return
    below = 1 << size.value.bit_length() - 1
    operands = [leaf for leaf in leaves(size) if leaf.at is not None]
    at = next((leaf.at for leaf in operands if leaf.at and leaf.at.source == run.start.source), run.start)
    related = beside(operands, at)
    details = arithmetic(size, run.framework.equations)
    message = f"global batch size {size.value:,} is not a power of two; {below:,} and {below * 2:,} are"
    yield Finding(ITS_RULE, message, Severity.INFO, at, "", related, details, assumptions=run.assumptions)


_RECIPE = SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\n"
_FLAGS = ("--world-size", "8", "--select", "GBS601")

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the global batch size is not a power of two",
    bad=(Example((("sft.yaml", _RECIPE.format(accumulation=3)),), _FLAGS),),
    good=(Example((("sft.yaml", _RECIPE.format(accumulation=4)),), _FLAGS),),
    check=check,
    severity=Severity.INFO,
    default=False,
)
