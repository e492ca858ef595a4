"""The notation in which grammars state the shapes of statements."""

from importlib import import_module
from pkgutil import iter_modules

import pytest

from pytest_gbs.claims import grammars
from pytest_gbs.claims.grammars._shapes import Notation, Shape
from pytest_gbs.claims.grammars._tokens import tokenise

_shape = Notation(NODE=("node", "nodes"), GPU=("gpu", "gpus"), EACH="[per NODE | each NODE?]", NUMBERED="COUNT GPU")


@pytest.mark.parametrize(
    ("shape", "text", "stop"),
    [
        ("COUNT NODE", "4 nodes", 2),
        ("COUNT NODE", "4 gpus", None),
        ("COUNT NODE|gpus", "4 gpus", 2),
        ("COUNT ~NODE|gpus", "4 gpus", None),
        ("COUNT ~NODE|gpus", "4 steps", 2),
        ("COUNT GPU EACH", "8 gpus each", 3),
        ("COUNT GPU EACH", "8 gpus per node", 4),
        ("COUNT GPU EACH", "8 gpus per day", None),
        ("COUNT GPU EACH?", "8 gpus per day", 2),
        ("COUNT big|fast* GPU", "8 big fast gpus", 4),
        ("COUNT big|fast+ GPU", "8 gpus", None),
        ("[COUNT | a] GPU", "a gpu", 2),
        ("[COUNT , ]+ COUNT", "1, 2, 3", 5),
        ("[COUNT ,? ]+ COUNT", "1, 2, 3", None),
        ("COUNT !GPU", "8 gpus", None),
        ("COUNT &GPU", "8 gpus", 1),
        ("COUNT NODE $", "4 nodes", 2),
        ("COUNT NODE $", "4 nodes.", None),
        ("ONE|DIGITS x|* FEW", "2 x 8", 3),
        ("COUNT", "300000", None),
        ("COUNT", "8+", None),
        ("COUNT", "eight", 1),
        ("DIGITS", "eight", None),
        ("COUNT <NUMBER GPU", "8 gpus", 2),
        ("COUNT <WORD GPU", "8 gpus", None),
        (": : = * +", ":: = * +", 5),
    ],
)
def test_a_shape_reads_the_tokens_that_fit(shape: str, text: str, stop: int | None) -> None:
    found = _shape(shape).at(tokenise(text, 0, len(text)), 0)
    assert (found.stop if found is not None else None) == stop


@pytest.mark.parametrize(
    ("shape", "text", "is_there"),
    [
        ("on|with @ NUMBERED", "on 8 gpus", True),
        ("on|with @ NUMBERED", "8 gpus", False),
        ("^ | with @ NUMBERED", "8 gpus", True),
        ("^ | with @ NUMBERED", "on 8 gpus", False),
        ("COUNT x @ NUMBERED", "4 x 8 gpus", True),
        ("per NODE : ~:|.* @ NUMBERED", "per node: a judge and 8 gpus", True),
        ("per NODE : ~:|.* @ NUMBERED", "per node: a judge. 8 gpus", False),
        ("![COUNT x] @ NUMBERED", "4 x 8 gpus", False),
        ("![COUNT x] @ NUMBERED", "a x 8 gpus", True),
    ],
)
def test_what_is_in_front_of_a_shape_is_read_to_the_left(shape: str, text: str, is_there: bool) -> None:
    tokens = tokenise(text, 0, len(text))
    assert (_shape(shape).at(tokens, len(tokens) - 2) is not None) is is_there


def test_places_are_those_of_terms_that_read_something_in_the_row_that_fits() -> None:
    tokens = tokenise("4 nodes with 8 gpus", 0, 100)
    found = _shape("[wrong:COUNT GPU | nodes:COUNT NODE] with no:a? gpus:COUNT GPU").at(tokens, 0)
    assert found is not None
    assert found.places == {"nodes": 0, "gpus": 3}


def test_nothing_is_before_the_first_token_or_behind_the_last() -> None:
    tokens = tokenise("8 gpus", 0, 6)
    assert [_shape("COUNT").at(tokens, i) for i in (-1, 2, 9)] == [None] * 3


def test_each_shape_of_the_grammars_is_one_of_the_notation() -> None:
    names = [each.name for each in iter_modules(grammars.__path__)]
    every = [value for name in names for value in vars(import_module(f"{grammars.__name__}.{name}")).values()]
    shapes = [value for value in every if isinstance(value, Shape)]
    assert shapes
    for shape in shapes:
        assert callable(shape._ahead)
        assert (shape._front is not None) == bool(shape.marked)
    with pytest.raises(KeyError):
        _shape("MACHINE").at(tokenise("8 gpus", 0, 6), 0)
