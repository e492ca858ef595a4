"""A tree with some files as they would be."""

from pathlib import Path

from pytest_gbs.files.overlay import OverlayTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.location import Source, Tree, Unreadable


def test_without_files_it_is_its_base(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("a: 1\n")
    base: Tree = WorkTree(tmp_path)
    tree = OverlayTree(base, {})
    assert tree.paths() == ("a.yaml",)
    assert tree.read("a.yaml") == base.read("a.yaml")
    assert isinstance(tree.read("b.yaml"), Unreadable)


def test_a_file_given_hides_that_of_the_base_or_is_listed_beside_it(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text("b: 1\n")
    given = Source("b.yaml", "b: 2\n", digest=b"x")
    tree: Tree = OverlayTree(WorkTree(tmp_path), {"b.yaml": given, "a.yaml": "a: 1\n"})
    assert tree.paths() == ("a.yaml", "b.yaml")
    assert tree.read("b.yaml") is given
    assert tree.read("a.yaml") == Source("a.yaml", "a: 1\n")


def test_it_can_lie_on_another(tmp_path: Path) -> None:
    tree = OverlayTree(OverlayTree(WorkTree(tmp_path), {"a.yaml": "a: 1\n", "b.yaml": ""}), {"a.yaml": "a: 2\n"})
    assert tree.read("a.yaml") == Source("a.yaml", "a: 2\n")
