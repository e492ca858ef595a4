"""The count of the first step against what is expected."""

import pytest

from pytest_gbs.runtime import Expected
from pytest_gbs.runtime.guard import RankCount, difference


def ranks(*rows: int, micro_batches: int = 4, same: bool = False) -> list[RankCount]:
    """Ranks that each count `rows`, all other ones unless they are the `same`."""
    return [RankCount(each, micro_batches, 7 if same else 7 + number) for number, each in enumerate(rows)]


@pytest.mark.parametrize(
    ("counts", "ranks_per_replica"),
    [
        pytest.param(ranks(8, 8), 1, id="two ranks"),
        pytest.param(ranks(16), 1, id="one"),
        pytest.param(ranks(9, 7), 1, id="uneven"),
        pytest.param(ranks(16, 16, same=True), 1, id="tensor parallel ranks are seen to share rows"),
        pytest.param(ranks(16, 16, same=True), 2, id="tensor parallel ranks share rows"),
        pytest.param([RankCount(8, 4, 0)] * 2, 1, id="rows that can not be compared"),
    ],
)
def test_silent_where_the_rows_are_those_expected(counts: list[RankCount], ranks_per_replica: int) -> None:
    assert difference(Expected(16, 2, 4, 2), counts, ranks_per_replica) == ""


def test_completions_of_one_prompt_may_be_on_several_ranks() -> None:
    assert difference(Expected(16), ranks(8, 8, same=True), compare=False) == ""


def test_the_factor_that_differs_is_named() -> None:
    assert difference(Expected(32, 2, 8, 2, "sft.yaml"), ranks(8, 8)) == (
        "sft.yaml: the global batch size should be 32, but the first optimizer step trains on"
        " 16 rows = 2 micro x 4 accumulation x 2 data-parallel\n  accumulation: 8 expected, 4 found"
    )


def test_rows_of_each_rank_are_reported_where_they_differ() -> None:
    assert difference(Expected(16), ranks(8, 6)).endswith("trains on 14 rows: 8, 6 on the ranks")


def test_ranks_that_train_on_the_same_rows_are_reported() -> None:
    assert difference(Expected(16), ranks(8, 8, same=True)) == (
        "the global batch size should be 16, but the first optimizer step trains on"
        " 16 rows on 2 ranks, 8 of them different: ranks train on the same rows"
    )


def test_a_rank_that_saw_nothing_is_not_an_error_of_arithmetic() -> None:
    assert "0 rows" in difference(Expected(16), [RankCount(0, 0, 0)])
