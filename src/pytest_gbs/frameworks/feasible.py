"""On how many GPUs a recipe runs: the number of training processes for which every check of the framework passes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any, Final

from pytest_gbs.arithmetic.admissible import MOST_GPUS, reaching
from pytest_gbs.arithmetic.bounds import NOWHERE, Bounds, agree
from pytest_gbs.arithmetic.solver import walk
from pytest_gbs.arithmetic.wording import leaves
from pytest_gbs.frameworks.constraints import applies
from pytest_gbs.model.declaration import Declaration, Force
from pytest_gbs.model.equation import Enforcement, Equation, Monomial, Rounding, fixed, letter
from pytest_gbs.model.framework import Constraint
from pytest_gbs.model.quantity import HARDWARE, Conflict, Name, Origin, Quantity, Size
from pytest_gbs.model.run import Run

# The rule about recipes that run on no number of GPUs.
_NOWHERE: Final = "unsatisfiable-batch"
# How many numbers of GPUs are written out.
_SHOWN: Final = 12
_STOPS: Final = (Enforcement.STOPS, Enforcement.STOPS_LATE)


def feasible_world_sizes(run: Run) -> dict[str, Any]:
    """The numbers of GPUs on which `run` can train, whatever hardware it is shown on.

    `{"all": true}`; or `{"multiple_of": 7, "divides": 512, "at_most": 64, "sizes": [...]}` with the first twelve numbers, none
    where it runs nowhere; or `{"undecided": [...]}` with the names of the sizes that would have to be known. `reaching_declared`
    lists the numbers that give the global batch size a comment claims. Least sizes that hold or fail on any hardware are left
    to the rules about them, but for those that a table gives to the rule about recipes which run nowhere.
    """
    bounds, undecided, batch = _bounds(run, [each for each in run.framework.constraints if applies(each, run)])
    return _described(bounds, undecided, _reaching(run, batch, bounds))


def runs_somewhere(run: Run, applying: Iterable[Constraint]) -> bool | None:
    """Whether some number of GPUs meets every relation between sizes that the framework enforces; None if that is unknown.

    `applying` are the constraints of the framework that apply to `run`.
    """
    bounds, undecided, _ = _bounds(run, applying)
    if next(iter(bounds.numbers()), None) is None:
        return False
    return None if undecided else True


def _bounds(run: Run, applying: Iterable[Constraint]) -> tuple[Bounds, list[str], Monomial | None]:
    """The numbers of GPUs that meet every relation, the names of sizes that would have to be known, and the batch."""
    sizes = {name: kept for name, size in run.geometry.stated.items() if (kept := on_any_hardware(name, size)) is not None}
    forms = {name: fixed(size.value) for name, size in sizes.items()}
    forms[Name.WORLD_SIZE] = letter(Name.WORLD_SIZE)
    bounds, undecided = _equations(run.framework.equations, forms)
    for constraint in applying:
        if constraint.enforcement not in _STOPS or constraint.either:
            continue
        dividend, divisor = _product(constraint.dividend, forms), _product(constraint.divisor, forms)
        quotient = dividend.over(divisor) if dividend and divisor else None
        narrowed = _narrowed(bounds, quotient, constraint)
        if narrowed is None:
            names = constraint.names
            undecided += [name for name in names if name not in forms] or names
        bounds = narrowed or bounds
    return bounds, undecided, forms.get(Name.GLOBAL_BATCH_SIZE)


def _narrowed(bounds: Bounds, size: Monomial | None, constraint: Constraint) -> Bounds | None:
    """The numbers of GPUs of `bounds` for which `size` is whole, or as large as `constraint` asks; None if that is unknown."""
    least = constraint.at_least
    if least is None:
        return bounds.whole(size) if size else None
    if size is None:
        return bounds
    if size.free or size.under:
        return bounds.at_least(size, least)
    return NOWHERE if size.coefficient < least and constraint.rule == _NOWHERE else bounds


def on_any_hardware(name: str, size: Size) -> Quantity | None:
    """`size` where it is the same on any hardware, else None: what a file says of its own hardware may be changed with it."""
    if isinstance(size, Conflict):
        size = size.values[0]
    if not isinstance(size, Quantity) or name in HARDWARE:
        return None
    for leaf in leaves(size):
        if leaf.name in HARDWARE or (leaf.name == Name.DATA_PARALLEL_SIZE and leaf.origin != Origin.FILE):
            return None
    return size


def _product(names: Iterable[str], forms: dict[str, Monomial]) -> Monomial | None:
    """The product of the sizes `names`, or None if one of them is not known even with the GPUs."""
    parts = [forms.get(name) for name in names]
    known = [part for part in parts if part is not None]
    return reduce(Monomial.times, known or [fixed(1)]) if len(known) == len(parts) else None


def _equations(equations: Iterable[Equation], forms: dict[str, Monomial]) -> tuple[Bounds, list[str]]:
    """Add to `forms` every size that follows with the number of GPUs, and return for which numbers the equations hold.

    A division that the framework floors has no form: sizes behind it stay out.
    """
    bounds, undecided = Bounds(), list[str]()

    def settle(equation: Equation, missing: str) -> bool:
        nonlocal bounds
        narrowed = _solve(equation, forms, missing, bounds)
        if narrowed is None:
            undecided.append(missing or equation.result)
        bounds = narrowed or bounds
        return True

    walk(equations, forms, settle)
    return bounds, undecided


def _solve(equation: Equation, forms: dict[str, Monomial], missing: str, bounds: Bounds) -> Bounds | None:
    """Add the one `missing` size of `equation` to `forms`, and return the numbers of GPUs for which the equation holds."""
    name = missing or equation.result
    top, bottom = (_product(names, forms) for names in equation.isolated(name))
    found = top.over(bottom) if top and bottom else None
    # GPUs that do not divide by the parallel sizes can't form groups, even where a framework's count floors.
    ranks = name == equation.result == Name.DATA_PARALLEL_SIZE
    undivided = name == equation.result and bottom == fixed(1)
    if found is None or not (ranks or undivided or equation.rounding == Rounding.EXACT):
        return bounds
    stops = equation.mismatch in _STOPS
    if not missing:
        return agree(found, forms[name], bounds) if stops else bounds
    forms[name] = found
    return bounds.whole(found) if ranks or (stops and name != equation.result) else bounds


def _reaching(run: Run, batch: Monomial | None, bounds: Bounds) -> list[int] | None:
    """The numbers of GPUs that give the global batch size claimed, or None if none is claimed or it is the same on all."""
    claimed = next((claim.declaration for claim in run.claims if _claims_batch(claim.declaration)), None)
    if claimed is None or batch is None or len(batch.free) != 1 or batch.coefficient <= 0:
        return None
    return list(reaching(batch, claimed.holds, bounds) or ())


def _claims_batch(declaration: Declaration) -> bool:
    return declaration.name == Name.GLOBAL_BATCH_SIZE and declaration.force == Force.STATES and declaration.unit != "tokens"


def _described(bounds: Bounds, undecided: list[str], reaching: list[int] | None) -> dict[str, Any]:
    """`bounds` in the shape that the JSON has."""
    numbers = []
    for number in bounds.numbers():
        numbers.append(number)
        if len(numbers) == _SHOWN:
            break
    declared = {} if reaching is None else {"reaching_declared": reaching}
    if not numbers:
        return {"sizes": [], **declared}
    if undecided:
        return {"undecided": sorted(set(undecided)), **declared}
    if bounds == Bounds():
        return {"all": True, **declared}
    shape: dict[str, Any] = {}
    if bounds.multiple > 1:
        shape["multiple_of"] = bounds.multiple
    if bounds.within:
        shape["divides"] = bounds.within
    if bounds.low > 1:
        shape["at_least"] = bounds.low
    if bounds.within or bounds.high < MOST_GPUS:
        shape["at_most"] = max(bounds.numbers())
    return {**shape, "sizes": numbers, **declared}
