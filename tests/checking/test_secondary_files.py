"""Secondary files have no findings, unless the user names them."""

from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.history.lock import records
from pytest_gbs.history.lockfile import write_lock
from pytest_gbs.model.settings import Settings
from tests.cli.support import write
from tests.support import check

RECIPE = """\
model_name_or_path: my/model
dataset_name: my/data
gradient_accumulation_steps: 0
"""


def severities(folder: Path, files: dict[str, str], *targets: str) -> list[tuple[str, str]]:
    report = check(WorkTree(write(folder, files)), targets, Settings(), Given())
    return [(finding.at.source, finding.severity) for finding in report.findings()]


@pytest.mark.parametrize(
    "folder",
    ["tests", "a/Tests/b", "archived", "docs/archived_scripts", "third_party/x", "deprecated", "old_scripts", "hpc/legacy"],
)
def test_a_folder_of_that_name_has_no_findings(folder: str, tmp_path: Path) -> None:
    assert severities(tmp_path, {f"{folder}/sft.yaml": RECIPE}) == []


@pytest.mark.parametrize(
    "text", ["# Old recipes\n\nThis folder is no longer maintained.\n", "**Unmaintained**\n", "this example has been deprecated\n"]
)
def test_a_folder_whose_readme_says_so_has_none(text: str, tmp_path: Path) -> None:
    assert severities(tmp_path, {"first/README.md": text, "first/a/sft.yaml": RECIPE}) == []


def test_the_others_have_theirs(tmp_path: Path) -> None:
    files = {"tests/a.yaml": RECIPE, "tests/b.yaml": RECIPE, "third_party/c.yaml": RECIPE, "d.yaml": RECIPE}
    assert severities(tmp_path, files) == [("d.yaml", "error")]


@pytest.mark.parametrize("target", ["tests/sft.yaml", "tests", "tests/"])
def test_what_was_asked_for_is_judged(target: str, tmp_path: Path) -> None:
    assert severities(tmp_path, {"tests/sft.yaml": RECIPE}, target) == [("tests/sft.yaml", "error")]


@pytest.mark.parametrize(
    ("path", "readme"),
    [
        ("tests.yaml", ""),
        ("recipes/latest/sft.yaml", ""),
        ("golden/olden/sft.yaml", ""),
        ("recipes/sft.yaml", "The flag --old is deprecated. Maintained by the team.\n"),
    ],
)
def test_other_files_are_judged(path: str, readme: str, tmp_path: Path) -> None:
    assert severities(tmp_path, {path: RECIPE, "recipes/README.md": readme}) == [(path, "error")]


def test_what_the_lock_holds_is_judged(tmp_path: Path) -> None:
    sound = RECIPE.replace("steps: 0", "steps: 4")
    assert severities(tmp_path, {"tests/sft.yaml": sound}) == []
    known = records(check(WorkTree(tmp_path), (), Settings(), Given(), keep_runs=True))
    lock = write_lock({entry: record for entry, (_, record) in known.items()}, "GBS503")
    moved = {"gbs.lock": lock, "tests/sft.yaml": sound.replace("steps: 4", "steps: 8")}
    assert severities(tmp_path, moved) == [("tests/sft.yaml", "error")]


PROGRAM = "from trl import SFTConfig\n\nargs = SFTConfig(output_dir='o', per_device_train_batch_size=0)\n"


@pytest.mark.parametrize(
    ("path", "packaged", "expected"),
    [
        pytest.param("prompts/diffusers/examples/train.py", "prompts/diffusers/setup.py", [], id="a package of others"),
        pytest.param("LLaMA-Factory/examples/train.py", "LLaMA-Factory/pyproject.toml", [], id="by the name of its repository"),
        pytest.param("diffusers/train.py", "setup.py", ["error"], id="programs that use it"),
        pytest.param("ours/examples/train.py", "ours/setup.py", ["error"], id="a package of one's own"),
        pytest.param("src/trl/train.py", "src/setup.py", ["error"], id="the repository of the package"),
    ],
)
def test_programs_of_a_package_of_others_have_none(path: str, packaged: str, expected: list[str], tmp_path: Path) -> None:
    found = severities(tmp_path, {path: PROGRAM, packaged: "name = 'x'\n"})
    assert found == [(path, severity) for severity in expected]


def test_recipes_in_a_package_of_others_may_be_the_owners(tmp_path: Path) -> None:
    files = {"LLaMA-Factory/examples/sft.yaml": RECIPE, "LLaMA-Factory/setup.py": ""}
    assert severities(tmp_path, files) == [("LLaMA-Factory/examples/sft.yaml", "error")]
