"""How many rows a batch has, and which."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from pytest_gbs.runtime.rows import Tagged, fingerprint, take_rows


class Tensor:
    """As much of a tensor as is asked for."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.rows = rows
        self.shape = (len(rows), len(rows[0])) if rows else ()

    def reshape(self, _: int) -> Flat:
        return Flat([value for row in self.rows for value in row])

    def tolist(self) -> list[list[int]]:
        return self.rows


class Flat(list[int]):
    """The values of one."""

    def __getitem__(self, part: Any) -> Any:
        return Flat(super().__getitem__(part))

    def tolist(self) -> list[int]:
        return list(self)


@pytest.mark.parametrize(
    ("batch", "rows"),
    [
        pytest.param({}, 0, id="nothing"),
        pytest.param({"name": "no tensor"}, 0, id="text"),
        pytest.param(None, 0, id="none"),
        pytest.param(Tensor([]), 0, id="a number"),
        pytest.param(Tensor([[1, 2], [3, 4]]), 2, id="tensor"),
        pytest.param((Tensor([[1], [2], [3]]), Tensor([[1]])), 3, id="pair"),
        pytest.param({"image_sizes": Tensor([[9]]), "input_ids": Tensor([[1], [2]])}, 2, id="tokens before all else"),
        pytest.param([{"prompt": "a"}, {"prompt": "b"}], 2, id="not collated"),
        pytest.param({"inner": {"pixel_values": Tensor([[1], [2]])}}, 2, id="nested"),
    ],
)
def test_rows_are_counted(batch: Any, rows: int) -> None:
    assert take_rows(batch)[0] == rows


def test_other_rows_are_distinguished_from_the_same_rows() -> None:
    assert take_rows(Tensor([[1], [2]])) == take_rows(Tensor([[1], [2]]))
    assert take_rows(Tensor([[1], [2]])) != take_rows(Tensor([[1], [3]]))
    assert take_rows([{"prompt": "a"}, {"prompt": "b"}]) != take_rows([{"prompt": "b"}, {"prompt": "a"}])


@pytest.mark.parametrize("value", [None, object(), b"bytes", [object()], {"a": None}], ids=["none", "object", "bytes", "list", "dict"])
def test_what_cannot_be_compared_has_no_fingerprint(value: Any) -> None:
    assert fingerprint(value) == 0


def test_a_collate_function_that_makes_no_dictionary_is_left_alone() -> None:
    assert Tagged(tuple)([1, 2]) == (1, 2)


def test_a_tagging_function_can_be_sent_to_workers() -> None:
    assert pickle.loads(pickle.dumps(Tagged(tuple)))([1]) == (1,)
