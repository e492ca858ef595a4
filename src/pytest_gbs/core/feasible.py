"""On how many GPUs a recipe runs: the number of training processes for which every check of the framework passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import gcd, lcm
from typing import Any, Final, NamedTuple

from pytest_gbs.core.admissible import MOST_GPUS
from pytest_gbs.core.constraints import applies
from pytest_gbs.core.declaration import Declaration, Force
from pytest_gbs.core.equation import Enforcement, Equation, Rounding
from pytest_gbs.core.quantity import Conflict, Name, Origin, Quantity, Size
from pytest_gbs.core.run import Run
from pytest_gbs.core.wording import leaves

# How many numbers of GPUs are written out.
_SHOWN: Final = 12
_HARDWARE: Final = (Name.WORLD_SIZE, Name.NUM_NODES, Name.GPUS_PER_NODE)
_STOPS: Final = (Enforcement.STOPS, Enforcement.STOPS_LATE)


class Form(NamedTuple):
    """A size as a fraction times the number of GPUs to a power: 16 x GPUs is (16, 1, 1), 512 / GPUs is (512, 1, -1).

    The fraction is in lowest terms, its denominator above zero. (`fractions` would take `decimal` along at start-up.)
    """

    numerator: int
    denominator: int = 1
    power: int = 0

    def times(self, other: Form) -> Form:
        """Return the product."""
        return _form(self.numerator * other.numerator, self.denominator * other.denominator, self.power + other.power)

    def over(self, other: Form) -> Form | None:
        """Return the quotient, or None where the divisor is nothing."""
        if other.numerator == 0:
            return None
        return _form(self.numerator * other.denominator, self.denominator * other.numerator, self.power - other.power)


def _form(numerator: int, denominator: int, power: int) -> Form:
    common = gcd(numerator, denominator) * (1 if denominator > 0 else -1)
    return Form(numerator // common, denominator // common, power)


class Bounds(NamedTuple):
    """The admissible numbers of GPUs: multiples of `multiple` from `low` to `high` that divide `within` (0: any)."""

    multiple: int = 1
    within: int = 0
    low: int = 1
    high: int = MOST_GPUS

    def whole(self, form: Form) -> Bounds | None:
        """Return the numbers of these for which `form` is a whole number, or None where that has no simple answer."""
        if form.power == 0:
            return self if form.denominator == 1 else _NOWHERE
        if form.power == 1:
            return self._replace(multiple=lcm(self.multiple, form.denominator))
        if form.power == -1:
            return self._replace(within=gcd(self.within, form.numerator)) if form.denominator == 1 else _NOWHERE
        return None

    def at_least(self, form: Form, least: int) -> Bounds | None:
        """Return the numbers of these for which `form` is at least `least`."""
        if form.power == 1 and form.numerator > 0:
            return self._replace(low=max(self.low, -(-least * form.denominator // form.numerator)))
        if form.power == -1 and least > 0:
            return self._replace(high=min(self.high, form.numerator // (form.denominator * least)))
        return None

    def exactly(self, numerator: int, denominator: int) -> Bounds:
        """Return the one number of these that is `numerator` / `denominator`, or nothing."""
        if denominator == 0 or numerator % denominator:
            return _NOWHERE
        number = numerator // denominator
        return self._replace(low=max(self.low, number), high=min(self.high, number))

    def numbers(self) -> Iterator[int]:
        """Yield the numbers in ascending order."""
        high = min(self.high, self.within or self.high)
        start = -(-self.low // self.multiple) * self.multiple
        for number in range(start, high + 1, self.multiple):
            if self.within % number == 0:
                yield number

    def __contains__(self, number: object) -> bool:
        """Return whether `number` is one of these."""
        if not isinstance(number, int) or not self.low <= number <= self.high:
            return False
        return number % self.multiple == 0 and self.within % number == 0


_NOWHERE: Final = Bounds(low=1, high=0)


def feasible_world_sizes(run: Run) -> dict[str, Any]:
    """Return on how many GPUs `run` can train, whatever hardware it is shown on.

    `{"all": true}`; or `{"multiple_of": 7, "divides": 512, "at_most": 64, "sizes": [...]}` with the first twelve numbers, none
    where it runs nowhere; or `{"undecided": [...]}` with the names of the sizes that would have to be known. `reaching_declared`
    lists the numbers that give the global batch size a comment claims. Least sizes that hold or fail on any hardware are left
    to the rules about them.
    """
    sizes = {name: kept for name, size in run.geometry.stated.items() if (kept := _without_hardware(name, size)) is not None}
    forms = {name: Form(size.value) for name, size in sizes.items()}
    forms[Name.WORLD_SIZE] = Form(1, power=1)
    bounds, undecided = _equations(run.framework.equations, forms)
    for constraint in run.framework.constraints:
        if constraint.enforcement not in _STOPS or not applies(constraint, run):
            continue
        dividend, divisor = _product(constraint.dividend, forms), _product(constraint.divisor, forms)
        quotient = dividend.over(divisor) if dividend and divisor else None
        if constraint.at_least is not None:
            narrowed = bounds.at_least(dividend, constraint.at_least) if dividend and dividend.power else bounds
        else:
            narrowed = bounds.whole(quotient) if quotient else None
        if narrowed is None:
            names = (*constraint.dividend, *constraint.divisor)
            undecided += [name for name in names if name not in forms] or names
        bounds = narrowed or bounds
    return _described(bounds, undecided, _reaching(run, forms.get(Name.GLOBAL_BATCH_SIZE), bounds))


def _without_hardware(name: str, size: Size) -> Quantity | None:
    """Return `size` where it is the same on any hardware, else None: what a file says of its own hardware may be changed with it."""
    if isinstance(size, Conflict):
        size = size.values[0]
    if not isinstance(size, Quantity) or name in _HARDWARE:
        return None
    for leaf in leaves(size):
        if leaf.name in _HARDWARE or (leaf.name == Name.DATA_PARALLEL_SIZE and leaf.origin != Origin.FILE):
            return None
    return size


def _product(names: Iterable[str], forms: dict[str, Form]) -> Form | None:
    """Return the product of the sizes `names`, or None where one of them is not known even with the GPUs."""
    product = Form(1)
    for name in names:
        if name not in forms:
            return None
        product = product.times(forms[name])
    return product


def _equations(equations: Iterable[Equation], forms: dict[str, Form]) -> tuple[Bounds, list[str]]:
    """Add to `forms` every size that follows with the number of GPUs, and return for which numbers the equations hold.

    A division that the framework floors has no form: sizes behind it stay out.
    """
    bounds, undecided = Bounds(), list[str]()
    pending = list(equations)
    while True:
        waiting = []
        for equation in pending:
            missing = [n for n in {equation.result, *equation.product, *equation.divisors} if n not in forms]
            if len(missing) > 1:
                waiting.append(equation)
                continue
            narrowed = _solve(equation, forms, missing[0] if missing else "", bounds)
            if narrowed is None:
                undecided += [*missing] or [equation.result]
            bounds = narrowed or bounds
        if len(waiting) == len(pending):
            return bounds, undecided
        pending = waiting


def _solve(equation: Equation, forms: dict[str, Form], missing: str, bounds: Bounds) -> Bounds | None:
    """Add the one `missing` size of `equation` to `forms`, and return the numbers of GPUs for which the equation holds."""
    top = _product([name for name in equation.product if name != missing], forms)
    bottom = _product([name for name in equation.divisors if name != missing], forms)
    stops = equation.mismatch in _STOPS
    if top is None or bottom is None:
        return bounds
    if missing == equation.result or not missing:
        found = top.over(bottom)
        if found is None:
            return bounds
        # GPUs that do not divide by the parallel sizes can't form groups, even where a framework's count floors.
        ranks = equation.result == Name.DATA_PARALLEL_SIZE
        exact = ranks or equation.rounding == Rounding.EXACT or bottom == Form(1)
        if missing:
            if exact:
                forms[missing] = found
            return bounds.whole(found) if ranks else bounds
        return _agree(found, forms[equation.result], bounds) if exact and stops else bounds
    result = forms[equation.result].times(bottom)
    found = result.over(top) if missing in equation.product else top.over(result)
    if found is None or equation.rounding == Rounding.FLOOR:
        return bounds
    forms[missing] = found
    return bounds.whole(found) if stops else bounds


def _agree(one: Form, other: Form, bounds: Bounds) -> Bounds | None:
    """Return the numbers of GPUs for which two forms of one size are equal."""
    ratio = one.over(other)
    if ratio is None or ratio.numerator == 0:
        return bounds if one == other else _NOWHERE
    if ratio.power == 0:
        return bounds if ratio == Form(1) else _NOWHERE
    if ratio.power == 1:
        return bounds.exactly(ratio.denominator, ratio.numerator)
    return bounds.exactly(ratio.numerator, ratio.denominator) if ratio.power == -1 else None


def _reaching(run: Run, form: Form | None, bounds: Bounds) -> list[int] | None:
    """Return the numbers of GPUs that give the global batch size claimed, or None where nobody claims one or it is the same on all."""
    claimed = next((claim.declaration for claim in run.claims if _claims_batch(claim.declaration)), None)
    if claimed is None or form is None or form.power != 1 or form.numerator <= 0:
        return None
    found: list[int] = []
    for interval in claimed.holds:
        low = -(-interval.low * form.denominator // form.numerator)
        high = min(MOST_GPUS, interval.high * form.denominator // form.numerator)
        for number in range(max(1, low), high + 1):
            if number in bounds and form.numerator * number % form.denominator == 0:
                found.append(number)
            if len(found) == _SHOWN:
                return found
    return sorted(found)


def _claims_batch(declaration: Declaration) -> bool:
    return declaration.name == Name.GLOBAL_BATCH_SIZE and declaration.force == Force.STATES and declaration.unit != "tokens"


def _described(bounds: Bounds, undecided: list[str], reaching: list[int] | None) -> dict[str, Any]:
    """Return `bounds` in the shape that the JSON has."""
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
