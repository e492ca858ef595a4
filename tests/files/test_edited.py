"""A folder under unsaved texts: what is laid over it counts, and what did not change stays the same object."""

from pathlib import Path

import pytest

from pytest_gbs.files import edited
from pytest_gbs.files.edited import EditedTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Source, Unreadable


@pytest.fixture
def tree(tmp_path: Path) -> EditedTree:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    (tmp_path / ".hidden").write_text("x\n")
    found = EditedTree(WorkTree(tmp_path))
    found.look_again()
    return found


def test_what_did_not_change_is_the_same_object(tree: EditedTree, tmp_path: Path) -> None:
    before = [tree.read(path) for path in ("a.yaml", ".hidden", "missing.yaml")]
    (tmp_path / "b.yaml").write_text("b: 1\n")
    tree.look_again()
    assert [tree.read(path) is each for path, each in zip(("a.yaml", ".hidden", "missing.yaml"), before, strict=True)] == [True] * 3
    tree.put("c.yaml", "c: 1\n")
    again = tree.read("c.yaml")
    tree.put("c.yaml", "c: 1\n")
    assert tree.read("c.yaml") is again
    tree.put("a.yaml", "a: 1\n")
    assert tree.read("a.yaml") is before[0]
    tree.drop("a.yaml")
    assert tree.read("a.yaml") is before[0]


def test_what_changed_is_seen_when_it_is_looked_for(tree: EditedTree, tmp_path: Path) -> None:
    for path in (*tree.paths(), ".hidden", "new.yaml"):
        tree.read(path)
    for path in ("a.yaml", ".hidden", "new.yaml"):
        (tmp_path / path).write_text("changed: 1\n")
    assert tree.paths() == ("a.yaml",)
    tree.look_again()
    assert tree.paths() == ("a.yaml", "new.yaml")
    assert [getattr(tree.read(path), "text", "") for path in ("a.yaml", ".hidden", "new.yaml")] == ["changed: 1\n"] * 3


def test_an_unsaved_text_counts_until_it_is_dropped(tree: EditedTree) -> None:
    tree.put("a.yaml", "a: 2\n")
    tree.put("only/here.yaml", "b: 2\n")
    assert tree.paths() == ("a.yaml", "only/here.yaml")
    assert tree.read("a.yaml") == Source("a.yaml", "a: 2\n")
    tree.drop("a.yaml")
    tree.drop("only/here.yaml")
    assert tree.paths() == ("a.yaml",)
    assert tree.read("a.yaml") == Source("a.yaml", "a: 1\n")
    assert isinstance(tree.read("only/here.yaml"), Unreadable)


def test_a_text_is_what_the_disk_would_have(tmp_path: Path) -> None:
    tree = EditedTree(WorkTree(tmp_path, max_file_size=10))
    tree.put("a.yaml", "x" * 11)
    tree.put("b.yaml", "\x00")
    tree.put("c.yaml", "\ufeffa: 1\n")
    assert [isinstance(tree.read(path), Unreadable) for path in ("a.yaml", "b.yaml")] == [True, True]
    assert tree.read("c.yaml") == Source("c.yaml", "a: 1\n", bom=True)


def test_without_a_folder_there_is_nothing_but_the_texts() -> None:
    tree = EditedTree(None)
    tree.put("a.yaml", "a: 1\n")
    tree.look_again()
    assert tree.paths() == ("a.yaml",)
    assert isinstance(tree.read("b.yaml"), Unreadable)


def test_the_room_of_what_changed_is_free_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edited, "_MOST", 10)
    tree = EditedTree(WorkTree(tmp_path))
    for text in ("a: 10\n", "a: 200\n", "a: 3000\n"):
        (tmp_path / "a.yaml").write_text(text, encoding="utf-8")
        tree.look_again()
        assert tree.read("a.yaml") is tree.read("a.yaml")
