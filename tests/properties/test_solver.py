"""The solver against trying all numbers: what it gives holds in every solution, and it contradicts only what has none."""

from collections.abc import Iterator
from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_gbs.arithmetic.solver import solve, symbolic
from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.quantity import Conflict, Origin, Quantity, Reason, Size, Unknown

NAMES = ("a", "b", "c", "d")
MOST = 8

Values = dict[str, int]
factors = st.lists(st.sampled_from(NAMES), max_size=3, unique=True).map(tuple)


@st.composite
def equations(draw: st.DrawFn) -> tuple[Equation, ...]:
    """One to three equations over four sizes, each size at most once in each, and the result of at most one."""
    results = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    return tuple(draw(_equation(result)) for result in results)


@st.composite
def _equation(draw: st.DrawFn, result: str) -> Equation:
    others = draw(st.permutations([name for name in NAMES if name != result]))
    above = draw(st.integers(1, 3))
    below = draw(st.integers(0, 3 - above))
    rounding = draw(st.sampled_from([Rounding.EXACT, Rounding.EXACT, Rounding.FLOOR, Rounding.CEIL]))
    return Equation(result, tuple(others[:above]), tuple(others[above : above + below]), rounding)


def holds(equation: Equation, values: Values) -> bool:
    """Whether the values fit an equation, in words that are not the solver's."""
    top, bottom = prod(values[n] for n in equation.product), prod(values[n] for n in equation.divisors)
    result = values[equation.result]
    if equation.rounding == Rounding.FLOOR:
        return result * bottom <= top < (result + 1) * bottom
    if equation.rounding == Rounding.CEIL:
        return (result - 1) * bottom < top <= result * bottom
    return result * bottom == top


def solutions(system: tuple[Equation, ...], known: Values) -> Iterator[Values]:
    """Yield every way to give each size a number from 1 to `MOST` (and what is known its own) so that all equations hold."""
    ranges = [(known[name],) if name in known else range(1, MOST + 1) for name in NAMES]
    for numbers in product(*ranges):
        values = dict(zip(NAMES, numbers, strict=True))
        if all(holds(equation, values) for equation in system):
            yield values


def quantities(known: Values) -> dict[str, Size]:
    return {name: Quantity(name, value, Origin.FILE) for name, value in known.items()}


@settings(max_examples=150)
@given(equations(), st.dictionaries(st.sampled_from(NAMES), st.integers(1, MOST), min_size=1))
def test_what_follows_holds_in_every_solution(system: tuple[Equation, ...], known: Values) -> None:
    found = solve(quantities(known), system)
    every = list(solutions(system, known))
    for name, size in found.items():
        if isinstance(size, Quantity):
            assert all(values[name] == size.value for values in every)
        elif isinstance(size, Conflict) or (isinstance(size, Unknown) and size.reason == Reason.NOT_WHOLE):
            assert every == [], f"{name} was refused, but {every[0]} fits"


@settings(max_examples=150)
@given(equations(), st.dictionaries(st.sampled_from(NAMES), st.integers(1, MOST), min_size=1))
def test_what_contradicts_itself_is_noticed(system: tuple[Equation, ...], known: Values) -> None:
    found = solve(quantities(known), system)
    sound = all(isinstance(size, Quantity) for size in found.values())
    if sound and found.keys() == set(NAMES):
        values = {name: size.value for name, size in found.items() if isinstance(size, Quantity)}
        assert all(holds(equation, values) for equation in system)


@settings(max_examples=150)
@given(equations(), st.dictionaries(st.sampled_from(NAMES), st.integers(1, MOST), min_size=1), st.permutations(range(3)))
def test_the_order_of_equations_changes_nothing(system: tuple[Equation, ...], known: Values, order: list[int]) -> None:
    other = tuple(system[place] for place in order if place < len(system))
    one, two = solve(quantities(known), system), solve(quantities(known), other)
    if all(isinstance(size, Quantity) for size in (*one.values(), *two.values())):
        assert {name: size.value for name, size in one.items() if isinstance(size, Quantity)} == {
            name: size.value for name, size in two.items() if isinstance(size, Quantity)
        }


@settings(max_examples=100)
@given(equations(), st.dictionaries(st.sampled_from(NAMES), st.integers(1, MOST), min_size=1))
def test_a_symbolic_size_is_its_coefficient_times_what_is_free(system: tuple[Equation, ...], known: Values) -> None:
    exact = tuple(equation._replace(rounding=Rounding.EXACT) for equation in system)
    found = solve(quantities(known), exact)
    if not all(isinstance(size, Quantity) for size in found.values()):
        return
    for equation in exact:
        monomial = symbolic(equation.result, found, exact)
        if monomial is None:
            continue
        for values in solutions(exact, known):
            top, bottom = (prod(values[name] for name in names) for names in (monomial.free, monomial.under))
            assert monomial.coefficient * top == values[equation.result] * bottom
