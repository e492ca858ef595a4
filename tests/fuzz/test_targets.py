"""Each fuzz target runs for a moment on damaged examples, the same in every run; `python -m fuzz` runs it for as long as you like."""

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("no getrusage", allow_module_level=True)

from fuzz.damage import inputs
from fuzz.target import execute, load, names

MANY = 150


@pytest.mark.parametrize("name", names())
def test_its_seeds_are_in_order(name: str) -> None:
    target = load(name)
    assert [trouble for seed in list(target.seeds())[:60] if (trouble := execute(target, seed)) is not None] == []


@pytest.mark.parametrize("name", names())
def test_damaged_seeds_give_a_result(name: str) -> None:
    target = load(name)
    for data in inputs(target, MANY, seed=len(name)):
        trouble = execute(target, data)
        assert trouble is None, f"{data!r}\n{trouble.words}"


def test_every_entrance_is_fuzzed() -> None:
    readers = {"yaml", "json", "toml", "python", "notebook", "shell", "makefile", "markdown", "comments"}
    assert readers | {"composition", "check", "fixing", "own_files"} == set(names())
