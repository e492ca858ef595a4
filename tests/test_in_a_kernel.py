"""`load` in a notebook that a real kernel runs: what each cell shows."""

from typing import Any

import pytest

RECIPE = """\
# global batch size 64 on 8 GPUs
model_name_or_path: my/model
dataset_name: my/dialogues
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
LOAD = "repository = gbs.load('.')"


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """What the cells of a notebook show, each as the data of its kinds."""
    pytest.importorskip("ipykernel", reason='needs a kernel: pip install -e ".[kernel]"')
    client, cells = pytest.importorskip("nbclient"), pytest.importorskip("nbformat").v4

    folder = tmp_path_factory.mktemp("repository")
    (folder / "sft.yaml").write_text(RECIPE)
    texts = (f"import pytest_gbs as gbs\n{LOAD}", "repository", "repository.recipes['sft.yaml']", "repository.to_pandas()")
    notebook = cells.new_notebook(cells=list(map(cells.new_code_cell, texts)))
    client.NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, timeout=120).execute()
    return [[output["data"] for output in cell.outputs if "data" in output] for cell in notebook.cells]


def test_loading_shows_nothing(shown: list[Any]) -> None:
    assert shown[0] == []


def test_a_repository_is_a_table(shown: list[Any]) -> None:
    (data,) = shown[1]
    assert data["text/plain"] == "<1 recipe in 1 file: 1 verified>"
    assert "<td>64</td><td>4</td><td>2</td><td>8</td>" in data["text/html"]


def test_a_recipe_is_its_equation(shown: list[Any]) -> None:
    (data,) = shown[2]
    assert data["text/plain"] == "<Recipe sft.yaml: global batch size 64>"
    assert "<th>global batch size</th><td>64</td>" in data["text/html"]


def test_a_table_of_pandas_has_a_row_for_each_recipe(shown: list[Any]) -> None:
    (data,) = shown[3]
    assert data["text/plain"].count("sft.yaml") == 1
    assert "<td>sft.yaml</td>" in data["text/html"]
