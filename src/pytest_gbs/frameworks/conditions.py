"""Whether a condition of a framework's table is true of a document, and which of its equations hold for one."""

from __future__ import annotations

from functools import lru_cache

from pytest_gbs.model.condition import Condition
from pytest_gbs.model.document import CONFIGURATIONS, Alias, Document, Node, Scalar, followed
from pytest_gbs.model.equation import Equation
from pytest_gbs.model.framework import Framework
from pytest_gbs.model.pattern import lazy_pattern
from pytest_gbs.model.record import Final, NamedTuple
from pytest_gbs.model.run import Run
from pytest_gbs.readers.scalar import COMPUTED, loader_of, resolve
from pytest_gbs.readers.value_node import value_node

# A variable of a shell, of Hydra or of a template, which something else fills in.
VARIABLE: Final = r"\$[A-Za-z_({]|\{\{|\{%"
_variable = lazy_pattern(VARIABLE)


def holds(condition: Condition, document: Document, loader: str) -> bool:
    """Whether `condition` is true of `document`, its value resolved as the framework's loader does."""
    if condition.of_files and not document.source.path.endswith(CONFIGURATIONS):
        return True
    if condition.said and any(condition.said in block.text for block in document.comments):
        return not condition.negated
    node = value_node(document, condition.key)
    value: object = condition.default
    if node is not None:
        found = node.target if type(node) is Alias else node
        value = resolve(found, loader_of(document.syntax, loader)) if type(found) is Scalar else found
    return _is_one_of(value, condition.values) != condition.negated


def _is_one_of(value: object, wanted: tuple[object, ...]) -> bool:
    """Whether one of `wanted` is `value` and of its type: 1 is not true."""
    for each in wanted:  # noqa: SIM110 - asked a dozen times of each recipe: half the time that a generator takes
        if value is each or (type(value) is type(each) and value == each):
            return True
    return False


def packs(run: Run) -> bool:
    """Whether the samples of a run are packed: several rows of its data set in one."""
    packing = run.framework.packing
    return packing is not None and holds(packing, run.document, run.framework.loader)


def is_partial(run: Run) -> bool:
    """Whether the processes of a run do not go through all of its data set together in an epoch."""
    return any(holds(each, run.document, run.framework.loader) for each in run.framework.partial_epochs)


def certain(condition: Condition, document: Document, loader: str) -> bool:
    """Whether `condition` is true of `document` whatever fills in its variables: `${DYNAMIC}` is not `true`, but may become it."""
    if not holds(condition, document, loader):
        return False
    return not condition.negated or condition.values == (None,) or not _is_filled_in(value_node(document, condition.key))


def _is_filled_in(node: Node | None) -> bool:
    """Whether something else puts another value in the place of `node`."""
    found = followed(node)
    return isinstance(found, Scalar) and (found.tag == COMPUTED or _variable().search(found.text) is not None)


def serves_too(framework: Framework, document: Document) -> bool:
    """Whether some of the GPUs may serve rather than train, and it is not stated how many."""
    shares = framework.shares
    if not any(holds(each, document, framework.loader) for each in framework.reserves):
        return False
    return shares is None or not holds(shares, document, framework.loader)


class Applied(NamedTuple):
    """A framework with the equations that hold for one document.

    In `real` those without conditions give way to those whose conditions hold. In `reported` they do not: the framework's own checks
    and log still go by them.
    """

    real: Framework
    reported: Framework


def applied_to(document: Document, framework: Framework) -> Applied:
    """`framework` with the equations that hold for `document`."""
    plain, conditional = _by_condition(framework)
    holding = tuple(all(holds(each, document, framework.loader) for each in e.when) for e in conditional)
    return _applied(framework, holding) if any(holding) else Applied(plain, plain)


@lru_cache
def _applied(framework: Framework, holding: tuple[bool, ...]) -> Applied:
    """`framework` where the conditions of those of its conditional equations hold that are `holding`."""
    plain, conditional = _by_condition(framework)
    special = [equation for equation, holds_here in zip(conditional, holding, strict=True) if holds_here]
    replaced = {equation.result for equation in special}
    rest = [equation for equation in plain.equations if equation.result not in replaced]
    usual = {equation.result for equation in plain.equations}
    added = [equation for equation in special if equation.result not in usual]
    reported = plain._replace(equations=(*added, *plain.equations)) if added else plain
    return Applied(plain._replace(equations=(*special, *rest)), reported)


@lru_cache
def _by_condition(framework: Framework) -> tuple[Framework, tuple[Equation, ...]]:
    """`framework` with the equations that hold for every document, itself if these are all; and the other equations."""
    usual = tuple(equation for equation in framework.equations if not equation.when)
    conditional = tuple(equation for equation in framework.equations if equation.when)
    return (framework._replace(equations=usual) if conditional else framework), conditional
