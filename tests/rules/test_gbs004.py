import pytest
import yaml

from pytest_gbs.model.framework import Text
from pytest_gbs.model.outcome import Applicability, Severity
from pytest_gbs.rules.gbs004_exponent_read_as_text import check

from .building import TABLE, only, shown, view

BREAKS = TABLE._replace(texts=(Text(("learning_rate",), "TypeError when the optimizer is built", "test"),))


@pytest.mark.parametrize(
    "value",
    [
        "2.0e-5",
        "2.e-5",
        ".5e-5",
        "0.00002",
        "5",
        "${lr}",
        "cosine",
        "auto",
        "",
        "null",
        "nan",
        "1e",
        "e5",
        ".",
        "2e-5x",
        "!env LR",
        "[2e-5]",
    ],
)
def test_numbers_and_other_texts_stay_silent(value: str) -> None:
    assert list(check(view(f"learning_rate: {value}\n", BREAKS))) == []


def test_frameworks_that_convert_stay_silent() -> None:
    assert list(check(view("learning_rate: 2e-5\n", TABLE))) == []


def test_other_keys_and_other_files_stay_silent() -> None:
    assert list(check(view("weight_decay: 2e-5\n", BREAKS))) == []
    assert list(check(view("learning_rate: 2e-5\n", None))) == []


def test_json_numbers_stay_silent() -> None:
    assert list(check(view('{"learning_rate": 2e-5}', BREAKS, path="a.json"))) == []


@pytest.mark.parametrize(
    ("value", "better"),
    [
        pytest.param("2e-5", "2.0e-5", id="no dot"),
        pytest.param("1E-4", "1.0e-4", id="capital"),
        pytest.param("1e1", "1.0e+1", id="no sign"),
        pytest.param("1.5e3", "1.5e+3", id="dot but no sign"),
        pytest.param("5.e3", "5.0e+3", id="nothing behind the dot"),
        pytest.param("-2e-5", "-2.0e-5", id="negative"),
        pytest.param("+2e-5", "2.0e-5", id="plus"),
        pytest.param("5e-06", "5.0e-06", id="leading zero of the exponent"),
        pytest.param('"2e-5"', "2.0e-5", id="double quotes"),
        pytest.param("'0.1'", "0.1", id="single quotes"),
        pytest.param('".5"', "0.5", id="no digit before the dot"),
    ],
)
def test_a_number_read_as_text_is_an_error_with_a_safe_fix(value: str, better: str) -> None:
    file = view(f"learning_rate: {value}  # tuned\n", BREAKS)
    found = only(list(check(file)))
    assert found.severity == Severity.ERROR
    assert shown(file.document, found.at) == value
    (fix,) = found.fixes
    (edit,) = fix.edits
    assert fix.title == f"write {better}"
    assert fix.applicability == Applicability.SAFE
    assert (edit.at, edit.expected, edit.replacement) == (found.at, value, better)
    assert yaml.safe_load(better) == float(yaml.safe_load(value))


def test_the_message_says_why() -> None:
    found = only(list(check(view("learning_rate: 2e-5\n", BREAKS))))
    assert found.message == (
        "learning_rate 2e-5 is read as text: YAML 1.1 needs a dot and a signed exponent; TypeError when the optimizer is built"
    )
    quoted = only(list(check(view('learning_rate: "2e-5"\n', BREAKS))))
    assert "a number in quotes is text" in quoted.message
