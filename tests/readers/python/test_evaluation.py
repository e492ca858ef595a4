"""What is kept of a program and its values: the same as if all was looked at anew, without looking at all of it anew."""

import itertools

import pytest

from pytest_gbs.model.limits import MOST_EVALUATED
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers.python import program as programs
from pytest_gbs.readers.python.program import read_program
from pytest_gbs.readers.python.results import Known
from pytest_gbs.readers.python.values import Evaluator

# `first` needs itself where `own` is found out, but not where `other` is.
CIRCLE = """\
first = Settings(size=8, more=second.more)
second = Settings(size=1, more=first.size)
other = second.more
own = first.more
size = second.size
"""


def evaluator_of(text: str) -> Evaluator:
    program = read_program(Source("train.py", text))
    assert not isinstance(program, Unreadable)
    return Evaluator(program)


def constant(evaluator: Evaluator, name: str) -> object:
    """The constant that a name of the module is in the end, None if it is unknown."""
    found = evaluator.at_end(name)
    return found[1].value if found is not None and isinstance(found[1], Known) else None


def circle(number: int) -> str:
    """Functions each of which returns what the next two do."""
    functions = (f"def f{i}(x):\n    y = f{(i + 1) % number}(x) + f{(i + 2) % number}(x)\n    return y\n" for i in range(number))
    return "".join(functions) + "known = min(f0(1), 2)\nsize = 8\n"


@pytest.mark.parametrize("order", [*itertools.permutations(("other", "own", "size"))])
def test_what_needs_itself_is_the_same_whatever_is_looked_at_first(order: tuple[str, ...]) -> None:
    evaluator = evaluator_of(CIRCLE)
    found = {name: constant(evaluator, name) for name in order * 2}
    assert found == {"other": 8, "own": None, "size": 1}


def test_what_a_program_makes_is_looked_at_once() -> None:
    text = "made = Settings(" + ", ".join(f"a{i}={i} * 2" for i in range(100)) + ")\n"
    evaluator = evaluator_of(text + "size = made.a3\n" + "".join(f"b{i} = size\n" for i in range(500)))
    assert constant(evaluator, "size") == 6
    looked_at = MOST_EVALUATED - evaluator.left
    assert [constant(evaluator, f"b{i}") for i in range(500)] == [6] * 500
    assert MOST_EVALUATED - evaluator.left < looked_at * 5


def test_functions_that_need_each_other_do_not_take_all_the_work_there_is() -> None:
    evaluator = evaluator_of(circle(40))
    assert constant(evaluator, "known") is None
    assert evaluator.left > 0
    assert constant(evaluator, "size") == 8


def test_a_program_is_parsed_once_until_many_others_were_read(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = (Source(f"{name}.py", f"{name} = 1\n" * 20) for name in ("a", "b", "c"))
    monkeypatch.setattr(programs, "MOST_KEPT_PYTHON", 120)  # words: three on each of the twenty lines of two of them
    kept = read_program(first)
    assert read_program(second) is not kept
    assert read_program(first) is kept
    assert read_program(third) is not kept  # for which the one that was not asked for so long makes room
    assert read_program(first) is kept


def test_what_a_program_takes_is_counted_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "MOST_KEPT_PYTHON", 30)
    prose, code = Source("a.py", f"# {'x' * 10_000}\na = 1\n"), Source("b.py", "b = 1\n" * 8)
    kept = read_program(prose)  # five words
    assert read_program(code) is not kept
    assert read_program(prose) is kept
    assert read_program(Source("c.py", "c=1;" * 8)) is not kept
    assert read_program(prose) is not kept


def test_a_program_longer_than_all_that_is_kept_is_kept_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    small, large = Source("a.py", "a = 1\n"), Source("b.py", "b = 1\n" * 20)
    monkeypatch.setattr(programs, "MOST_KEPT_PYTHON", 59)  # words, of the 60 of the larger one
    before = read_program(small)
    kept = read_program(large)
    assert read_program(large) is kept
    assert read_program(small) is not before
