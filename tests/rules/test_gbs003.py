import pytest

from pytest_gbs.model.framework import Row, Treatment, ValueReading
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.rules.gbs003_not_a_positive_integer import check

from .building import TABLE, only, shown, view

# A framework that takes what it can and says little; and one that is strict.
LENIENT = ValueReading(
    quoted=Treatment.ACCEPTS,
    whole_float=Treatment.ACCEPTS,
    boolean=Treatment.ACCEPTS,
    null=Treatment.UNSET,
    zero=Treatment.STOPS_LATE,
    negative=Treatment.NO_STEPS,
    words=(("auto", Treatment.AUTO),),
    why="ZeroDivisionError at the first step",
)
TAKES = TABLE._replace(rows=(Row(("steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1, LENIENT),))
STOPS = TABLE._replace(rows=(Row(("steps",), Name.GRADIENT_ACCUMULATION_STEPS, 1),))


WHOLE_NUMBERS = ["8", "1_024", "0x10", "0b11", "007", "+8", "!!int 8"]
PLACEHOLDERS = ["${steps}", "???", "<steps>", "‹steps›", "__STEPS__", '"{steps; 8, say}"', '"{{ steps }}"']


@pytest.mark.parametrize("value", [*WHOLE_NUMBERS, *PLACEHOLDERS])
def test_whole_numbers_and_placeholders_stay_silent(value: str) -> None:
    assert list(check(view(f"steps: {value}\n", STOPS))) == []


@pytest.mark.parametrize("value", ["{{ steps }}", "!env STEPS", "!include x.yaml", "$STEPS", "[GRAD_ACC]", "[BSIZE]"])
def test_what_something_else_fills_in_stays_silent(value: str) -> None:
    assert list(check(view(f"steps: {value}\n", STOPS))) == []


@pytest.mark.parametrize("value", ["auto", "null", "~", "", '"8"', "8.0"])
def test_what_the_framework_takes_stays_silent(value: str) -> None:
    assert list(check(view(f"steps: {value}\n", TAKES))) == []


def test_a_null_waits_for_the_program_that_composes_the_file() -> None:
    assert list(check(view("defaults: [base]\nsteps: null\n", STOPS))) == []
    assert len(list(check(view("defaults: [base]\nsteps: 0\n", STOPS)))) == 1


def test_other_keys_and_other_files_stay_silent() -> None:
    assert list(check(view("stepz: -1\n", STOPS))) == []
    assert list(check(view("steps: -1\n", None))) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param('"8"', 'steps "8" is text, not a whole number; Example stops at start', id="quoted"),
        pytest.param("eight", "steps eight is text, not a whole number; Example stops at start", id="a word"),
        pytest.param("8.0", "steps 8.0 is a float, not a whole number; Example stops at start", id="float"),
        pytest.param("8.5", "steps 8.5 is a float, not a whole number; Example stops at start", id="fraction"),
        pytest.param("true", "steps true is not a number; Example stops at start", id="boolean"),
        pytest.param("null", "steps null is not a number; Example stops at start", id="null"),
        pytest.param("", "steps has no value; Example stops at start", id="nothing"),
        pytest.param("0", "steps 0 is less than 1; Example stops at start", id="zero"),
        pytest.param("-1", "steps -1 is less than 1; Example stops at start", id="negative"),
        pytest.param("[8]", "steps is a list, not a whole number; Example stops at start", id="list"),
        pytest.param("[A, B]", "steps is a list, not a whole number; Example stops at start", id="list of names"),
        pytest.param("{a: 8}", "steps is a mapping, not a whole number; Example stops at start", id="mapping"),
        pytest.param("08", "steps 08 is text, not a whole number; Example stops at start", id="no octal"),
        pytest.param("9" * 99, "steps is text, not a whole number; Example stops at start", id="very long"),
    ],
)
def test_what_stops_the_framework_is_an_error(value: str, message: str) -> None:
    found = only(list(check(view(f"steps: {value}\n", STOPS))))
    assert found.message == message
    assert found.severity == Severity.ERROR


@pytest.mark.parametrize(
    ("value", "does"),
    [
        pytest.param("0", "Example stops during training", id="late"),
        pytest.param("-1", "Example trains no step and ends without an error", id="no steps"),
    ],
)
def test_the_finding_says_what_the_framework_does(value: str, does: str) -> None:
    file = view(f"steps: {value}\n", TAKES)
    found = only(list(check(file)))
    assert found.message.endswith(f"; {does}")
    assert found.details == ("ZeroDivisionError at the first step",)
    assert shown(file.document, found.at) == value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param("010", "steps 010 is read as 8: YAML 1.1 reads a leading zero as octal", id="octal"),
        pytest.param("1:30", "steps 1:30 is read as 90: YAML 1.1 reads digits with a colon in base 60", id="base 60"),
        pytest.param("true", "steps true is read as 1: in Python true equals 1", id="true"),
        pytest.param("on", "steps on is read as 1: in Python true equals 1", id="on"),
    ],
)
def test_what_people_read_as_another_number_is_a_warning(value: str, message: str) -> None:
    found = only(list(check(view(f"steps: {value}\n", TAKES))))
    assert found.message == message
    assert found.severity == Severity.WARNING


def test_json_has_no_traps() -> None:
    assert list(check(view('{"steps": 10}', TAKES, path="a.json"))) == []


def test_an_alias_is_judged_where_it_is_written() -> None:
    file = view("base: &base 0\nsteps: *base\n", STOPS)
    found = only(list(check(file)))
    assert shown(file.document, found.at) == "*base"
