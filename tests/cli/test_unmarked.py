"""What one file in a folder that is no project makes gbs look at: not all of a large one, and never a home."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_gbs.model.limits import MOST_UNMARKED
from tests.cli.support import GOOD, Gbs, write

SCRIPT = "accelerate launch --num_processes 8 train.py --config {recipe} --gradient_accumulation_steps 8\n"
FILES = {"project/sft.yaml": GOOD, "project/scripts/run.sh": SCRIPT.format(recipe="../sft.yaml"), "project/train.py": ""}
NOTICE = "launches were sought only near what was named"


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder that nothing marks, with a project and more files than are looked at."""
    folder = tmp_path_factory.mktemp("crowd")
    write(folder, {**FILES, "sft.yaml": GOOD, "near.sh": SCRIPT.format(recipe="sft.yaml"), "far/far.sh": "true\n"})
    (folder / "many").mkdir()
    for number in range(MOST_UNMARKED):
        (folder / f"many/{number}").touch()
    yield folder
    for number in range(MOST_UNMARKED):
        (folder / f"many/{number}").unlink()


def test_a_small_folder_is_searched_and_nothing_is_said(tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    monkeypatch.chdir(tmp_path)
    said = gbs("check", "project/sft.yaml")
    assert "project/scripts/run.sh" in said.out
    assert said.err == ""


@pytest.mark.parametrize("mark", [".git", "gbs.toml"])
def test_what_is_marked_is_searched_whatever_its_size(crowd: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch, mark: str) -> None:
    (crowd / mark).touch()
    monkeypatch.chdir(crowd)
    said = gbs("check", "sft.yaml")
    (crowd / mark).unlink()
    assert NOTICE not in said.err
    assert "near.sh" in said.out


def test_the_whole_of_a_large_folder_is_searched_where_it_is_asked_for(crowd: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(crowd)
    said = gbs("check")
    assert said.err == ""
    assert "near.sh" in said.out
    assert "project/scripts/run.sh" in said.out


@pytest.mark.parametrize("target", ["project/sft.yaml", "project"])
def test_in_a_large_folder_the_folder_of_what_is_named_is_searched(
    crowd: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    monkeypatch.chdir(crowd)
    said = gbs("check", target)
    assert "project/scripts/run.sh" in said.out
    assert said.err == (
        f"gbs: {crowd} has more than 10,000 files and folders: {NOTICE}; a gbs.toml, which may be empty, marks the top of a project\n"
    )


def test_a_file_right_in_a_large_folder_has_the_files_beside_it(crowd: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(crowd)
    said = gbs("check", "sft.yaml")
    assert "near.sh" in said.out
    assert said.err.count(NOTICE) == 1


def test_a_home_is_not_searched(tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {**FILES, "sft.yaml": GOOD, "far/run.sh": SCRIPT.format(recipe="../sft.yaml")})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    said = gbs("check", "sft.yaml")
    assert (said.code, "far/run.sh" in said.out) == (0, False)
    assert f"{tmp_path} is a home folder or above one: {NOTICE}" in said.err


def test_a_project_in_a_home_is_searched(tmp_path: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, FILES)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    said = gbs("check", "project/sft.yaml")
    assert "project/scripts/run.sh" in said.out
    assert said.err == ""
