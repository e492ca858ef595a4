"""Notebooks: their code cells are one program, and every place is one of the JSON file."""

import json
from typing import Any

import pytest

from pytest_gbs.model.document import Document, Scalar
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.readers import read
from pytest_gbs.readers.python import cell_words
from pytest_gbs.readers.scalar import COMPUTED


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
    comment = found.comments[-1]
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


SIZED = "from trl import SFTConfig\n{}\nSFTConfig(per_device_train_batch_size=n)"


def test_what_two_cells_make_the_same_is_known() -> None:
    first, second = '{"micro": 16, "steps": 2, "lr": 1e-4}', '{"steps": 4, "micro": 16}'
    use = "SFTConfig(per_device_train_batch_size=p['micro'], gradient_accumulation_steps=p['steps'], learning_rate=p['lr'])"
    found = call(notebook(f"from trl import SFTConfig\np = {first}", use, f"p = {second}"))
    assert written(found, "per_device_train_batch_size") == "16"
    others = [found.keyed[(key,)][1] for key in ("gradient_accumulation_steps", "learning_rate")]
    assert [each.tag for each in others if isinstance(each, Scalar)] == [COMPUTED] * 2


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param(["n = 4", SIZED.format("n = 8")], "8", id="the cell itself sets it"),
        pytest.param(["n = 4", SIZED.format("n = 8\nn = n // 4")], "2", id="and computes with it"),
        pytest.param(["n = 4", SIZED.format("n = n // 2")], "n", id="it takes that of another cell, which may run again"),
        pytest.param(["n = 4", SIZED.format("if x:\n    n = 8")], "n", id="a condition"),
        pytest.param(["def f():\n    global n\n    n = 4", SIZED.format("n = 8\nf()")], "n", id="a function of another cell"),
    ],
)
def test_a_name_that_the_cell_itself_binds_is_known(cells: list[str], expected: str) -> None:
    value = call(notebook(*cells)).get("per_device_train_batch_size")
    assert isinstance(value, Scalar)
    assert value.text == expected.replace("n", "")


UNBOUND = "SFTConfig(per_device_train_batch_size=4)"


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param(["import os", f"from mine import *\n{UNBOUND}"], id="anything may be imported"),
        pytest.param(["from trl import SFTTrainer", f"class SFTConfig:\n    pass\n{UNBOUND}"], id="a class of the notebook"),
        pytest.param(["from .mine import SFTTrainer", UNBOUND], id="a module of the repository"),
        pytest.param([UNBOUND], id="nothing is imported"),
    ],
)
def test_a_name_that_a_cell_may_bind_is_of_no_library(cells: list[str]) -> None:
    assert [each for each in read(Source("a.ipynb", notebook(*cells))) if isinstance(each, Document) and "trl." in each.called] == []


@pytest.mark.parametrize("cell", ["from trl import SFTTrainer", "from trl import SFTConfig, SFTTrainer\nSFTTrainer(\n"])
def test_a_name_that_no_cell_binds_is_of_what_is_imported(cell: str) -> None:
    found = call(notebook("import trl", cell, UNBOUND))
    assert (found.called, written(found, "per_device_train_batch_size")) == ("trl.SFTConfig", "4")


def test_a_chat_template_in_a_notebook_is_not_its_template() -> None:
    text = notebook("print('{{ .System }}{{ if .Prompt }}')", "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)")
    assert written(call(text), "per_device_train_batch_size") == "4"


def test_old_notebooks_have_worksheets() -> None:
    cell = {"cell_type": "code", "input": "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)"}
    assert written(call(json.dumps({"nbformat": 3, "worksheets": [{"cells": [cell]}]})), "per_device_train_batch_size") == "4"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cells": 1}', '{"cells": [[[]]]}', '{"outputs": ' + "[" * 100_000, "null"])
def test_what_is_not_a_notebook_is_not_read(text: str) -> None:
    assert all(isinstance(each, Unreadable) and not each.matters for each in read(Source("a.ipynb", text)))


TRAINS = "from trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)\n"


def reported(*cells: dict[str, Any]) -> list[str]:
    """The comments of the one call in a notebook made of `cells`."""
    found = call(json.dumps({"cells": cells, "nbformat": 4}))
    return [block.text for block in found.comments]


def text_cell(source: str | list[str]) -> dict[str, Any]:
    return {"cell_type": "markdown", "source": source}


def code_cell(source: str) -> dict[str, Any]:
    return {"cell_type": "code", "source": source}


def test_text_that_is_not_right_above_the_cell_is_not_a_comment_on_it() -> None:
    assert reported(text_cell("GBS 32"), code_cell("x = 1\n"), code_cell(TRAINS), text_cell("GBS 64")) == []
    assert reported({"cell_type": "raw", "source": "GBS 32"}, code_cell(TRAINS)) == []


def test_text_right_above_the_cell_is_a_comment_on_its_calls() -> None:
    assert reported(text_cell(["# Training\n", "GBS 32"]), code_cell(TRAINS)) == ["# Training\nGBS 32"]


def test_places_in_text_are_those_of_the_file() -> None:
    text = json.dumps({"cells": [text_cell(['"é"\n', "GBS 32"]), code_cell(TRAINS)]})
    (comment,) = call(text).comments
    at = comment.locate("a.ipynb", comment.text.index("32"), comment.text.index("32") + 2)
    assert text[at.start : at.stop] == "32"


@pytest.mark.parametrize(
    ("wanted", "place"),
    [("nbformat", ""), ("GBS", "cell 1, line 1"), ("SIZE", "cell 2, line 1"), ("trl", "cell 2, line 3"), ("SFT()", "cell 4, line 2")],
)
def test_a_place_is_named_by_its_cell(wanted: str, place: str) -> None:
    text = notebook(["SIZE = 1\n", "\n", "import trl"], "x = '\\\\n'\n\nx", "y\nSFT()")
    assert cell_words(Source("a.ipynb", text), text.index(wanted)) == place
    assert not cell_words(Source("a.py", text), text.index(wanted))


def test_a_cell_that_is_timed_is_python() -> None:
    text = notebook("%%time\nfrom trl import SFTConfig\nSFTConfig(per_device_train_batch_size=4)")
    assert written(call(text), "per_device_train_batch_size") == "4"


MADE = "args = TrainingArguments('out')\n"
SET = "args.per_device_train_batch_size = {}\n"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([MADE + SET.format(4), MADE + SET.format(8)], ["4", "8"], id="each cell makes and sets its own"),
        pytest.param([MADE + SET.format(4) + MADE + SET.format(8)], ["4", "8"], id="one after the other"),
        pytest.param(
            ["for i in x:\n    args = TrainingArguments('out')\n    " + SET.format(4), MADE + SET.format(8)], ["4", "8"], id="a loop"
        ),
        pytest.param([MADE, MADE, SET.format(8)], [None, None], id="another cell sets it, of which it is not known which it is"),
        pytest.param([MADE + "if x:\n    " + SET.format(4), MADE + SET.format(8)], [None, "8"], id="a condition"),
    ],
)
def test_attributes_belong_to_what_their_own_cell_made(cells: list[str], expected: list[str | None]) -> None:
    found = read(Source("a.ipynb", notebook("from transformers import TrainingArguments", *cells)))
    values = [each.get("per_device_train_batch_size") for each in found if isinstance(each, Document) and "." in each.called]
    assert [None if value.tag == "!computed" else value.text for value in values if isinstance(value, Scalar)] == expected
