"""Which folder a check is about."""

from pathlib import Path

import pytest

from pytest_gbs.files.root import find_root, has_settings


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A repository, so that no folder above the test's own counts."""
    (tmp_path / "top/.git").mkdir(parents=True)
    (tmp_path / "top/middle/inner").mkdir(parents=True)
    return tmp_path / "top"


def test_a_pyproject_without_our_table_is_not_a_root(top: Path) -> None:
    (top / "middle/pyproject.toml").write_text('[project]\ndependencies = ["pytest-gbs"]\n[tool.gbsx]\n')
    (top / "middle/gbs.toml").mkdir()
    assert find_root(top / "middle/inner") == top


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("gbs.toml", ""),
        ("pyproject.toml", "[tool.gbs]\n"),
        ("pyproject.toml", "[[ tool . 'gbs'.hardware ]]\n"),
        (".git", "gitdir: elsewhere\n"),
    ],
)
def test_the_nearest_folder_with_settings_or_git_is_the_root(file: str, text: str, top: Path) -> None:
    (top / "middle" / file).write_text(text)
    assert find_root(top / "middle/inner") == top / "middle"
    assert find_root(top / "middle") == top / "middle"


def test_a_file_stands_for_its_folder(top: Path) -> None:
    (top / "middle/a.yaml").write_text("")
    (top / "middle/gbs.toml").write_text("")
    assert find_root(top / "middle/a.yaml") == top / "middle"


def test_text_is_answered_with_text(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(top / "middle")
    assert find_root(".") == str(top)


def test_the_folder_itself_is_the_root_where_there_is_nothing(tmp_path: Path) -> None:
    # Somebody's temporary folder may lie within a repository.
    above = [folder for folder in tmp_path.parents if (folder / ".git").exists() or (folder / "gbs.toml").exists()]
    assert find_root(tmp_path) == (above[0] if above else tmp_path)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", False),
        (b'dependencies = ["pytest-gbs"]', False),
        (b"# [tool.gbs]", False),
        (b"[tool.gbs2]", False),
        (b"[tool.gbs-extra]", False),
        (b"[tool.gbs]", True),
        (b"[project]\r\n[tool.gbs.versions]", True),
        (b'[tool]\n"gbs" = {}', True),
        (b"tool.gbs.nodes = 4", True),
    ],
)
def test_settings_are_seen_without_parsing(text: bytes, expected: bool) -> None:
    assert has_settings(text) is expected
