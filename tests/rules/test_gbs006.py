"""A removed key of the batch: only where one exact version rejects it."""

from pathlib import Path

import pytest

from pytest_gbs.model.outcome import Severity
from pytest_gbs.model.quantity import Name
from pytest_gbs.model.report import Report
from pytest_gbs.model.rule import Example
from tests.support import check
from tools.examples import check_example

SFT = "model_name_or_path: my/model\ndataset_name: my/data\nmax_length: 2048\n{key}: 4\n"
OLD = SFT.format(key="per_gpu_train_batch_size")
GRPO = """\
model_name_or_path: my/model
dataset_name: my/data
reward_funcs: [accuracy]
num_generations: 4
per_device_train_batch_size: 2
gradient_accumulation_steps: 8
"""


def _check(folder: Path, *files: tuple[str, str], flags: tuple[str, ...] = ()) -> Report:
    return check_example(Example(files, flags), folder)


def _found(report: Report) -> list[str]:
    return [finding.code for finding in report.findings() if finding.code == "GBS006"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param((), id="no version"),
        pytest.param((("requirements.txt", "transformers==4.57.1\n"),), id="a version that has it"),
        pytest.param((("requirements.txt", "transformers>=5.0\n"),), id="a range"),
        pytest.param((("requirements.txt", "transformers==5.0.0rc1\n"),), id="before the release"),
        pytest.param((("requirements.txt", "transformers==5.1\n"), ("requirements-old.txt", "transformers==4.40\n")), id="two versions"),
        pytest.param((("other/requirements.txt", "transformers==5.1\n"),), id="of another folder"),
        pytest.param(
            (("requirements.txt", "transformers==5.1\n"), ("gbs.toml", 'versions = {transformers = "4.40"}\n')), id="settings win"
        ),
        pytest.param((("requirements.txt", "trl==5.1\ntransformers-extras==5.1\n"),), id="of another package"),
        pytest.param((("Dockerfile", "RUN pip install transformers==4.57.1\n"),), id="an image with a version that has it"),
        pytest.param((("Dockerfile", "# RUN pip install transformers==5.1\n"),), id="a comment"),
    ],
)
def test_it_is_silent(files: tuple[tuple[str, str], ...], tmp_path: Path) -> None:
    assert _found(_check(tmp_path, ("recipes/sft.yaml", OLD), *files)) == []


def test_the_key_of_today_is_never_reported(tmp_path: Path) -> None:
    files = (("sft.yaml", SFT.format(key="per_device_train_batch_size")), ("requirements.txt", "transformers==5.1\n"))
    assert _found(_check(tmp_path, *files)) == []


@pytest.mark.parametrize(
    "file",
    [
        pytest.param(("requirements.txt", "transformers==5.0.0\n"), id="requirements"),
        pytest.param(("recipes/requirements.txt", "transformers==5.1\n"), id="beside the recipe"),
        pytest.param(("requirements/train.txt", ""), id="none"),
        pytest.param(("requirements/requirements.txt", "Transformers == 5.2.0  # why\n"), id="in a folder of requirements"),
        pytest.param(("uv.lock", '[[package]]\nname = "transformers"\nversion = "5.1.0"\n'), id="lock file"),
        pytest.param(("pyproject.toml", '[project]\ndependencies = ["transformers[torch]==5.1.0"]\n'), id="pyproject"),
        pytest.param(("gbs.toml", 'versions = {transformers = "5.0"}\n'), id="settings"),
        pytest.param(("environment.yml", "dependencies:\n  - pip:\n    - transformers==5.1\n"), id="environment"),
        pytest.param(("docker/Dockerfile", "RUN pip install torch transformers==5.1.0\n"), id="image"),
        pytest.param(("setup.py", "setup(install_requires=['transformers==5.1'])\n"), id="project"),
    ],
)
def test_an_exact_version_without_the_key_rejects_it(file: tuple[str, str], tmp_path: Path) -> None:
    report = _check(tmp_path, ("recipes/sft.yaml", OLD), file)
    assert _found(report) == (["GBS006"] if file[1] else [])


def test_the_lock_file_beats_a_range(tmp_path: Path) -> None:
    lock = '[[package]]\nname = "transformers"\nversion = "5.1.0"\n'
    report = _check(
        tmp_path, ("sft.yaml", OLD), ("pyproject.toml", '[project]\ndependencies = ["transformers>=4.40"]\n'), ("uv.lock", lock)
    )
    (finding,) = (each for each in report.findings() if each.code == "GBS006")
    assert finding.severity == Severity.ERROR
    assert (finding.at.source, OLD[finding.at.start : finding.at.stop]) == ("sft.yaml", "per_gpu_train_batch_size")
    assert [(each.at.source, lock[each.at.start : each.at.stop]) for each in finding.related] == [("uv.lock", "5.1.0")]
    assert finding.message == (
        "transformers 5.1.0 has no per_gpu_train_batch_size, removed in 5.0; the argument parser stops at a key that it does not know"
    )


# A unit that changed: before trl 0.15 the micro batch of GRPO counted prompts.


def _completions(folder: Path, *files: tuple[str, str], recipe: str = GRPO, world_size: int | None = 4) -> int | None:
    from pytest_gbs import Given
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.settings import load_settings

    for name, text in (("grpo.yaml", recipe), *files):
        (folder / name).write_text(text)
    report = check(WorkTree(folder), ["grpo.yaml"], load_settings(folder, rules={}), Given(None, None, world_size), keep_runs=True)
    return report.files[0].runs[0].geometry.value(Name.GLOBAL_BATCH_SIZE)


@pytest.mark.parametrize("pin", ["", "trl", "trl>=0.14", "trl==0.15.0", "trl==0.16.1", "trl==0.14.0\ntrl==0.20"], ids=str)
def test_a_micro_batch_of_grpo_counts_completions(pin: str, tmp_path: Path) -> None:
    assert _completions(tmp_path, ("requirements.txt", f"{pin}\n")) == 64  # 2 x 8 x 4


@pytest.mark.parametrize("pin", ["trl==0.14.0", "trl<0.15", "trl~=0.14.0", "trl[vllm]==0.14.*"], ids=str)
def test_it_counts_prompts_in_a_version_of_long_ago(pin: str, tmp_path: Path) -> None:
    assert _completions(tmp_path, ("requirements.txt", f"{pin}\n")) == 256  # 2 x 4 completions x 8 x 4


def test_defaults_are_those_of_the_version(tmp_path: Path) -> None:
    bare = GRPO.partition("per_device")[0] + "learning_rate: 0.1\nper_device_train_batch_size: 1\n"
    assert _completions(tmp_path, ("requirements.txt", "trl==0.14.0\n"), recipe=bare) == 128  # 1 x 4 x 8 by default x 4
    assert _completions(tmp_path, ("requirements.txt", "trl==0.18.0\n"), recipe=bare) == 4  # 1 x 1 x 4


@pytest.mark.parametrize(("pin", "batch"), [("trl==0.14.0", 512), ("trl==0.18.0", 128)], ids=str)  # 2 x 4 completions x 8 x 8; 2 x 8 x 8
def test_vllm_takes_gpus_of_its_own_in_a_version_of_long_ago_too(pin: str, batch: int, tmp_path: Path) -> None:
    requirements, counted = ("requirements.txt", f"{pin}\n"), f"# trained on 1 node of 8 GPUs\n{GRPO}"
    assert _completions(tmp_path, requirements, recipe=counted, world_size=None) == batch
    assert _completions(tmp_path, requirements, recipe=f"{counted}use_vllm: true\nvllm_mode: colocate\n", world_size=None) == batch
    assert _completions(tmp_path, requirements, recipe=f"{counted}use_vllm: true\n", world_size=None) is None


ELASTIC = '{"elasticity": {"enabled": true, "max_train_batch_size": 64, "micro_batch_sizes": [2, 4]}, "zero_optimization": {"stage": 2}}\n'


@pytest.mark.parametrize("pin", ["deepspeed==0.19.7", "deepspeed>=0.19.8", "deepspeed"])
def test_elastic_training_is_known_to_versions_that_have_it(pin: str, tmp_path: Path) -> None:
    assert _found(_check(tmp_path, ("ds.json", ELASTIC), ("requirements.txt", f"{pin}\n"))) == []


def test_elastic_training_is_gone_from_deepspeed(tmp_path: Path) -> None:
    report = _check(tmp_path, ("ds.json", ELASTIC), ("requirements.txt", "deepspeed==0.19.8\n"))
    (finding,) = (each for each in report.findings() if each.code == "GBS006")
    assert finding.message == "deepspeed 0.19.8 has no elasticity, removed in 0.19.8; DeepSpeed stops at start with any file that has it"
