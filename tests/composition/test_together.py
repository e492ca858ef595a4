from __future__ import annotations

import pytest

from pytest_gbs.composition import Shared, combine
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.model.framework import Loader
from pytest_gbs.model.location import Location
from pytest_gbs.readers import read
from tests.composition.support import tree

FILES = {"a.yml": "x: {b: 1, c: 1}\ny: 1\n", "b.yml": "x: {b: 2}\nz: 3\n"}


@pytest.mark.parametrize(
    ("shared", "expected"),
    [(Shared.REPLACE, {"x": {"b": 2}, "y": 1, "z": 3}), (Shared.MERGE, {"x": {"b": 2, "c": 1}, "y": 1, "z": 3})],
    ids=["replace", "merge"],
)
def test_later_file_wins(shared: str, expected: dict[str, object]) -> None:
    found = combine(tree(FILES), read, ["a.yml", "b.yml"], shared=shared)
    assert (found.data, found.problems, found.sources) == (expected, (), ("a.yml", "b.yml"))
    assert found.values["x", "b"].at == Location("b.yml", 7, 8, ("x", "b"))
    assert [at.source for at in found.values["x", "b"].overrode] == ["a.yml"]


def test_files_without_a_common_key_are_one() -> None:
    found = combine(tree({"a.yml": "x: 1\n", "b.yml": "y: 2\n"}), read, ["a.yml", "b.yml"])
    assert (found.data, found.problems) == ({"x": 1, "y": 2}, ())


def test_neox_stops_at_a_common_key() -> None:
    found = combine(tree(FILES), read, ["a.yml", "b.yml"])
    assert [(problem.kind, problem.at.source) for problem in found.problems] == [(ProblemKind.DUPLICATE, "b.yml")]


def test_neox_takes_hyphens_for_underscores_and_overlooks_them() -> None:
    same = {"a.yml": '"train-iters": 1\n', "b.yml": '"train-iters": 2\n'}
    assert combine(tree(same), read, ["a.yml", "b.yml"]).data == {"train_iters": 2}
    assert not combine(tree(same), read, ["a.yml", "b.yml"]).problems
    mixed = {"a.yml": '"train-iters": 1\n', "b.yml": "train_iters: 2\n"}
    assert combine(tree(mixed), read, ["a.yml", "b.yml"]).problems


def test_interpolation_is_plain_text_to_a_plain_loader() -> None:
    files = {"a.yml": "x: ${y}\nm: ???\nn: 1e3\n"}
    assert combine(tree(files), read, ["a.yml"]).data == {"x": "${y}", "m": "???", "n": "1e3"}
    assert combine(tree({"a.yml": "x: ${y}\ny: 1e3\n"}), read, ["a.yml"], loader=Loader.OMEGACONF).data == {"x": 1e3, "y": 1e3}


def test_file_that_is_not_there_is_a_problem() -> None:
    found = combine(tree(FILES), read, ["gone.yml", "b.yml"])
    assert [problem.kind for problem in found.problems] == [ProblemKind.NOT_FOUND]
    assert found.data == {"x": {"b": 2}, "z": 3}


def test_nothing_given_is_nothing() -> None:
    assert combine(tree({}), read, []).data == {}
