"""Runs of mcli as launches: as many processes as GPUs, of the recipe below `parameters` or of one in a repository that is cloned."""

from pathlib import Path

import pytest

from tests.launches.building import batches, checked, codes, launched

RECIPE = "max_duration: 1ep\nglobal_train_batch_size: 64\ndevice_train_microbatch_size: 4\ntrain_loader: {name: text}\n"
RUN = "image: my/image\ncommand: |\n  cd llm-foundry/scripts\n  composer train/train.py {}\n{}"
CLONED = "integrations:\n- {integration_type: git_repo, git_repo: mosaicml/llm-foundry}\n"
PROGRAM = "from llmfoundry.command_utils import train_from_yaml\ntrain_from_yaml()\n"


def own(gpus: str) -> str:
    """A run with a recipe of its own."""
    parameters = "".join(f"  {line}\n" for line in RECIPE.splitlines())
    return RUN.format("/mnt/config/parameters.yaml", f"{gpus}\nparameters:\n{parameters}")


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(RUN.format("train/mpt.yaml", ""), id="no GPUs"),
        pytest.param(RUN.format("train/mpt.yaml", "compute: {gpus: 8}\n"), id="a repository of another name"),
        pytest.param("command: [composer, train.py]\nimage: a\ncompute: {gpus: 8}\n", id="no text"),
        pytest.param("command: composer train.py\ncompute: {gpus: 8}\n", id="no image"),
    ],
)
def test_what_launches_none_of_these_recipes_is_silent(tmp_path: Path, text: str) -> None:
    found = checked(tmp_path, {"scripts/train/mpt.yaml": RECIPE, "mcli/run.yaml": text})
    assert launched(found) == []
    assert codes(found) == []


@pytest.mark.parametrize(
    ("gpus", "accumulation"),
    [("compute: {gpus: 8}", 2), ("compute:\n  gpus: 16", 1), ("gpu_num: 4", 4), ("gpus: 1", 16)],
)
def test_the_recipe_below_parameters(tmp_path: Path, gpus: str, accumulation: int) -> None:
    found = checked(tmp_path, {"run.yaml": own(gpus), "scripts/train/train.py": PROGRAM})
    (run,) = launched(found)
    assert (run.geometry.global_batch_size, run.geometry.value("gradient_accumulation_steps")) == (64, accumulation)


def test_a_recipe_of_the_cloned_repository(tmp_path: Path) -> None:
    files = {
        "scripts/train/mpt.yaml": RECIPE,
        "scripts/train/train.py": PROGRAM,
        "mcli/run.yaml": CLONED + RUN.format("train/mpt.yaml global_train_batch_size=128", "compute: {gpus: 8}\n"),
    }
    found = checked(tmp_path, files)
    assert batches(found) == [128]
    assert [run.path for run in launched(found)] == ["scripts/train/mpt.yaml"]
