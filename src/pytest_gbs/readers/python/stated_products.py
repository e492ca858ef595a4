"""The batch that a program computes for itself: `eff_batch_size = args.batch_size * args.accum_iter * get_world_size()`.

Programs modelled on MAE (facebookresearch/mae efb2a8062, main_pretrain.py:179) scale their learning rate by it, and step the optimizer
in a function of another file. Those modelled on build-nanogpt compute how often each process goes back: `total // (B * T * world_size)`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from math import prod
from typing import Final

from pytest_gbs.model.limits import DEEPEST_EXPRESSION, MOST_FACTORS
from pytest_gbs.model.location import grouped
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import NamedTuple
from pytest_gbs.readers.python.attributes import dotted, unparsed
from pytest_gbs.readers.python.results import SAMPLES, SHARING, STEPS, Entry, Known, Table, Value
from pytest_gbs.readers.python.samplers import divided_among_groups
from pytest_gbs.readers.python.scopes import Scope, Scopes
from pytest_gbs.readers.python.values import Evaluator

_global = lazy_pattern(r"(?:eff|effective|total|global|actual)_(?:train_)?batch(?:_?size)?")
_tokens = lazy_pattern(r"tokens_per_(?:iter|iteration|step|batch|update)")
_lengths = lazy_pattern(r"T|(?:block_size|(?:max_)?(?:seq|sequence|context)_(?:len|length|size)|seqlen|max_length)")
_data_parallel = lazy_pattern(r"data_parallel_(?:world_)?size|\bdp_(?:world_)?size")
_DIVIDES: Final = "initialize_model_parallel"  # of fairscale, Megatron-LM and apex
_WORLD: Final = ("world_size", "num_processes", "jax.device_count", "jax.local_device_count")
_ACCUMULATES: Final = ("accum", "update_freq")
# nanoGPT's train.py, which another file says more of (configurator.py), has a table of its own.
_EXECUTES: Final = "configurator.py"
# With one of these a program of JAX accumulates; its help may speak of it without.
_ACCUMULATES_IN_JAX: Final = ("accumulation_steps", "accum_steps", "MultiSteps")


class _Product(NamedTuple):
    """The factors of a global batch, `name`: the micro batch, and the accumulation, None if it has no such factor.

    `total` are the tokens, or the samples if there is no `length` of a row, that the processes share among themselves.
    """

    batch: ast.expr
    accumulation: ast.expr | None
    scope: Scope
    length: ast.expr | None = None
    total: ast.expr | None = None
    name: str = ""

    @property
    def words(self) -> tuple[str, str]:
        """The factors as the program writes them."""
        return unparsed(self.batch), unparsed(self.accumulation) if self.accumulation is not None else ""


def stated_product(scopes: Scopes, evaluator: Evaluator, *, of_devices: bool = False) -> dict[str, Entry] | None:
    """The micro batch and the accumulation that the program multiplies with its processes, in the shape of a training loop.

    None if it multiplies different ones, if it does not train, or if none of its data loaders has that micro batch, and no loop
    makes as many backward passes as it accumulates. `of_devices`: the product is the batch that a loader has for all devices of JAX.
    """
    if "optim" not in evaluator.program.text or _EXECUTES in evaluator.program.text:
        return None
    found = [each for scope in (scopes.module, *scopes.inner.values()) for each in _products(scope)]
    if len({each.words for each in found}) != 1:
        return None
    product = max(found, key=lambda each: each.total is not None)
    text = evaluator.program.text
    hidden = any(word in text for word in _ACCUMULATES_IN_JAX) if of_devices else _accumulates(text.lower())
    if product.accumulation is None and hidden:
        return None
    if _data_parallel().search(text) and _DIVIDES not in scopes.called:
        return None  # other processes share each batch, and it is not known how many
    loaded = product.length is None and (product.name if of_devices else product.words[0]) in {unparsed(each) for each in _given(scopes)}
    if not loaded and (of_devices or product.words[1] not in _repeated(scopes)):
        return None
    return _entries(product, evaluator)


def shared_batch(node: ast.expr, scope: Scope, evaluator: Evaluator) -> Known | None:
    """The batch of all processes if `node` is the share of one, `int(total / world_size)`, and the program stops at an uneven one."""
    found = scope.binding(node)
    value = found[1].value if found is not None and found[1].item < 0 else None
    where, share = (found[0], value) if found is not None and value is not None else (scope, node)
    if isinstance(share, ast.Call) and dotted(share.func) == "int" and len(share.args) == 1:
        share = share.args[0]
    if not isinstance(share, ast.BinOp) or not isinstance(share.op, (ast.FloorDiv, ast.Div)):
        return None
    whole = evaluator.value(share.left, where) if _role(_last_name(share.right)) == _PROCESSES else None
    even = {(unparsed(each.left), _role(_last_name(each.right))) for each in _asserted(evaluator.program.tree)}
    return whole if isinstance(whole, Known) and (unparsed(share.left), _PROCESSES) in even else None


def model_parallel(scopes: Scopes, evaluator: Evaluator) -> dict[str, Entry]:
    """How many processes share a batch, as the program says it to fairscale; not known if it says so to others, or to a sampler."""
    entries: dict[str, Entry] = {}
    for call, scope in scopes.called.get(_DIVIDES, ()):
        plain = len(call.args) == 1 and not call.keywords and scopes.qualified(call.func).startswith("fairscale.") and not entries
        entries[SHARING] = evaluator.program.span(call.func), evaluator.value(call.args[0], scope) if plain else evaluator.lost(call)
    groups = divided_among_groups(evaluator.program) if not entries else None
    return {SHARING: (evaluator.program.span(groups), evaluator.lost(groups))} if groups is not None else entries


def _entries(product: _Product, evaluator: Evaluator) -> dict[str, Entry]:
    place = evaluator.program.span(product.batch)
    batch: Entry = place, evaluator.value(product.batch, product.scope)
    steps: Entry = place, Known(1, *place)
    if product.accumulation is not None:
        at = evaluator.program.span(product.accumulation)
        steps = at, evaluator.value(product.accumulation, product.scope)
    found: dict[str, Entry] = {"DataLoader": (place, Table({"batch_size": batch}, *place)), STEPS: steps}
    if product.total is not None and product.accumulation is not None:
        total = evaluator.value(product.total, product.scope)
        length = evaluator.value(product.length, product.scope) if product.length is not None else Known(1, *place)
        if _is_asserted(evaluator.program.tree, product.scope):
            found[SAMPLES] = evaluator.program.span(product.total), _divided(total, length) or evaluator.lost(product.total)
            found[STEPS] = steps[0], evaluator.lost(product.accumulation)
        elif not isinstance(steps[1], Known):
            found[STEPS] = steps[0], _rounded_down(total, (batch[1], length), evaluator.world) or steps[1]
    return found


def _rounded_down(total: Value, factors: tuple[Value, ...], world: int | None) -> Known | None:
    """How often each of `world` processes goes back for its share of `total`, which is rounded down; None if it has none."""
    numbers = [each.value if isinstance(each, Known) and type(each.value) is int else 0 for each in (total, *factors)]
    if world is None or not all(number > 0 for number in numbers):
        return None
    share = numbers[0] // prod((*numbers[1:], world))
    return Known(share, total.start, total.stop) if share else None


def _divided(total: Value, length: Value) -> Known | None:
    """The rows of `length` tokens that `total` tokens are, if these are whole ones."""
    tokens, row = (each.value if isinstance(each, Known) and type(each.value) is int else 0 for each in (total, length))
    return Known(tokens // row, total.start, total.stop) if tokens and row and not tokens % row else None


def _products(scope: Scope) -> Iterator[_Product]:
    """Yield the products in `scope` that are a global batch by their name, and what divides one into an accumulation."""
    for name, bindings in scope.names.items():
        values = [each.value for each in bindings if each.value is not None]
        if len(values) > 1 and any(isinstance(node, ast.Name) and node.id == name for each in values for node in ast.walk(each)):
            continue  # it becomes another number later
        of_tokens = _tokens().fullmatch(name) is not None
        if of_tokens or ("batch" in name and _global().fullmatch(name)):
            yield from (found._replace(name=name) for each in values if (found := _product(each, scope, of_tokens)) is not None)
        elif _accumulates(name):
            yield from (found for each in values if (found := _quotient(name, each, scope)) is not None)


def _product(node: ast.expr, scope: Scope, of_tokens: bool) -> _Product | None:
    factors = _named(_factors(node, scope, 0))
    accumulation = factors.get(_ACCUMULATION, [])
    lengths = factors.get(_LENGTH, [])
    plain = set(map(len, factors.values())) == {1} and _OTHER not in factors and {_PROCESSES, _BATCH} <= factors.keys()
    if not plain or len(lengths) != of_tokens:
        return None
    batch = factors[_BATCH][0]
    shared = _shared(accumulation[0], scope) if accumulation else None
    if shared is not None:
        return _Product(batch, accumulation[0], scope, None, ast.copy_location(ast.BinOp(batch, ast.Mult(), shared), shared))
    return _Product(batch, accumulation[0] if accumulation else None, scope, lengths[0] if lengths else None)


def _shared(accumulation: ast.expr, scope: Scope) -> ast.expr | None:
    """The accumulation of all processes together where each takes its share later: `steps //= world_size`; else None."""
    bindings = scope.names.get(accumulation.id, []) if isinstance(accumulation, ast.Name) else []
    first, later = bindings if len(bindings) == 2 else (None, None)
    share = later.node if later is not None and isinstance(later.node, ast.AugAssign) and isinstance(later.node.op, ast.FloorDiv) else None
    return first.value if share is not None and first is not None and _role(_last_name(share.value)) == _PROCESSES else None


def _quotient(name: str, node: ast.expr, scope: Scope) -> _Product | None:
    """What `steps = total // (B * T * world_size)` says of the batch, with its tokens or, without `T`, its samples."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv):
        return None
    factors = _named(_factors(node.right, scope, 0))
    plain = set(map(len, factors.values())) == {1} and {_PROCESSES, _BATCH} <= factors.keys() <= {_PROCESSES, _BATCH, _LENGTH}
    if not plain:
        return None
    accumulation = ast.copy_location(ast.Name(name, ast.Load()), node)
    return _Product(factors[_BATCH][0], accumulation, scope, factors.get(_LENGTH, [None])[0], node.left)


_PROCESSES, _BATCH, _ACCUMULATION, _LENGTH, _OTHER = range(5)


def _named(factors: Iterator[ast.expr]) -> dict[int, list[ast.expr]]:
    """The factors of a product by what they are, as their names say."""
    return grouped((_role(_last_name(each)), each) for each in islice(factors, MOST_FACTORS))


def _role(name: str) -> int:
    if name.endswith(_WORLD):
        return _PROCESSES
    if _accumulates(name):
        return _ACCUMULATION
    if _lengths().fullmatch(name):
        return _LENGTH
    return _BATCH if "batch" in name or name == "B" else _OTHER


def _repeated(scopes: Scopes) -> set[str]:
    """What loops with a backward pass in them repeat it for: `steps` of `for micro_step in range(steps)`."""
    found: set[str] = set()
    for scope in dict.fromkeys(scope for _, scope in scopes.called.get("backward", ())):
        loops = (each for each in ast.walk(scope.node) if isinstance(each, ast.For) and _goes_back(each))
        calls = (each.iter for each in loops if isinstance(each.iter, ast.Call) and dotted(each.iter.func) == "range")
        found.update(_times(each.args) for each in calls)
    return found


def _times(arguments: list[ast.expr]) -> str:
    """`steps` of `range(steps)` and of `range(1, steps + 1)`, "" of anything else."""
    if len(arguments) == 1:
        return unparsed(arguments[0])
    first, last = map(unparsed, arguments) if len(arguments) == 2 else ("", "")
    return last.removesuffix(" + 1") if first == "1" and last.endswith(" + 1") else ""


def _goes_back(loop: ast.For) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "backward" for each in ast.walk(loop))


def _is_asserted(tree: ast.Module, scope: Scope) -> bool:
    """Whether a program stops where its processes do not share the batch evenly: `assert total % (B * T * world_size) == 0`."""
    return any(_PROCESSES in _named(_factors(each.right, scope, 0)) for each in _asserted(tree))


def _asserted(tree: ast.Module) -> Iterator[ast.BinOp]:
    """Yield each `a % b` of an assertion."""
    tests = (each.test for each in ast.walk(tree) if isinstance(each, ast.Assert))
    yield from (each for test in tests for each in ast.walk(test) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Mod))


def _accumulates(text: str) -> bool:
    return any(word in text for word in _ACCUMULATES)


def _factors(node: ast.expr, scope: Scope, depth: int) -> Iterator[ast.expr]:
    """Yield the factors of a product, and those of one that has a name in `scope`, as the number of processes may have, too."""
    bindings = scope.names.get(node.id, []) if isinstance(node, ast.Name) else []
    plain = len(bindings) == 1 and bindings[0].item < 0 and bindings[0].parameter is None and _role(_last_name(node)) == _OTHER
    named = bindings[0].value if plain else None
    product = named if named is not None and (isinstance(named, ast.BinOp) or _role(_last_name(named)) == _PROCESSES) else node
    if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult) and depth < DEEPEST_EXPRESSION:
        yield from _factors(product.left, scope, depth + 1)
        yield from _factors(product.right, scope, depth + 1)
    else:
        yield product


def _last_name(node: ast.expr) -> str:
    """The last part of the name of `node`, or of what it calls without arguments, with `jax` before it; "" for anything else."""
    if isinstance(node, ast.Call):
        called = "" if node.args or node.keywords else dotted(node.func)
        return called if called.startswith("jax.") else called.rpartition(".")[2]
    return dotted(node).rpartition(".")[2]


def _given(scopes: Scopes) -> Iterator[ast.expr]:
    """Yield what each data loader of the program gets as its batch, and what each sampler that may make the batches of one gets."""
    sampled = False
    for call, _ in scopes.called.get("DataLoader", ()):
        yield from (each.value for each in call.keywords if each.arg == "batch_size")
        sampled = sampled or any(each.arg == "batch_sampler" for each in call.keywords)
    for name, calls in scopes.called.items() if sampled else ():
        for call, _ in calls if name.endswith("Sampler") else ():
            yield from (*call.args, *(each.value for each in call.keywords))
