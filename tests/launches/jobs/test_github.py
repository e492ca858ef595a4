"""What the steps of GitHub's workflows run."""

from pathlib import Path

import pytest

from pytest_gbs.model.launch import Kind
from tests.launches.building import KEYS, batches, checked, codes, launched, recipe

RECIPE = f"{KEYS}per_device_train_batch_size: 2\ngradient_accumulation_steps: 4\n"
RUN = "torchrun --nproc_per_node {each} -m trl.scripts.sft --config sft.yaml"


def workflow(run: str, step: str = "", job: str = "", top: str = "") -> str:
    """A workflow of one job, whose second step runs commands."""
    steps = f"    - uses: actions/checkout@v4\n    - run: |\n        {run}\n{step}"
    return f"name: CI\non: [push]\n{top}jobs:\n  train:\n    runs-on: gpu\n{job}    steps:\n{steps}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(workflow("pytest"), id="tests"),
        pytest.param(workflow(RUN.format(each=2), "      shell: pwsh\n"), id="another shell"),
        pytest.param("jobs:\n  train:\n    steps: [{run: torchrun x.py}]\n", id="no machine"),
        pytest.param("jobs: [a]\nruns: b\n", id="other keys"),
    ],
)
def test_workflows_that_launch_nothing(tmp_path: Path, text: str) -> None:
    assert launched(checked(tmp_path, {"sft.yaml": RECIPE, ".github/workflows/ci.yml": text})) == []


# 2 x 4 on each GPU
CASES = {
    "a step": (workflow(RUN.format(each=2)), 16),
    "variables of the step": (workflow(RUN.format(each="$GPUS"), "      env: {GPUS: 2}\n", "    env: {GPUS: 4}\n"), 16),
    "variables of the job": (workflow(RUN.format(each="$GPUS"), "", "    env: {GPUS: 4}\n", "env: {GPUS: 8}\n"), 32),
    "a matrix": (workflow(RUN.format(each="${{ matrix.gpus }}"), "", "    strategy: {matrix: {gpus: [1, 2]}}\n"), None),
    "a variable from a matrix": (workflow(RUN.format(each="$GPUS"), "      env: {GPUS: '${{ matrix.gpus }}'}\n"), None),
    "a secret beside it": (workflow("TOKEN=${{ secrets.TOKEN }} " + RUN.format(each=2)), 16),
}


@pytest.mark.parametrize(("text", "batch"), CASES.values(), ids=CASES)
def test_steps(tmp_path: Path, text: str, batch: int | None) -> None:
    found = checked(tmp_path, {"sft.yaml": RECIPE, ".github/workflows/ci.yml": text})
    assert batches(found) == [batch]
    assert [run.launch.kind for run in launched(found) if run.launch] == [Kind.TEST]


def test_a_step_runs_in_its_own_folder(tmp_path: Path) -> None:
    text = workflow(RUN.format(each=2), "      working-directory: training\n")
    assert batches(checked(tmp_path, {"training/sft.yaml": RECIPE, ".github/workflows/ci.yml": text})) == [16]


def test_a_workflow_is_a_test_and_judges_no_claim(tmp_path: Path) -> None:
    found = checked(tmp_path, {"sft.yaml": recipe(), ".github/workflows/ci.yml": workflow(RUN.format(each=2))})
    assert codes(found) == []


def test_an_action_of_steps(tmp_path: Path) -> None:
    action = f"runs:\n  using: composite\n  steps:\n  - run: {RUN.format(each=2)}\n    shell: bash\n"
    assert batches(checked(tmp_path, {"sft.yaml": RECIPE, ".github/actions/train/action.yml": action})) == [16]
