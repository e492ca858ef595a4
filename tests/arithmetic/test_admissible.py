"""What a size that is not known may be, by sums done by hand."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_gbs.arithmetic.admissible import Multiples, admits, dividing, hardware, reaching, whole
from pytest_gbs.arithmetic.bounds import NOWHERE, Bounds, agree
from pytest_gbs.model.declaration import Interval
from pytest_gbs.model.equation import Monomial
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.quantity import Name

W, P = Name.WORLD_SIZE, Name.GPUS_PER_NODE


def monomial(coefficient: int, *free: str) -> Monomial:
    return Monomial(Fraction(coefficient), free)


@pytest.mark.parametrize(
    ("symbolic", "wanted", "values"),
    [
        pytest.param(monomial(16, P), (Interval(128, 128),), (8,), id="8 GPUs per node"),
        pytest.param(monomial(16, P), (Interval(512, 512),), (), id="32 GPUs per node are not to be had"),
        pytest.param(monomial(16, P), (Interval(1152, 1152),), (72,), id="a rack of 72 is"),
        pytest.param(monomial(12, W), (Interval(128, 128),), (), id="no whole number of GPUs"),
        pytest.param(monomial(2, W), (Interval(128, 128),), (64,), id="64 GPUs"),
        pytest.param(monomial(128), (Interval(128, 128),), (0,), id="known and true"),
        pytest.param(monomial(64), (Interval(128, 128),), (), id="known and false"),
        pytest.param(monomial(1, P, W), (Interval(1, 9),), None, id="two free sizes"),
        pytest.param(monomial(0, W), (Interval(1, 9),), None, id="nothing on any number of GPUs"),
        pytest.param(monomial(100, W), (Interval(950, 1499),), (10, 11, 12, 13, 14), id="a rounded claim"),
        pytest.param(monomial(1, W), (Interval(65_537, 65_537),), (), id="more GPUs than there are"),
    ],
)
def test_the_values_that_reach_a_claim(symbolic: Monomial, wanted: tuple[Interval, ...], values: tuple[int, ...] | None) -> None:
    assert reaching(symbolic, wanted) == values


@pytest.mark.parametrize(
    ("dividend", "divisor", "answer"),
    [
        pytest.param(monomial(64), monomial(8), True, id="known and whole"),
        pytest.param(monomial(64), monomial(7), False, id="known and not whole"),
        pytest.param(monomial(64, W), monomial(14), Multiples(W, 7), id="multiples of 7"),
        pytest.param(monomial(64, W), monomial(16), Multiples(W, 1), id="any"),
        pytest.param(monomial(32), monomial(4, W), Multiples(W, 1, 8), id="divisors of 8"),
        pytest.param(monomial(30), monomial(4, W), False, id="never"),
        pytest.param(monomial(8, W), monomial(4, W), True, id="cancels"),
        pytest.param(monomial(8, W), monomial(3, P), None, id="two free sizes"),
        pytest.param(monomial(8, W, P), monomial(4, W, P), True, id="two that cancel"),
        pytest.param(monomial(8, W, P), monomial(6, W), Multiples(P, 3), id="one of two cancels: a multiple of 3"),
        pytest.param(monomial(8, W), monomial(4, W, P), Multiples(P, 1, 2), id="one of two cancels: a divisor of 2"),
    ],
)
def test_where_a_division_leaves_no_remainder(dividend: Monomial, divisor: Monomial, answer: Multiples | bool | None) -> None:
    assert dividing(dividend, divisor) == answer


@given(st.integers(1, 500), st.integers(1, 500), st.integers(1, 200))
def test_multiples_are_what_trying_says(top: int, bottom: int, gpus: int) -> None:
    answer = dividing(monomial(top, W), monomial(bottom))
    assert isinstance(answer, Multiples)
    assert (gpus % answer.of == 0) == (top * gpus % bottom == 0)


@given(st.integers(1, 500), st.integers(1, 3000))
def test_reaching_is_what_trying_says(coefficient: int, wanted: int) -> None:
    values = reaching(monomial(coefficient, P), (Interval(wanted, wanted),))
    assert values == tuple(gpus for gpus in (*range(1, 17), 72) if coefficient * gpus == wanted)
    assert all(admits(P, gpus) for gpus in values or ())


def test_what_is_free_above_and_below_cancels() -> None:
    per_step = monomial(8, Name.GLOBAL_BATCH_SIZE)
    assert per_step.over(monomial(0, W)) is None
    quotient = per_step.over(monomial(4, W))
    assert quotient is not None
    assert quotient == Monomial(Fraction(2), (Name.GLOBAL_BATCH_SIZE,), (W,))
    assert quotient.times(monomial(3, W)) == monomial(6, Name.GLOBAL_BATCH_SIZE)


def test_bounds_hold_multiples_that_divide() -> None:
    found = Bounds(low=2, high=60, multiple=4, within=48)
    assert list(found.numbers()) == [number for number in range(100) if number in found] == [4, 8, 12, 16, 24, 48]
    assert 20 not in found, "a multiple of 4 that does not divide 48"
    assert 6 not in found, "it divides 48 and is no multiple of 4"


@pytest.mark.parametrize(
    ("multiples", "nothing"),
    [
        pytest.param(Multiples(W, 65_536), False, id="as many GPUs as there may be"),
        pytest.param(Multiples(W, 65_537), True, id="one more"),
        pytest.param(Multiples(P, 72), False, id="a rack of 72"),
        pytest.param(Multiples(W, 1, within=8), False, id="divisors of 8"),
    ],
)
def test_multiples_of_more_than_there_may_be_are_none(multiples: Multiples, nothing: bool) -> None:
    assert multiples.nothing is nothing


def test_as_many_gpus_as_there_may_be_are_hardware() -> None:
    assert hardware(None, None, 65_536).world_size == 65_536
    assert hardware(65_536, None, None).num_nodes == 65_536
    assert hardware(None, 65_536, None).gpus_per_node == 65_536
    with pytest.raises(UsageError, match="at most 65,536 GPUs"):
        hardware(None, None, 65_537)
    with pytest.raises(UsageError, match="at most 65,536 GPUs"):
        hardware(8_193, 8, None)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param((2, 8, 32), "--nodes 2 x --gpus-per-node 8 is 16 GPUs, but --world-size is 32", id="another product"),
        pytest.param((0, None, 32), "--nodes 0 is not a positive whole number", id="no nodes"),
        pytest.param((3, None, 32), "--world-size 32 is not a multiple of --nodes 3", id="nodes that do not divide"),
        pytest.param((None, 5, 32), "--world-size 32 is not a multiple of --gpus-per-node 5", id="GPUs that do not divide"),
    ],
)
def test_hardware_that_contradicts_itself(flags: tuple[int | None, int | None, int], message: str) -> None:
    with pytest.raises(UsageError) as raised:
        hardware(*flags)
    assert str(raised.value) == message


EVERYWHERE = Bounds()


@pytest.mark.parametrize(
    ("one", "other", "numbers"),
    [
        pytest.param(monomial(0), monomial(0), EVERYWHERE, id="nothing and nothing"),
        pytest.param(monomial(5, W), monomial(0), NOWHERE, id="something and nothing"),
        pytest.param(monomial(0), monomial(5, W), NOWHERE, id="nothing and something"),
        pytest.param(monomial(8), monomial(8), EVERYWHERE, id="the same"),
        pytest.param(monomial(8), monomial(9), NOWHERE, id="two numbers"),
        pytest.param(monomial(2, W), monomial(2, W), EVERYWHERE, id="the same on any number"),
        pytest.param(monomial(2, W), monomial(8), Bounds(low=4, high=4), id="4 GPUs"),
        pytest.param(monomial(8), monomial(2, W), Bounds(low=4, high=4), id="4 GPUs, the other way round"),
        pytest.param(monomial(3, W), monomial(8), NOWHERE, id="no whole number"),
        pytest.param(monomial(2, W, P), monomial(8), None, id="two free sizes"),
    ],
)
def test_where_two_values_of_a_size_are_equal(one: Monomial, other: Monomial, numbers: Bounds | None) -> None:
    assert agree(one, other, EVERYWHERE) == numbers


def test_two_free_sizes_have_no_simple_answer() -> None:
    assert whole(monomial(2, W, P)) is None
    assert whole(Monomial(Fraction(2), (W,), (P,))) is None


@pytest.mark.parametrize(
    ("size", "numbers"),
    [
        pytest.param(monomial(1, W), Bounds(low=8), id="1 on each GPU"),
        pytest.param(monomial(2, W), Bounds(low=4), id="2 on each GPU"),
        pytest.param(monomial(3, W), Bounds(low=3), id="3 on each GPU"),
        pytest.param(Monomial(Fraction(32), (), (W,)), Bounds(high=4), id="32 over all GPUs"),
        pytest.param(Monomial(Fraction(31), (), (W,)), Bounds(high=3), id="31 over all GPUs"),
        pytest.param(monomial(2, W, P), None, id="two free sizes"),
        pytest.param(monomial(0, W), None, id="nothing on each GPU"),
        pytest.param(monomial(8), None, id="a number"),
    ],
)
def test_where_a_size_is_at_least_8(size: Monomial, numbers: Bounds | None) -> None:
    assert EVERYWHERE.at_least(size, 8) == numbers
