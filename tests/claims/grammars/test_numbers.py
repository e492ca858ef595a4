"""Numbers as people write them, and the whole numbers that they may stand for."""

import pytest

from pytest_gbs.claims.grammars.words import number

_NONE = ["8.0", "1e6", "abc", "", "1" * 16, "9" * 5000, "2**99", "12.5", "k", "0.0k"]


@pytest.mark.parametrize("text", _NONE, ids=range(len(_NONE)))
def test_other_text_is_not_a_whole_number(text: str) -> None:
    assert number(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("128", 128), ("1,048,576", 1_048_576), ("4_096", 4096), ("2**10", 1024), ("2^10", 1024), ("eight", 8), ("sixteen", 16), ("1", 1)],
)
def test_plain_numbers_are_exact(text: str, value: int) -> None:
    found = number(text)
    assert found is not None
    assert (found.value, found.holds) == (value, ((value, value),))


@pytest.mark.parametrize(
    ("text", "value"),
    [("1k", 1024), ("2K", 2048), ("1M", 1_048_576), ("512k", 524_288), ("0.5M", 524_288), ("500k", 500_000), ("2.1M", 2_100_000)],
)
def test_suffixes_mean_powers_of_two_where_the_number_is_one(text: str, value: int) -> None:
    found = number(text)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("1k", [950, 1000, 1024, 1499, 1535], [512, 949, 1536, 2048]),
        ("2K", [1500, 2000, 2048, 2559], [1024, 1499, 2560, 4096]),
        ("1M", [950_000, 1_000_000, 1_048_576], [524_288, 949_999, 2_097_152]),
        ("2.1M", [2_097_152, 2_050_000, 2_149_999], [2_049_999, 2_300_000, 1_048_576]),
        ("65k", [65_536, 65_000, 66_560], [66_000, 64_000, 131_072]),
        ("500k", [450_000, 524_288, 549_999], [449_999, 600_000, 1_048_576]),
        ("1.0M", [995_000, 1_048_576], [994_999, 1_200_000]),
        ("128k", [128_000, 131_072], [127_000, 129_000, 132_000]),
    ],
)
def test_a_suffixed_number_holds_for_what_rounds_to_it(text: str, inside: list[int], outside: list[int]) -> None:
    found = number(text)
    assert found is not None
    assert [value for value in inside if not any(value in interval for interval in found.holds)] == []
    assert [value for value in outside if any(value in interval for interval in found.holds)] == []


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("100", 95, 105), ("128", 122, 134), ("5.25M", 4_987_500, 5_780_275)],
)
def test_about_adds_five_percent(text: str, low: int, high: int) -> None:
    found = number(text, approximate=True)
    assert found is not None
    assert (found.holds[0].low, found.holds[-1].high) == (low, high)


def test_about_never_narrows() -> None:
    plain, loose = number("1M"), number("1M", approximate=True)
    assert plain is not None
    assert loose is not None
    assert all(any(interval.low in wide and interval.high in wide for wide in loose.holds) for interval in plain.holds)
