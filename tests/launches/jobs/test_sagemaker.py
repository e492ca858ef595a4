"""Estimators of SageMaker's Python SDK as launches."""

import json
from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched

TRAINER = "import transformers\nparser = transformers.HfArgumentParser((transformers.TrainingArguments,))\n"
TORCHRUN = '{"torch_distributed": {"enabled": True}}'
IMPORT = "from sagemaker.huggingface import HuggingFace\n"
FLAGS = "hyperparameters = {'model_name_or_path': 'm', 'per_device_train_batch_size': 2, 'gradient_accumulation_steps': 4}\n"


def job(count: str = "2", kind: str = "'ml.p4d.24xlarge'", distribution: str = TORCHRUN, called: str = "HuggingFace") -> str:
    """A program that starts a training job."""
    return (
        f"{IMPORT}{FLAGS}estimator = {called}(entry_point='train.py', source_dir='scripts', instance_type={kind}, instance_count={count},\n"
        f"    hyperparameters=hyperparameters, distribution={distribution})\nestimator.fit()\n"
    )


def files(text: str, path: str = "sagemaker_train.py") -> dict[str, str]:
    """A repository of the program and the script that the job runs."""
    return {path: text, "scripts/train.py": TRAINER}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(job(called="Other"), "sagemaker_train.py", id="another class"),
        pytest.param(job().replace("from sagemaker", "from ours"), "sagemaker_train.py", id="another package"),
        pytest.param(job().replace("entry_point", "image_uri"), "sagemaker_train.py", id="no script"),
        pytest.param(job(distribution="settings['distribution']"), "sagemaker_train.py", id="an unknown distribution"),
        pytest.param(job(distribution='{"parameter_server": {"enabled": True}}'), "sagemaker_train.py", id="of another framework"),
        pytest.param(job(), "main.py", id="a path without the name"),
    ],
)
def test_what_is_not_a_job_is_silent(tmp_path: Path, text: str, path: str) -> None:
    found = checked(tmp_path, files(text, path))
    assert launched(found) == []
    assert codes(found) == []


# 2 x 4 on each GPU
CASES = {
    "torchrun on two instances of eight": (job(), 128),
    "eight GPUs of another family": (job("1", "'ml.g5.48xlarge'"), 64),
    "four GPUs": (job("1", "'ml.g5.12xlarge'"), 32),
    "one GPU": (job("1", "'ml.g5.2xlarge'"), 8),
    "a process for each GPU": (job(distribution='{"smdistributed": {"dataparallel": {"enabled": True}}}'), 128),
    "processes that it counts itself": (job(distribution='{"mpi": {"enabled": True, "processes_per_host": 4}}'), 64),
    "a model in parts": (job(distribution='{"smdistributed": {"modelparallel": {"enabled": True}}, "mpi": {"enabled": True}}'), None),
    "parts under a name": (job(distribution='{"smdistributed": {"modelparallel": OPTIONS}, "mpi": {"processes_per_host": 8}}'), None),
    "plain Python on one GPU": (job("1", "'ml.g5.xlarge'", "None"), 8),
    "a type that has no GPU of NVIDIA": (job("1", "'ml.trn1.32xlarge'"), None),
    "a number that is not known": (job("COUNT"), None),
    "a number under a name": ("COUNT = 4\n" + job("COUNT"), 256),
}


@pytest.mark.parametrize(("text", "batch"), CASES.values(), ids=CASES)
def test_estimators(tmp_path: Path, text: str, batch: int | None) -> None:
    assert batches(checked(tmp_path, files(text))) == [batch]


def test_plain_python_is_where_its_script_is_named(tmp_path: Path) -> None:
    text = job("1", "'ml.g5.xlarge'", "None").replace(", distribution=None", "")
    (run,) = launched(checked(tmp_path, files(text)))
    assert run.launch is not None
    assert (run.launch.at.source, text[run.launch.at.start :][:10]) == ("sagemaker_train.py", "'train.py'")


def test_a_notebook(tmp_path: Path) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": job().splitlines(keepends=True),
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    assert batches(checked(tmp_path, files(notebook, "sagemaker/train.ipynb") | {"sagemaker/scripts/train.py": TRAINER})) == [128]


@pytest.mark.parametrize("path", ["aws/sagemaker/main.py", "submit.py", "tools/launch_training.py", "start_job.ipynb"])
def test_programs_that_start_jobs_have_such_names(tmp_path: Path, path: str) -> None:
    text = job()
    if path.endswith(".ipynb"):
        cell: dict[str, object] = {
            "cell_type": "code",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": text.splitlines(keepends=True),
        }
        text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
    assert batches(checked(tmp_path, files(text, path))) == [128]
