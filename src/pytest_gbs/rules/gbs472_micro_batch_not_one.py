"""A micro batch of several rows, where the trainer takes one row at a time.

Context parallelism splits each row of tokens among several GPUs, and an image belongs to one row: for either, prime-rl's SFT trainer
packs exactly one row into a micro batch.

What the framework does: prime-rl stops while it reads the config, with `Micro batch size must be 1 when CP is enabled` or `VLM SFT
requires data.micro_batch_size = 1`.

How to fix it: set `data.micro_batch_size` to 1. The global batch stays as it is; the accumulation grows by the same factor.

It stays silent without context parallelism and without a vision model.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_gbs.model.document import Scalar
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the SFT trainer of `run` wants one row in each micro batch."""
    micro = run.geometry.stated.get(Name.MICRO_BATCH_SIZE)
    if not isinstance(micro, Quantity):  # the RL trainer fills micro batches by tokens and has no such size
        return
    cause = _cause(run)
    if cause is None:
        return
    why, where = cause
    at = micro.at or where or Location(run.path)
    if micro.value == 1:
        yield Verified(ITS_RULE, at)
        return
    related = (Related(where, "needs one row"),) if where and where != at else ()
    message = f"{micro.key} is {micro.value:,}, but must be 1 with {why}; prime-rl stops at start"
    yield Finding(ITS_RULE, message, Severity.ERROR, at, "micro", related, holds=f"set {micro.key} to 1")


def _cause(run: Run) -> tuple[str, Location | None] | None:
    """What wants a micro batch of one row, and where it is; context parallelism first, as the config checks it."""
    context = run.geometry.stated.get(Name.CONTEXT_PARALLEL_SIZE)
    if isinstance(context, Quantity) and context.value > 1:
        return f"{context.key} {context.value:,}", context.at
    vision = run.document.get("model", "vlm")
    if vision is None or isinstance(vision, Scalar):
        return None
    return "a vision model (model.vlm)", run.document.locate(("model", "vlm"))


_RECIPE = """\
max_steps = 100

[model]
name = "my/model"
cp = 2

[deployment]
num_train_gpus = 4

[data]
name = "my/data"
seq_len = 8192
batch_size = 64
micro_batch_size = {micro}
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the trainer needs a micro batch size of 1",
    bad=(Example((("sft.toml", _RECIPE.format(micro=2)),)),),
    good=(Example((("sft.toml", _RECIPE.format(micro=1)),)),),
    check=check,
    frameworks=("prime-rl",),
)
