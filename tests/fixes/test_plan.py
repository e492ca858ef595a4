"""Planning a batch: expected pairs by hand."""

import pytest

from pytest_gbs.fixes.plan import around, micro_batches, plan, world_sizes_near
from pytest_gbs.model.planning import Goal, Plan


def _pairs(found: Plan) -> list[tuple[int, int]]:
    return [(pair.micro_batch_size, pair.gradient_accumulation_steps) for pair in found.pairs]


@pytest.mark.parametrize(
    ("goal", "pairs"),
    [
        pytest.param(Goal(32, 1, most=1), [(1, 32)], id="7B on one GPU of 24 GB"),
        pytest.param(Goal(32, 2, most=2), [(2, 8), (1, 16)], id="7B on two"),
        pytest.param(Goal(32, 1, most=4), [(4, 8), (2, 16), (1, 32)], id="13B on one GPU of 80 GB"),
        pytest.param(Goal(64, 8, most=1), [(1, 8)], id="70B on eight"),
        pytest.param(Goal(64, 2, most=4), [(4, 8), (2, 16), (1, 32)], id="up to 4"),
        pytest.param(Goal(6, 1), [(6, 1), (3, 2), (2, 3), (1, 6)], id="any micro batch"),
        pytest.param(Goal(8, 8), [(1, 1)], id="one sample for each"),
        pytest.param(
            Goal(64, 32, (("tensor_parallel_size", 4), ("pipeline_parallel_size", 2))), [(16, 1), (8, 2), (4, 4), (2, 8), (1, 16)], id="tp"
        ),
    ],
)
def test_every_pair_that_fits_the_fewest_passes_first(goal: Goal, pairs: list[tuple[int, int]]) -> None:
    found = plan(goal)
    assert _pairs(found) == pairs
    assert found.near == (0, 0, ())


def test_powers_of_two_and_what_the_recipe_has_are_marked() -> None:
    found = plan(Goal(12, 1, most=6, now=(3, 4)))
    assert [(p.micro_batch_size, p.power_of_two, p.now) for p in found.pairs] == [
        (6, False, False),
        (4, True, False),
        (3, False, True),
        (2, True, False),
        (1, True, False),
    ]


def test_tokens_per_step() -> None:
    assert plan(Goal(64, 2, sequence_length=4096)).tokens_per_step == 262_144
    assert plan(Goal(64, 2)).tokens_per_step == 0


@pytest.mark.parametrize(
    ("goal", "below", "above", "worlds"),
    [
        pytest.param(Goal(64, 12), 60, 72, (4, 8, 16, 32), id="no multiple"),
        pytest.param(Goal(8, 16), 0, 16, (4, 8), id="more GPUs than samples"),
        pytest.param(Goal(30, 7, (("pipeline_parallel_size", 2),)), 0, 0, (4, 6, 10, 12), id="an odd number of GPUs"),
        pytest.param(Goal(7, 4, (("tensor_parallel_size", 4),)), None, None, None, id="one rank takes all"),
    ],
)
def test_what_is_near_where_nothing_fits(goal: Goal, below: int | None, above: int | None, worlds: tuple[int, ...] | None) -> None:
    found = plan(goal)
    if below is None:
        assert _pairs(found) == [(7, 1), (1, 7)]
        return
    assert found.pairs == ()
    assert found.near == (below, above, worlds)


def test_a_prime_with_a_small_limit_fits_as_single_samples() -> None:
    assert _pairs(plan(Goal(999_999_937, 1, most=8))) == [(1, 999_999_937)]


def test_no_number_takes_long() -> None:
    assert _pairs(plan(Goal(10**18, 1, most=2))) == [(2, 5 * 10**17), (1, 10**18)]
    assert plan(Goal(10**18 + 1, 65_536)).pairs == ()


@pytest.mark.parametrize(("share", "most", "sizes"), [(1, 0, (1,)), (16, 0, (16, 8, 4, 2, 1)), (12, 5, (4, 3, 2, 1)), (49, 0, (49, 7, 1))])
def test_micro_batches_are_divisors(share: int, most: int, sizes: tuple[int, ...]) -> None:
    assert micro_batches(share, most) == sizes


@pytest.mark.parametrize(("batch", "step", "expected"), [(64, 8, (64, 64)), (64, 12, (60, 72)), (3, 8, (0, 8)), (3, 0, (0, 0))])
def test_multiples_around_a_batch(batch: int, step: int, expected: tuple[int, int]) -> None:
    assert around(batch, step) == expected


def test_numbers_of_gpus_near_leave_out_the_wanted_one() -> None:
    assert world_sizes_near(8, lambda _: True) == (6, 7, 9, 10)
    assert world_sizes_near(1, lambda world: world % 2 == 0) == (2, 4)
    assert world_sizes_near(8, lambda _: False) == ()
