"""Mutants are single changes of a program that still parses; the tests that ran the line decide."""

import ast
from pathlib import Path

import pytest

from tools.mutants import _test, fate, mutants

PROGRAM = '''\
LIMIT = 3  # not in a function


def size(a: int, b: int, names: list[str]) -> int:
    """Words with 1 number."""
    if not (a < b) and "x" in names:
        return a * (b + 1)
    for name in names:
        if name is None:
            continue
    print(f"{a + b}")
    return b // 2 if True else 0
'''


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "größe.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def test_each_mutant_is_one_change_that_parses(program: Path) -> None:
    data = (program / "größe.py").read_bytes()
    for mutant in mutants([program]):
        stop = mutant.start + len(mutant.before)
        assert data[mutant.start : stop] == mutant.before
        ast.parse(data[: mutant.start] + mutant.after + data[stop:])


def test_what_is_changed(program: Path) -> None:
    found = {(mutant.line, mutant.before.decode(), mutant.after.decode()) for mutant in mutants([program])}
    assert found == {
        (6, "not", ""),
        (6, "<", "<="),
        (6, "and", "or"),
        (6, "in", "not in"),
        (7, "a * (b + 1)", "None"),
        (7, "*", "+"),
        (7, "+", "-"),
        (7, "1", "2"),
        (9, "is", "is not"),
        (10, "continue", "break"),
        (12, "b // 2 if True else 0", "None"),
        (12, "//", "*"),
        (12, "2", "3"),
        (12, "True", "False"),
        (12, "0", "1"),
    }


def test_the_same_mutants_in_the_same_order(program: Path) -> None:
    assert mutants([program]) == mutants([program])


@pytest.mark.parametrize(
    ("context", "test"),
    [
        ("tests.rules.test_gbs101.test_it_is_silent", "tests/rules/test_gbs101.py::test_it_is_silent"),
        ("tests.rules.test_gbs503.TestBase.test_no_change", "tests/rules/test_gbs503.py::TestBase::test_no_change"),
    ],
)
def test_a_test_is_named_as_pytest_does(context: str, test: str) -> None:
    assert _test(context) == test


def test_what_no_test_runs_is_not_reached(program: Path) -> None:
    assert fate(mutants([program])[0], program, []) == "unreached"
