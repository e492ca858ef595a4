import json
from pathlib import Path

import pytest

from pytest_gbs.model.location import Location, Source, Unreadable
from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.rule import Example
from pytest_gbs.rules.gbs001_unreadable_file import check
from tools.examples import check_example

from .building import only

SOURCE = Source("sft.yaml", "a: [1\n")
RECIPE = "model_name_or_path: my/model\ndataset_name: my/data\nper_device_train_batch_size: 4\n"


@pytest.mark.parametrize(
    ("problem", "at"),
    [
        pytest.param(Unreadable("sft.yaml", "no such file"), Location("sft.yaml", 0, 0), id="the whole file"),
        pytest.param(Unreadable("sft.yaml", "bracket", 3, SOURCE), Location("sft.yaml", 3, 4), id="one character"),
        pytest.param(Unreadable("sft.yaml", "bracket", 6, SOURCE), Location("sft.yaml", 6, 6), id="the end of the text"),
        pytest.param(Unreadable("sft.yaml", "bracket", 99, SOURCE), Location("sft.yaml", 6, 6), id="behind the end"),
        pytest.param(Unreadable("sft.yaml", "bytes", 2), Location("sft.yaml", 2, 3), id="no text at hand"),
    ],
)
def test_the_finding_is_located_where_reading_failed(problem: Unreadable, at: Location) -> None:
    found = only(list(check(problem)))
    assert found.at == at
    assert found.severity == Severity.ERROR
    assert found.message == problem.reason


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("name: [unclosed\n", id="no key of ours"),
        pytest.param("# per_device_train_batch_size\n", id="nothing but a comment"),
        pytest.param("", id="an empty file"),
        pytest.param("services:\n  api:\n    environment: [batch_size=4\n", id="a batch that is not a key"),
        pytest.param("image: api\nnum_gpus: 2\nbatch_size: [8\n", id="the batch of a service"),
        pytest.param("task: mmlu\nbatch_size: 'x\nnum_fewshot: 5\n", id="the batch of an evaluation"),
        pytest.param(RECIPE + "{{ if .Values.debug }}\nmax_steps: 1\n{{ end }}\n", id="a template of Helm"),
        pytest.param(RECIPE + "output_dir: {{ .Values.out }}\n", id="a template of Helm that is YAML"),
        pytest.param(RECIPE + "{% if debug %}\nmax_steps: 1\n{% endif %}\n", id="a template of Jinja"),
    ],
)
def test_broken_files_that_are_nothing_to_us_stay_silent(text: str, tmp_path: Path) -> None:
    assert check_example(Example((("other.yaml", text),)), tmp_path).findings() == ()


@pytest.mark.parametrize(
    "more",
    [
        pytest.param("chat_template: \"{{ messages[0]['content'] }}\"\nreport_to: [wandb\n", id="a chat template"),
        pytest.param("report_to: {'a': [\n", id="a brace"),
        pytest.param("# seed: {{ .Values.seed }}\nreport_to: [wandb  # {{- if .Values.log }}\n", id="signs of Helm in comments"),
    ],
)
def test_a_recipe_with_braces_is_not_a_template(more: str, tmp_path: Path) -> None:
    assert [each.code for each in check_example(Example((("sft.yaml", RECIPE + more),)), tmp_path).findings()] == ["GBS001"]


def test_broken_json_is_known_by_the_words_that_its_lines_show(tmp_path: Path) -> None:
    model = '"model": {\n  "name_or_path": "m",\n  "batch_size": 32},\n'
    text = f'{{\n{model}"loss": "ppo",\n"exp_name": "a",\n"train_datasets": ["b"],\n"test_datasets": ["b"],\n'
    report = check_example(Example((("halos.json", text),)), tmp_path)
    assert [each.code for each in report.findings()] == ["GBS001"]
    assert report.internal == ()


def test_a_merge_conflict_is_one_finding(tmp_path: Path) -> None:
    text = RECIPE + "<<<<<<< HEAD\nmax_steps: 10\n=======\nmax_steps: 20\n>>>>>>> other\n"
    (found,) = check_example(Example((("sft.yaml", text),)), tmp_path).findings()
    assert (found.code, found.message) == ("GBS001", "merge conflict marker in line 4")
    assert text[found.at.start :].startswith("<<<<<<<")


@pytest.mark.parametrize("notebook", [False, True], ids=["program", "notebook"])
def test_a_program_matters_if_git_marked_a_conflict_in_it(notebook: bool, tmp_path: Path) -> None:
    call = "from transformers import TrainingArguments\nTrainingArguments(per_device_train_batch_size=4)\n"
    cell = json.dumps({"cell_type": "code", "source": call, "outputs": []})
    marks = "<<<<<<< HEAD\n{0}\n=======\n{0}\n>>>>>>> newest\n"
    files = (("a.ipynb", f'{{"cells": [\n{marks.format(cell)}]}}'),) if notebook else (("a.py", marks.format(call)),)
    assert list(check_example(Example((("a.py", f"print 'python 2'\n{call}"),)), tmp_path).findings()) == []
    (found,) = check_example(Example(files), tmp_path).findings()
    assert (found.code, found.message) == ("GBS001", f"merge conflict marker in line {1 + notebook}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("per_device_train_batch_size: [1\n", id="bracket"),
        pytest.param("per_device_train_batch_size: 'x\n", id="quote"),
        pytest.param("per_device_train_batch_size: 1\n  gradient_accumulation_steps: 2\n", id="indentation"),
        pytest.param("per_device_train_batch_size: 1\n\tlr: 2\n", id="tab"),
        pytest.param("per_device_train_batch_size: " + "[" * 5000, id="depth"),
    ],
)
def test_a_broken_recipe_is_an_error(text: str, tmp_path: Path) -> None:
    text = f"model_name_or_path: my/model\ndataset_name: my/data\n{text}"
    (found,) = check_example(Example((("sft.yaml", text),)), tmp_path).findings()
    assert (found.code, found.severity) == ("GBS001", Severity.ERROR)
    assert 0 <= found.at.start <= found.at.stop <= len(text)
