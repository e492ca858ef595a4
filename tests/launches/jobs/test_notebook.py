"""Notebooks that start programs: lines behind `!`, cells for a shell, files that cells write. Products are worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.launches.building import KEYS, batches, checked, codes, only

FLAGS = "--learning_rate 1e-4 --output_dir out --model_name_or_path a/b"
TRAIN = f"run_clm.py --per_device_train_batch_size 4 --gradient_accumulation_steps 2 {FLAGS}"
START = f"!torchrun --nproc_per_node 8 {TRAIN}"  # 4 x 2 x 8
RECIPE = f"{KEYS}per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
SFT = "!torchrun --nproc_per_node 8 -m trl.scripts.sft --config"  # 2 x 4 x 8


def code(text: str) -> dict[str, Any]:
    """A cell of code, its lines as Jupyter saves them."""
    return {"cell_type": "code", "metadata": {"tags": ["a"]}, "outputs": [], "source": text.splitlines(keepends=True)}


def prose(text: str) -> dict[str, Any]:
    """A cell of Markdown, as one string."""
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def notebook(*cells: dict[str, Any]) -> str:
    """A notebook of these cells."""
    return json.dumps({"cells": cells, "nbformat": 4}, indent=1)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([code(f"print('{START}')\n")], [], id="text"),
        pytest.param([code(f"# {START}\n")], [], id="a comment"),
        pytest.param([prose(START)], [], id="prose"),
        pytest.param([code(f"found = {START[1:]!r}\n!ls\n")], [], id="no line for a shell"),
        pytest.param([code(f"%%html\n{START}\n")], [], id="a cell of another language"),
        pytest.param([code(f"%%writefile run.sh\n{START[1:]}\n")], [], id="a script that is written and not started"),
        pytest.param([code("n = 2\nn = 4\n"), code(START.replace(" 8 ", " {n} "))], [None], id="a name with two values"),
        pytest.param([code(START.replace(" 8 ", " $GPUS "))], [None], id="a variable of the environment"),
        pytest.param([code(START)], [64], id="a line"),
        pytest.param([code(f"import os\nif True:\n    {START}\n")], [64], id="an indented line"),
        pytest.param([code(START.replace(" --learning_rate", " \\\n  --learning_rate"))], [64], id="a line that goes on"),
        pytest.param([code(f"%%time\n{START} --run_name \"a b\"\n")], [64], id="a timed cell and quotes"),
        pytest.param([code(f"%%bash\nN=4\n{START[1:]}".replace(" 8 ", " $N "))], [32], id="a cell for a shell"),
        pytest.param([code("n = 4\n"), code(START.replace(" 8 ", " {n} "))], [32], id="a name between braces"),
        pytest.param([code("n = '4'\n"), code(START.replace(" 8 ", " $n "))], [32], id="a name behind a sign"),
        pytest.param([code("%env N=4\n"), code(START.replace(" 8 ", " $N "))], [32], id="a variable that lasts"),
        pytest.param([code("!export N=4\n"), code(START.replace(" 8 ", " $N "))], [None], id="one of a shell that has ended"),
    ],
)  # fmt: skip
def test_what_cells_start(cells: list[dict[str, Any]], expected: list[int | None], tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.ipynb": notebook(*cells)})) == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param([code(f"%%writefile b.yaml\n{RECIPE}"), code(f"{SFT} a.yaml\n")], [], id="another file"),
        pytest.param([code(f"%%writefile a.yaml\n{RECIPE}"), code(f"{SFT} a.yaml\n")], [64], id="a file that a cell writes"),
        pytest.param([code(f"%%writefile a.yaml\n{KEYS}"), code(f"%%writefile -a a.yaml\n{RECIPE[len(KEYS):]}"), code(f"{SFT} a.yaml\n")],
                     [64], id="in two cells"),
    ],
)  # fmt: skip
def test_what_cells_write(cells: list[dict[str, Any]], expected: list[int], tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.ipynb": notebook(*cells)})) == expected


@pytest.mark.parametrize("clone", ["git clone https://git.example/acme/llm.git", "git clone -q git@git.example:acme/x.git llm"])
def test_a_clone_is_where_the_author_has_the_repository(clone: str, tmp_path: Path) -> None:
    cells = (code(f"!{clone}\n%cd llm\n"), code(f"{SFT} recipes/a.yaml\n"))
    assert batches(checked(tmp_path, {"train.ipynb": notebook(*cells), "recipes/a.yaml": RECIPE})) == [64]
    cells = (code("%cd llm\n"), code(f"{SFT} recipes/a.yaml\n"))
    assert batches(checked(tmp_path, {"train.ipynb": notebook(*cells), "recipes/a.yaml": RECIPE})) == []


OTHER = START.replace("steps 2", "steps 4")  # 4 x 4 x 8


@pytest.mark.parametrize(
    "cells",
    [
        pytest.param([prose("Global batch size 64."), code(START)], id="true"),
        pytest.param([prose("Global batch size 32."), code("x = 1\n"), code(START)], id="above another cell"),
        pytest.param([code(f"# Global batch size: 64\n{START}\n"), code(f"# Global batch size: 128\n{OTHER}\n")], id="each its own"),
        pytest.param([code(f"# Global batch size: 32\nx = 1\n{START}\n{OTHER}\n")], id="not right above one of two"),
    ],
)
def test_what_is_said_of_another_launch_is_not_a_claim(cells: list[dict[str, Any]], tmp_path: Path) -> None:
    assert codes(checked(tmp_path, {"train.ipynb": notebook(*cells)})) == []


@pytest.mark.parametrize(
    ("cells", "where"),
    [
        pytest.param([prose("Global batch size 32."), code(START)], "(cell 2, line 1)", id="prose"),
        pytest.param([code(f"# Global batch size: 32\n{START}")], "(cell 1, line 2)", id="a comment"),
        pytest.param([code(OTHER), code(f"%%bash\n# Global batch size: 32\n{START[1:]}")], "(cell 2, line 3)", id="in a cell for a shell"),
        pytest.param([code(OTHER), prose("Global batch size 32."), code(f"%%time\n{START}")], "(cell 3, line 2)", id="above one of two"),
    ],
)
def test_a_false_claim_is_a_warning(cells: list[dict[str, Any]], where: str, tmp_path: Path) -> None:
    finding = only(checked(tmp_path, {"train.ipynb": notebook(*cells)}))
    assert (finding.severity, finding.message) == ("warning", f"this launch gives 64, but its comment claims 32 {where}")


def test_a_broken_notebook_starts_nothing(tmp_path: Path) -> None:
    assert batches(checked(tmp_path, {"train.ipynb": notebook(code(START))[:-20]})) == []


def test_a_notebook_of_an_older_format_is_read(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "input": [START]}
    assert batches(checked(tmp_path, {"train.ipynb": json.dumps({"worksheets": [{"cells": [cell]}]})})) == [64]


@pytest.mark.parametrize("ascii_only", [True, False])
def test_a_place_behind_escapes_is_right(ascii_only: bool, tmp_path: Path) -> None:
    cells = [code(f"# Global batch size: 32\n{START} --run_name 'ä \U0001f600 \"b\"' \\\n  --gradient_accumulation_steps 4\n")]
    text = json.dumps({"cells": cells, "nbformat": 4}, ensure_ascii=ascii_only)
    finding = only(checked(tmp_path, {"train.ipynb": text}))
    assert finding.message.startswith("this launch gives 128")
    assert {text[each.at.start : each.at.stop] for each in finding.related if each.at.source == "train.ipynb"} >= {"8", "32"}
    assert text[: finding.at.start].endswith(("batch_size ", "accumulation_steps "))
