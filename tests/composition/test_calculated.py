"""Arithmetic that a program has OmegaConf do: nothing is run, and anything but arithmetic is not computed."""

import pytest

from pytest_gbs.composition.calculated import calculate, function_of


@pytest.mark.parametrize(
    "text",
    ["", "x", "8 if 1 else 4", "__import__('os')", "2 ** 9999", "True", "[8][0]", "1 < 2", "'8'", "(" * 400, "1 + " * 200 + "1", "8 *"],
)
def test_what_is_more_than_arithmetic_has_no_value(text: str) -> None:
    with pytest.raises(ValueError, match="arithmetic"):
        calculate(text)


@pytest.mark.parametrize(("text", "value"), [("8 * 16 * 2", 256), ("(2 + 3) // 2", 2), ("0.5 * 8", 4.0), (" 7 % 4 ", 3)])
def test_the_value_of_a_text(text: str, value: float) -> None:
    assert calculate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "lambda x: other(x))",
        "lambda x: x if x else 1)",
        "lambda: 4)",
        "lambda x: y)",
        "eval)",
        "lambda x: f'{x}')",
        "lambda *x: 4)",
        "lambda x:\n x)",
    ],
)
def test_other_functions_are_not_known(text: str) -> None:
    assert function_of(text) is None


@pytest.mark.parametrize(
    ("text", "arguments", "value"),
    [
        ("lambda x, y: (x + y - 1) // y)", (512, 128), 4),
        ("lambda x, y: (x + y - 1) // y)", (513, 128), 5),
        ("lambda a, b: a * b, replace=True)  # product", (3, 4), 12),
        ("lambda n: n * 2)\nmore", (4,), 8),
    ],
)
def test_the_value_of_a_function(text: str, arguments: tuple[int, ...], value: int) -> None:
    found = function_of(text)
    assert found is not None
    assert found(*arguments) == value
    with pytest.raises(TypeError):
        found(*arguments, 1)
