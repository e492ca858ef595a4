"""What frameworks do beside multiplying: a rest that takes one more, numbers with a meaning of their own, schedules, hooks."""

import pytest

from pytest_gbs.arithmetic.solver import solve
from pytest_gbs.claims.worlds import geometry
from pytest_gbs.frameworks.conditions import applied_to
from pytest_gbs.frameworks.reading import treat, treatment
from pytest_gbs.model.document import Document, Mapping, Scalar, Sequence
from pytest_gbs.model.equation import Equation, Rounding
from pytest_gbs.model.framework import Framework, Recognition, Row, Treatment, ValueReading
from pytest_gbs.model.location import Source
from pytest_gbs.model.quantity import Conflict, Name, Origin, Quantity, Size
from pytest_gbs.readers.scalar import TOML, loader_of, resolve

SPLIT = Equation("steps", ("batch",), ("micro", "ranks"), Rounding.CEIL)


def known(**sizes: int) -> dict[str, Size]:
    """Sizes as a file states them."""
    return {name: Quantity(name, value, Origin.FILE) for name, value in sizes.items()}


@pytest.mark.parametrize(("batch", "micro", "expected"), [(320, 8, 5), (320, 6, 7), (8, 128, 1), (1, 1, 1)])
def test_a_rest_takes_one_more(batch: int, micro: int, expected: int) -> None:
    steps = solve(known(batch=batch, micro=micro, ranks=8), [SPLIT])["steps"]
    assert isinstance(steps, Quantity)
    assert steps.value == expected


def test_rounding_up_is_not_solved_backwards() -> None:
    assert "micro" not in solve(known(batch=320, steps=7, ranks=8), [SPLIT])
    assert "batch" not in solve(known(micro=6, steps=7, ranks=8), [SPLIT])


def test_a_stated_number_of_steps_is_checked_against_the_rounded_one() -> None:
    assert isinstance(solve(known(batch=320, micro=6, ranks=8, steps=7), [SPLIT])["steps"], Quantity)
    assert isinstance(solve(known(batch=320, micro=6, ranks=8, steps=6), [SPLIT])["steps"], Conflict)


READING = ValueReading(negative=Treatment.STOPS, words=((-1, Treatment.UNSET), ("auto", Treatment.AUTO)), collection=Treatment.SCHEDULE)
ROW = Row(("batch",), "batch", reading=READING)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(8, Treatment.ACCEPTS), (-1, Treatment.UNSET), (-2, Treatment.STOPS), (0, Treatment.STOPS), ("auto", Treatment.AUTO)],
)
def test_a_number_may_have_a_meaning_of_its_own(value: object, expected: str) -> None:
    assert treat(ROW, value)[0] == expected


def test_a_schedule_is_a_list_of_stages() -> None:
    stage, number = Mapping(0, 1, ()), Scalar(0, 1, "8", True)
    assert treatment(ROW, Sequence(0, 1, (stage, stage)), FRAMEWORK, "yaml")[0] == Treatment.SCHEDULE
    assert treatment(ROW, Sequence(0, 1, (number,)), FRAMEWORK, "yaml")[0] == Treatment.STOPS
    assert treatment(ROW, stage, FRAMEWORK, "yaml")[0] == Treatment.STOPS


def _one_step(_: Document, sizes: dict[str, Size]) -> dict[str, Size]:
    name = Name.GRADIENT_ACCUMULATION_STEPS
    return {} if Name.GLOBAL_BATCH_SIZE in sizes else {name: Quantity(name, 1, Origin.DEFAULT)}


FACTORS = (Name.MICRO_BATCH_SIZE, Name.GRADIENT_ACCUMULATION_STEPS)
FRAMEWORK = Framework("f", "F", Recognition(), "samples", (ROW,), (Equation(Name.GLOBAL_BATCH_SIZE, FACTORS),), settle=_one_step)
EMPTY = Document(Source("a.yaml", ""), 1, "yaml", None, {}, (), ())


def test_what_a_hook_fills_in_is_solved_with() -> None:
    micro = Quantity(Name.MICRO_BATCH_SIZE, 8, Origin.FILE)
    found = geometry({micro.name: micro}, {}, applied_to(EMPTY, FRAMEWORK), EMPTY)
    assert found.global_batch_size == 8
    batch = Quantity(Name.GLOBAL_BATCH_SIZE, 32, Origin.FILE)
    assert (
        geometry({micro.name: micro, batch.name: batch}, {}, applied_to(EMPTY, FRAMEWORK), EMPTY).value(Name.GRADIENT_ACCUMULATION_STEPS)
        == 4
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1_000", 1000),
        ("+8", 8),
        ("-0x1F", "-0x1F"),
        ("0x1F", 31),
        ("0o17", 15),
        ("0b11", 3),
        ("1e3", 1000.0),
        ("1_0.5", 10.5),
        ("true", True),
        ("True", "True"),
        ("1979-05-27", "1979-05-27"),
        ("07:32:00", "07:32:00"),
    ],
)
def test_words_of_toml(text: str, expected: object) -> None:
    assert resolve(Scalar(0, len(text), text, True), loader_of("toml", "pyyaml")) == expected
    assert resolve(Scalar(0, len(text), text, False), TOML) == text
