"""Attention heads that can't be split evenly over the tensor-parallel ranks.

Each tensor-parallel rank computes whole attention heads. The number of heads belongs to the model and the number of ranks to the
cluster, so that a recipe breaks when it moves to another of either.

What the framework does: nanotron stops while it reads the configuration, with `num_attention_heads (12) must be divisible by tp (8)`,
or with one of two like it: there must be at least as many heads for keys and values as ranks, and the heads must divide among them.

How to fix it: choose a tensor-parallel size that divides both numbers of heads, and give the ranks that are left to data
parallelism; the global batch stays the same if the accumulation shrinks by the factor by which the data-parallel size grows.

It stays silent if the numbers of heads are not in the recipe.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Related, Severity, Verified
from pytest_gbs.model.quantity import Name, Quantity
from pytest_gbs.model.rule import Example, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import value_at

_MODEL: Final = ("model", "model_config")


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome where the heads of the model of `run` and its tensor-parallel size are known."""
    heads, shared = _number(run, "num_attention_heads"), _number(run, "num_key_value_heads")
    tensor = run.geometry.get(Name.TENSOR_PARALLEL_SIZE)
    at = run.document.locate((*_MODEL, "num_attention_heads"))
    if heads is None or at is None or not isinstance(tensor, Quantity) or tensor.value < 1:
        return
    problem = _problem(heads, shared, tensor.value)
    place: Location = tensor.at or at
    if problem:
        related = (Related(at, "heads"),) if at != place else ()
        yield Finding(ITS_RULE, f"{problem}; nanotron stops at start", Severity.ERROR, place, "tensor", related)
    else:
        yield Verified(ITS_RULE, place)


def _problem(heads: int, shared: int | None, ranks: int) -> str:
    """Which of nanotron's checks fails (config/config.py:536-547 at 2411b022), or ""."""
    if heads % ranks:
        return f"{heads:,} attention heads are not a multiple of {ranks:,} tensor-parallel ranks"
    if shared is None or shared < 1:
        return ""
    if shared < ranks:
        return f"{shared:,} key-value heads are fewer than {ranks:,} tensor-parallel ranks"
    return f"{heads:,} attention heads are not a multiple of {shared:,} key-value heads" if heads % shared else ""


def _number(run: Run, key: str) -> int | None:
    value = value_at(run.document, (*_MODEL, key), run.framework.loader)
    return value if type(value) is int else None


_RECIPE = """\
parallelism:
  dp: 2
  tp: {tensor}
  pp: 1
model:
  model_config:
    num_attention_heads: 12
    num_key_value_heads: 12
tokens:
  micro_batch_size: 2
  batch_accumulation_per_replica: 4
  sequence_length: 4096
  train_steps: 1000
"""

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    summary="the number of attention heads is not a multiple of the tensor-parallel size",
    bad=(Example((("config.yaml", _RECIPE.format(tensor=8)),)),),
    good=(Example((("config.yaml", _RECIPE.format(tensor=4)),)),),
    check=check,
    frameworks=("nanotron",),
)
