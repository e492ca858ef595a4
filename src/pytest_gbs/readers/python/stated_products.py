"""The batch that a program computes for itself: `eff_batch_size = args.batch_size * args.accum_iter * get_world_size()`.

Programs modelled on MAE (facebookresearch/mae efb2a8062, main_pretrain.py:179) scale their learning rate by it, and step the optimizer
in a function of another file.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.functions import dotted
from pytest_gbs.readers.python.results import STEPS, Entry, Known, Table
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_global = lazy_pattern(r"(?:eff|effective|total|global|actual)_(?:train_)?batch(?:_?size)?")
_WORLD: Final = frozenset(("get_world_size", "world_size", "num_processes"))
_ACCUMULATES: Final = ("accum", "update_freq")


class _Product(NamedTuple):
    """The factors of a global batch: the micro batch, and the accumulation, None if it has no such factor."""

    batch: ast.expr
    accumulation: ast.expr | None
    scope: Scope

    @property
    def words(self) -> tuple[str, str]:
        """The factors as the program writes them."""
        return ast.unparse(self.batch), ast.unparse(self.accumulation) if self.accumulation is not None else ""


def stated_product(scopes: Scopes, evaluator: Evaluator) -> dict[str, Entry] | None:
    """The micro batch and the accumulation that the program multiplies with its processes, in the shape of a training loop.

    None if it multiplies different ones, if none of its data loaders has that micro batch, or if it does not train.
    """
    if "optim" not in evaluator.program.text:
        return None
    found = [each for scope in (scopes.module, *scopes.inner.values()) for each in _products(scope)]
    if len({each.words for each in found}) != 1:
        return None
    product = found[0]
    if product.accumulation is None and _accumulates(evaluator.program.text.lower()):
        return None
    if product.words[0] not in {ast.unparse(each) for each in _given(scopes)}:
        return None
    place = evaluator.program.span(product.batch)
    batch: Entry = place, evaluator.value(product.batch, product.scope)
    steps: Entry = place, Known(1, *place)
    if product.accumulation is not None:
        at = evaluator.program.span(product.accumulation)
        steps = at, evaluator.value(product.accumulation, product.scope)
    return {
        "DataLoader": (place, Table({"batch_size": batch}, *place)),
        STEPS: steps,
    }


def _products(scope: Scope) -> Iterator[_Product]:
    """Yield the products in `scope` that are a global batch by their name."""
    for name, bindings in scope.names.items():
        if "batch" in name and _global().fullmatch(name):
            yield from (product for each in bindings if each.value is not None and (product := _product(each.value, scope)) is not None)


def _product(node: ast.expr, scope: Scope) -> _Product | None:
    factors = list(_factors(node, 0))
    names = [_last_name(each) for each in factors]
    world = [each for each in names if each in _WORLD]
    batch = [factor for factor, name in zip(factors, names, strict=True) if "batch" in name and not _accumulates(name)]
    accumulation = [factor for factor, name in zip(factors, names, strict=True) if _accumulates(name)]
    if len(world) != 1 or len(batch) != 1 or len(accumulation) > 1 or len(factors) != 2 + len(accumulation):
        return None
    return _Product(batch[0], accumulation[0] if accumulation else None, scope)


def _accumulates(text: str) -> bool:
    return any(word in text for word in _ACCUMULATES)


def _factors(node: ast.expr, depth: int) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and depth < DEEPEST_EXPRESSION:
        yield from _factors(node.left, depth + 1)
        yield from _factors(node.right, depth + 1)
    else:
        yield node


def _last_name(node: ast.expr) -> str:
    """The last part of the name of `node`, or of what it calls without arguments; "" for anything else."""
    if isinstance(node, ast.Call):
        return "" if node.args or node.keywords else dotted(node.func).rpartition(".")[2]
    return dotted(node).rpartition(".")[2]


def _given(scopes: Scopes) -> Iterator[ast.expr]:
    """Yield what each data loader of the program gets as its batch."""
    for call, _ in scopes.called.get("DataLoader", ()):
        yield from (each.value for each in call.keywords if each.arg == "batch_size")
