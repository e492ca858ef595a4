"""Numbers in text: ASCII digits alone, and no more of them than a size can have."""

import pytest

from pytest_gbs.model.digits import is_digits, whole_number

NONE = ["", "-1", "+1", "1.0", "1_000", " 1", "1\n", "²", "1²", "٣", "１２８", "x", "9" * 9, "9" * 5_000]


@pytest.mark.parametrize("text", NONE)
def test_what_is_not_a_size_is_not_a_number(text: str) -> None:
    assert whole_number(text) is None


@pytest.mark.parametrize(("text", "number"), [("0", 0), ("007", 7), ("128", 128), ("99999999", 99_999_999)])
def test_digits_are_a_number(text: str, number: int) -> None:
    assert whole_number(text) == number


def test_the_number_of_digits_can_be_given() -> None:
    assert whole_number("123456789", 9) == 123_456_789
    assert whole_number("1234", 3) is None


@pytest.mark.parametrize(("text", "wanted"), [("", False), ("²", False), ("٣", False), ("8 ", False), ("0" * 9_000, True), ("8", True)])
def test_digits_are_ascii(text: str, wanted: bool) -> None:
    assert is_digits(text) is wanted
