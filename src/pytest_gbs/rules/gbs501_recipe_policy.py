"""A recipe does not have the batch that your team's settings expect of it.

A team that tuned its learning rates for one global batch writes that down once, for all recipes, instead of in a comment of each:
`[[tool.gbs.expect]]` with `paths` and `global-batch-size = 128`, a list of values, a range such as `tokens-per-step`, or that
all matching recipes share one batch. A branch that halves the accumulation to fit a smaller GPU then fails in review, not after
a week of training.

The rule is compared with what the recipe gives on the hardware known for it. If the hardware is not known, it fires only if
no number of GPUs gives the expected size; else it says with how many GPUs it would.

How to fix it: change the recipe as the finding says, or the expectation, if it is the one that is out of date.

It stays silent if no expectation matches the recipe's path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pytest_gbs.arithmetic.admissible import reaching
from pytest_gbs.arithmetic.solver import symbolic
from pytest_gbs.arithmetic.wording import amounts, arithmetic, beside, called, leaves, listing, short, symbolic_product
from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.equation import Monomial
from pytest_gbs.model.location import Location
from pytest_gbs.model.outcome import ITS_RULE, Finding, Outcome, Severity, Undetermined, Verified
from pytest_gbs.model.quantity import HARDWARE, Conflict, Name, Origin, Quantity
from pytest_gbs.model.rule import SFT_RECIPE, Example, Needs, Rule, Scope, written_in
from pytest_gbs.model.run import Run
from pytest_gbs.model.settings import Expectation

_OPEN: Final = 10**18  # above every size there is
_ADJUSTED: Final = (Name.GRADIENT_ACCUMULATION_STEPS, Name.MICRO_BATCH_SIZE)


def check(run: Run) -> Iterator[Outcome]:
    """Yield an outcome for each expectation that the settings have of `run`."""
    for policy in run.policies:
        wanted = _wanted(policy)
        size = run.geometry.get(policy.name)
        if isinstance(size, Quantity):
            yield _judge(run, policy, wanted, size)
        elif isinstance(size, Conflict):
            yield Undetermined(ITS_RULE, Location(run.path), f"{_expected(policy)}, but the settings of the recipe contradict each other")
        else:
            yield _judge_symbolic(run, policy, wanted)


def _wanted(policy: Expectation) -> tuple[Interval, ...]:
    """The whole numbers that `policy` allows."""
    low = 1 if policy.low is None else policy.low
    high = _OPEN if policy.high is None else policy.high
    if policy.values:
        return tuple(Interval(value, value) for value in policy.values if low <= value <= high)
    return (Interval(low, high),)


def _judge(run: Run, policy: Expectation, wanted: tuple[Interval, ...], size: Quantity) -> Outcome:
    """The outcome for a size that is known."""
    operands = [leaf for leaf in leaves(size) if leaf.at is not None]
    at = _place(run, operands)
    if any(size.value in interval for interval in wanted):
        return Verified(ITS_RULE, at, run.assumptions, decides=True)
    related = beside(operands, at)
    details = (*arithmetic(size, run.framework.equations), _source(policy))
    # A file's name is weak evidence for the hardware.
    severity = Severity.WARNING if any(leaf.origin == Origin.NAME for leaf in leaves(size)) else Severity.ERROR
    message = f"{called(size.name)} is {size.value:,}, but {_expected(policy)}"
    label = next((short(leaf.name) for leaf in operands if leaf.at == at), "")
    return Finding(ITS_RULE, message, severity, at, label, related, details, _advice(operands, size, wanted), run.assumptions)


def _judge_symbolic(run: Run, policy: Expectation, wanted: tuple[Interval, ...]) -> Outcome:
    """The outcome for a size of which only the symbolic value is known: violated if no admissible value fits."""
    found = symbolic(policy.name, run.geometry.stated, run.framework.equations)
    values = reaching(found, wanted) if found else None
    at = _place(run, _operands(run))
    if found is None or values is None:
        missing = found.free if found else (policy.name,)
        return Undetermined(ITS_RULE, at, _expected(policy), missing)
    if not values:
        free = called(found.free[0])
        none = f"no number of {free}" if found.free[0] in HARDWARE else f"no {free}"
        message = f"{called(policy.name)} is {symbolic_product(found)}, but {_expected(policy)}: {none} gives that"
        related = beside(_operands(run), at)
        return Finding(ITS_RULE, message, Severity.ERROR, at, "", related, (_source(policy),), assumptions=run.assumptions)
    if _always(found, wanted):
        return Verified(ITS_RULE, at, run.assumptions, decides=True)
    return Undetermined(ITS_RULE, at, _expected(policy), found.free, f"true with {amounts(values, found.free[0])}")


def _always(found: Monomial, wanted: tuple[Interval, ...]) -> bool:
    """Whether every value of the free size fits, as for an expectation that is open to above."""
    return any(interval.low <= found.coefficient and interval.high == _OPEN for interval in wanted)


def _expected(policy: Expectation) -> str:
    """The expectation as a clause: `the settings expect 128`, `the settings expect at most 512`, `run.json trained on 64`."""
    return f"{policy.origin} trained on {_allowed(policy)}" if policy.ran else f"the settings expect {_allowed(policy)}"


def _allowed(policy: Expectation) -> str:
    if policy.values:
        return listing(f"{value:,}" for value in policy.values)
    if policy.low is not None and policy.high is not None:
        return f"{policy.low:,} to {policy.high:,}" if policy.low != policy.high else f"{policy.low:,}"
    return f"at most {policy.high:,}" if policy.high is not None else f"at least {policy.low or 1:,}"


def _source(policy: Expectation) -> str:
    return f"{policy.origin}: {policy.text}" if policy.ran else f"expected by {policy.origin}: {policy.text}"


def _operands(run: Run) -> list[Quantity]:
    sizes = (run.geometry.get(name) for name in _ADJUSTED[::-1])
    return [size for size in sizes if isinstance(size, Quantity) and size.at]


def _place(run: Run, operands: list[Quantity]) -> Location:
    """Where to point: the operand in the recipe that is most easily changed, else the recipe's first character."""
    here = [leaf for leaf in operands if leaf.at and leaf.at.source == run.path]
    here.sort(key=lambda leaf: _ADJUSTED.index(leaf.name) if leaf.name in _ADJUSTED else len(_ADJUSTED))
    return here[0].at if here and here[0].at else Location(run.path)


def _advice(operands: list[Quantity], size: Quantity, wanted: tuple[Interval, ...]) -> str:
    """The single change that would meet the one expected value, or "" if there is no one value or change."""
    if len(wanted) != 1 or wanted[0].low != wanted[0].high or size.value <= 0:
        return ""
    ways = []
    for leaf in operands:
        top = wanted[0].low * leaf.value
        if leaf.name in _ADJUSTED and leaf.key and top > 0 and top % size.value == 0:
            ways.append(f"set {leaf.key} to {top // size.value}")
    return ", or ".join(ways)


_SETTINGS = """\
gpus-per-node = 8

[[expect]]
paths = ["**"]
global-batch-size = 128
"""

_RECIPE = "# Config for 2 nodes\n" + SFT_RECIPE + "gradient_accumulation_steps: {accumulation}\n"

RULE = Rule(
    *written_in(__name__),
    scope=Scope.RUN,
    needs=Needs.POLICIES,
    summary="a recipe has another batch than the team's settings expect",
    bad=(Example((("gbs.toml", _SETTINGS), ("sft.yaml", _RECIPE.format(accumulation=1)))),),
    good=(Example((("gbs.toml", _SETTINGS), ("sft.yaml", _RECIPE.format(accumulation=2)))),),
    check=check,
    decided_by="recipe-policy",
)
