"""The named tuples of `core.typed` do what those of `typing` do."""

from __future__ import annotations

import copy
import pickle
import sys
import typing
from collections.abc import Callable
from typing import Any

import pytest

from pytest_gbs.model.typed import NamedTuple

# Type checkers take both for `typing.NamedTuple`; here the difference matters.


class Light(NamedTuple):
    """A size."""

    name: str
    value: int = 1
    places: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        """Twice the value."""
        return self.value * 2


class Real(typing.NamedTuple):
    """A size."""

    name: str
    value: int = 1
    places: tuple[str, ...] = ()

    @property
    def doubled(self) -> int:
        """Twice the value."""
        return self.value * 2


class Empty(NamedTuple):
    """Nothing."""


SAME: dict[str, Callable[[Any], object]] = {
    "positions": lambda kind: tuple(kind("a", 2, ("x",))),
    "keywords": lambda kind: tuple(kind(value=3, name="a")),
    "defaults": lambda kind: tuple(kind("a")),
    "fields": lambda kind: (kind("a", 2).value, kind("a").places, kind("a", 4).doubled),
    "names of the fields": lambda kind: (kind._fields, kind._field_defaults, kind.__match_args__),
    "documentation": lambda kind: (kind.__doc__, kind.__module__),
    "replace": lambda kind: tuple(kind("a")._replace(value=5)),
    "replace keeps the class": lambda kind: type(kind("a")._replace(value=5)) is kind,
    "as dictionary": lambda kind: kind("a")._asdict(),
    "made of values": lambda kind: tuple(kind._make(["a", 2, ()])),
    "equality with a tuple": lambda kind: kind("a") == ("a", 1, ()),
    "hash of a tuple": lambda kind: hash(kind("a")) == hash(("a", 1, ())),
    "order": lambda kind: kind("a") < kind("b"),
    "text": lambda kind: repr(kind("a")).partition("(")[2],
    "unpacking": lambda kind: [*kind("a")],
    "made past the constructor": lambda kind: tuple.__new__(kind, ("a", 2, ())).value,
    "copy": lambda kind: type(copy.deepcopy(kind("a", 2))) is kind,
    "pickle": lambda kind: pickle.loads(pickle.dumps(kind("a", 2))) == kind("a", 2),
    "size": lambda kind: sys.getsizeof(kind("a")),
}
REFUSED: dict[str, Callable[[Any], object]] = {
    "too few": lambda kind: kind(),
    "too many": lambda kind: kind("a", 1, (), 4),
    "no such field": lambda kind: kind("a", size=1),
    "a field twice": lambda kind: kind("a", name="b"),
    "replace of no field": lambda kind: kind("a")._replace(size=1),
    "assignment": lambda kind: setattr(kind("a"), "value", 2),
    "new attribute": lambda kind: setattr(kind("a"), "other", 2),
}


@pytest.mark.parametrize("of", SAME.values(), ids=SAME)
def test_it_behaves_as_the_one_of_typing(of: Callable[[Any], object]) -> None:
    assert of(Light) == of(Real)


@pytest.mark.parametrize("attempt", REFUSED.values(), ids=REFUSED)
def test_it_refuses_what_the_one_of_typing_refuses(attempt: Callable[[Any], object]) -> None:
    for kind in (Light, Real):
        with pytest.raises((TypeError, AttributeError, ValueError)):
            attempt(kind)


def test_patterns_match_its_fields() -> None:
    match Light("a", 2):
        case Light(name, value):
            assert (name, value) == ("a", 2)


def test_no_fields_are_an_empty_tuple() -> None:
    assert Empty() == ()


def test_classes_of_as_many_fields_keep_their_own_names() -> None:
    class Other(NamedTuple):
        first: int
        second: int = 2
        third: int = 3

    assert Other(first=1, third=4) == (1, 2, 4)
    with pytest.raises(TypeError, match="Other"):
        Other(name=1)  # type: ignore[call-arg]
