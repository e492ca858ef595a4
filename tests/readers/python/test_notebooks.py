"""Notebooks: their code cells are one program, and every place is one of the JSON file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read


def notebook(*cells: str | list[str], **more: Any) -> str:
    made = [{"cell_type": "code", "metadata": {"x": [1]}, "outputs": [{"text": "batch_size=99"}], "source": cell} for cell in cells]
    return json.dumps({"cells": [{"cell_type": "markdown", "source": ["GBS 512"]}, *made], "nbformat": 4, **more})


def call(text: str) -> Document:
    (found,) = (each for each in read(Source("a.ipynb", text)) if isinstance(each, Document) and each.called.startswith("trl."))
    return found


def written(document: Document, key: str) -> str:
    value = document.keyed[(key,)][1]
    return document.source.text[value.start : value.stop]


def test_values_go_from_cell_to_cell() -> None:
    text = notebook(
        ["from trl import SFTConfig\n", "SIZE = 16"], "!pip install trl \\\n  --quiet\nSFTConfig(per_device_train_batch_size=SIZE)"
    )
    assert written(call(text), "per_device_train_batch_size") == "16"


def test_places_behind_escapes_are_right() -> None:
    text = notebook(["from trl import SFTConfig\n", 'name = "a\\té😀"; SFTConfig(name="\\"", per_device_train_batch_size=4)  # "each" 4\n'])
    found = call(text)
    assert written(found, "per_device_train_batch_size") == "4"
    (comment,) = found.comments
    at = comment.locate("a.ipynb", 0, len(comment.text))
    assert text[at.start : at.start + 3] == '\\"e'


@pytest.mark.parametrize("magic", ["%cd /tmp", "%%bash\nls", "x = !ls", "!a \\\n b \\\n c", "model?", "x = %timeit 1", "print 'python 2'"])
def test_cells_that_are_not_python_hide_nothing(magic: str) -> None:
    text = notebook(magic, "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)")
    assert written(call(text), "per_device_train_batch_size") == "4"


def test_a_name_bound_in_two_cells_is_not_known() -> None:
    found = call(notebook("n = 4", "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=n)", "n = 8"))
    value = found.get("per_device_train_batch_size")
    assert isinstance(value, Scalar)
    assert value.tag == "!computed"


def test_old_notebooks_have_worksheets() -> None:
    cell = {"cell_type": "code", "input": "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)"}
    assert written(call(json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}]})), "per_device_train_batch_size") == "4"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 1}', '{"cells": [[[]]]}', '{"outputs": ' + "[" * 100_000, "null"])
def test_what_is_not_a_notebook_is_not_read(text: str) -> None:
    assert all(isinstance(each, Unreadable) and not each.matters for each in read(Source("a.ipynb", text)))
