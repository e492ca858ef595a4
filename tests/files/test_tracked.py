"""What git tracks belongs to the repository, whatever `.gitignore` says; held against git itself."""

import os
import random
import tracemalloc
from pathlib import Path

import pytest

from pytest_gbs.files import tracked
from pytest_gbs.files.tracked import TrackedFiles
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.limits import MOST_INDEX_BYTES
from tests.git import Git

FILES = {
    "outputs/kept.yaml": "a: 1\n",
    "outputs/deep/kept.yaml": "a: 1\n",
    "data/recipe.yaml": "a: 1\n",
    "plain.yaml": "a: 1\n",
    f"long/{'n' * 200}/{'m' * 200}.yaml": "a: 1\n",
    "é/ü.yaml": "a: 1\n",
}


@pytest.fixture
def repository(tmp_path: Path) -> Git:
    """A repository that tracks FILES, and ignores most of them from then on."""
    git = Git(tmp_path).init()
    git.commit(FILES)
    git.write({".gitignore": "outputs/\ndata/\n/long\né\n", "outputs/run.yaml": "a: 1\n", "outputs/more/run.yaml": "", "data/b.yaml": ""})
    return git


def listed(git: Git) -> set[str]:
    """What git itself counts as the repository's, as far as it has no hidden name."""
    shown = git.run("-c", "core.quotePath=false", "ls-files", "--cached", "--others", "--exclude-standard").splitlines()
    return {path for path in shown if not path.startswith(".")}


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_what_is_tracked_is_listed_and_nothing_else_that_is_ignored(version: str, repository: Git) -> None:
    repository.run("update-index", "--index-version", version)
    repository.run("add", "--intent-to-add", "-f", "data/b.yaml")  # an extended entry, which version 2 does not have
    assert set(WorkTree(repository.root).paths()) == listed(repository) == {*FILES, "data/b.yaml"}


def test_a_folder_within_the_repository_counts_from_there(repository: Git) -> None:
    repository.write({"project/outputs/kept.yaml": "a: 1\n"}).run("add", "-f", "project")
    repository.write({"project/outputs/run.yaml": "a: 1\n"})
    assert WorkTree(repository.root / "project").paths() == ("outputs/kept.yaml",)


def test_hashes_may_be_longer(tmp_path: Path) -> None:
    git = Git(tmp_path)
    git.run("init", "-q", "--object-format=sha256")
    git.commit({".gitignore": "", "out/a.yaml": "a: 1\n", "out/b.yaml": "a: 1\n"})
    git.write({".gitignore": "out\n", "out/c.yaml": ""})
    assert WorkTree(tmp_path).paths() == ("out/a.yaml", "out/b.yaml")


def test_a_worktree_has_an_index_of_its_own(repository: Git, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "tree"
    repository.run("worktree", "add", "-q", str(elsewhere), "HEAD")
    (elsewhere / ".gitignore").write_text("outputs\n", encoding="utf-8")
    (elsewhere / "outputs/run.yaml").write_text("a: 1\n", encoding="utf-8")
    assert set(WorkTree(elsewhere).paths()) == set(FILES)


def test_a_random_repository_is_listed_as_git_does(tmp_path: Path) -> None:
    git = Git(tmp_path).init()
    chance = random.Random(5)
    names = ["a", "b.yaml", "c", "out", "x.json"]
    for _ in range(12):
        paths = {
            "/".join([*chance.choices(names[::2], k=chance.randint(0, 2)), f"{chance.choice(names)}{chance.randint(0, 9)}"])
            for _ in range(12)
        }
        git.write(dict.fromkeys(paths, "a: 1\n"))
        git.run("add", "-f", "-A") if chance.random() < 0.5 else None
        lines = "".join(f"{chance.choice(['/', '', '*'])}{chance.choice(names)}{chance.choice(['', '/', '*'])}\n" for _ in range(3))
        git.write({".gitignore": lines})
        assert set(WorkTree(git.root).paths()) == listed(git)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"DIRC", id="cut off"),
        pytest.param(b"DIRC\0\0\0\2\xff\xff\xff\xff", id="more entries than bytes"),
        pytest.param(b"DIRC\0\0\0\x09\0\0\0\1" + b"a" * 100, id="a version of another time"),
        pytest.param(b"DIRC\0\0\0\4\0\0\0\1" + bytes(26) + b"\x81\xa4" + bytes(32) + b"\0\0" + b"\xff" * 60, id="a number without end"),
        pytest.param(random.Random(3).randbytes(4096), id="noise"),
    ],
)
def test_a_broken_index_tracks_nothing(data: bytes, repository: Git) -> None:
    (repository.root / ".git/index").write_bytes(data)
    assert WorkTree(repository.root).paths() == ("plain.yaml",)


def test_an_index_that_is_not_a_file_tracks_nothing(repository: Git) -> None:
    (repository.root / ".git/index").unlink()
    os.mkfifo(repository.root / ".git/index")
    assert WorkTree(repository.root).paths() == ("plain.yaml",)


def test_an_index_above_the_limit_tracks_nothing(repository: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracked, "MOST_INDEX_BYTES", 50)
    assert not TrackedFiles(str(repository.root)).has("plain.yaml", folder=False)


def test_names_that_grow_with_each_entry_take_no_memory(repository: Git) -> None:
    entry = bytes(24) + b"\0\0\x81\xa4" + bytes(32) + b"\0\0" + b"\0a\0"  # version 4: the name before, and one letter
    (repository.root / ".git/index").write_bytes(b"DIRC\0\0\0\4" + (40_000).to_bytes(4, "big") + entry * 40_000)
    tracemalloc.start()
    assert WorkTree(repository.root).paths() == ("plain.yaml",)
    assert tracemalloc.get_traced_memory()[1] < 2 * MOST_INDEX_BYTES
    tracemalloc.stop()


def test_a_folder_is_tracked_where_a_file_in_it_is(repository: Git) -> None:
    known = TrackedFiles(str(repository.root))
    assert known.has("outputs", folder=True)
    assert known.has("outputs/deep/kept.yaml", folder=False)
    assert not known.has("output", folder=True)
    assert not known.has("outputs", folder=False)
    assert not known.has("outputs/more", folder=True)


def test_what_is_named_is_listed_although_it_is_ignored(tmp_path: Path) -> None:
    for path in ("outputs/run/a.yaml", "outputs/run/deep/b.yaml", "outputs/other/c.yaml", "d.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("a: 1\n", encoding="utf-8")
    (tmp_path / ".gitignore").write_text("outputs/\ndeep/\n", encoding="utf-8")
    assert WorkTree(tmp_path).paths() == ("d.yaml",)
    assert WorkTree(tmp_path, named=frozenset(("outputs/run/",))).paths() == ("d.yaml", "outputs/run/a.yaml")
    assert WorkTree(tmp_path, named=frozenset(("outputs",))).paths() == ("d.yaml", "outputs/other/c.yaml", "outputs/run/a.yaml")
