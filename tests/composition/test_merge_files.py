from pytest_gbs.composition import merge_files
from pytest_gbs.composition.composed import ProblemKind
from pytest_gbs.model.location import Location
from tests.composition.support import tree

FILES = {"a.yml": "x: {b: 1, c: 1}\ny: 1\n", "b.yml": "x: {b: 2}\nz: 3\n"}


def test_files_without_a_common_key_are_one() -> None:
    found = merge_files(tree({"a.yml": "x: 1\n", "b.yml": "y: 2\n"}), ["a.yml", "b.yml"])
    assert (found.data, found.problems, found.sources) == ({"x": 1, "y": 2}, (), ("a.yml", "b.yml"))
    assert found.places["y",] == Location("b.yml", 3, 4, ("y",))


def test_neox_stops_at_a_common_key() -> None:
    found = merge_files(tree(FILES), ["a.yml", "b.yml"])
    assert [(problem.kind, problem.at.source) for problem in found.problems] == [(ProblemKind.DUPLICATE, "b.yml")]


def test_neox_takes_hyphens_for_underscores_and_overlooks_them() -> None:
    same = {"a.yml": '"train-iters": 1\n', "b.yml": '"train-iters": 2\n'}
    assert merge_files(tree(same), ["a.yml", "b.yml"]).data == {"train_iters": 2}
    assert not merge_files(tree(same), ["a.yml", "b.yml"]).problems
    mixed = {"a.yml": '"train-iters": 1\n', "b.yml": "train_iters: 2\n"}
    assert merge_files(tree(mixed), ["a.yml", "b.yml"]).problems


def test_interpolation_is_plain_text_to_a_plain_loader() -> None:
    files = {"a.yml": "x: ${y}\nm: ???\nn: 1e3\n"}
    assert merge_files(tree(files), ["a.yml"]).data == {"x": "${y}", "m": "???", "n": "1e3"}


def test_file_that_is_not_there_is_a_problem() -> None:
    found = merge_files(tree(FILES), ["gone.yml", "b.yml"])
    assert [problem.kind for problem in found.problems] == [ProblemKind.NOT_FOUND]
    assert found.data == {"x": {"b": 2}, "z": 3}


def test_nothing_given_is_nothing() -> None:
    assert merge_files(tree({}), []).data == {}
