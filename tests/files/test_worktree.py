"""A folder on disk as a tree, whatever lies in it."""

import os
import pickle
import socket
import sys
import time
from pathlib import Path

import pytest

from pytest_gbs.files.worktree import WorkTree, remembering
from pytest_gbs.model.location import Source, Tree, Unreadable

posix = pytest.mark.skipif(os.name == "nt", reason="there are no such files on Windows")


def _write(root: Path, *files: str) -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"path: {file}\n")


def _reason(tree: WorkTree, path: str) -> str:
    found = tree.read(path)
    assert isinstance(found, Unreadable)
    assert found.path == path
    return found.reason


def _text(tree: Tree, path: str) -> str:
    found = tree.read(path)
    assert isinstance(found, Source)
    assert found.path == path
    return found.text


def test_an_empty_folder_has_no_files(tmp_path: Path) -> None:
    assert WorkTree(tmp_path).paths() == ()


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert WorkTree(tmp_path / "nowhere").paths() == ()
    assert _reason(WorkTree(tmp_path / "nowhere"), "a.yaml") == "there is no such file"


@pytest.mark.parametrize(
    "path",
    [
        ".hidden.yaml",
        ".github/dependabot.yaml",
        ".github/workflows/.ci.yaml",
        ".git/config.yaml",
        "a/.venv/b.yaml",
        "__pycache__/a.yaml",
        "web/node_modules/pkg/a.yaml",
        "unsloth_compiled_cache/UnslothSFTTrainer.py",
        "venv/lib/a.yaml",
        "env/lib/python3.12/site-packages/trl/a.yaml",
        "vendor/a.yaml",
        "a/b.lock",
        "gone/a.yaml",
    ],
)
def test_hidden_installed_excluded_and_ignored_files_are_left_out(path: str, tmp_path: Path) -> None:
    _write(tmp_path, path, "kept.yaml")
    (tmp_path / ".gitignore").write_text("gone/\n")
    assert WorkTree(tmp_path, exclude=("vendor/", "*.lock")).paths() == ("kept.yaml",)


def test_a_virtual_environment_of_any_name_is_left_out(tmp_path: Path) -> None:
    _write(tmp_path, "python-3.12/pyvenv.cfg", "python-3.12/lib/a.yaml", "kept.yaml")
    assert WorkTree(tmp_path).paths() == ("kept.yaml",)


def test_files_are_listed_with_slashes_in_order(tmp_path: Path) -> None:
    files = ("a.yaml", "a/b.yaml", "a-b.yaml", "b/c/d.json", "b/c.toml", "dist/x.yaml", "build/x.yaml", "z", "é.yaml")
    _write(tmp_path, *files)
    assert WorkTree(tmp_path).paths() == tuple(sorted(files))


def test_a_root_given_as_text_or_with_a_slash_or_relative_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, "a/b.yaml")
    monkeypatch.chdir(tmp_path)
    for root in (tmp_path, str(tmp_path), f"{tmp_path}/", ".", ""):
        assert WorkTree(root).paths() == ("a/b.yaml",)
        assert _text(WorkTree(root), "a/b.yaml") == "path: a/b.yaml\n"


def test_a_hidden_or_ignored_file_can_be_read_all_the_same(tmp_path: Path) -> None:
    _write(tmp_path, ".hidden/a.yaml")
    tree = WorkTree(tmp_path, exclude=(".hidden/",))
    assert _text(tree, ".hidden/a.yaml") == "path: .hidden/a.yaml\n"


def test_it_travels_to_another_process() -> None:
    tree = WorkTree("/somewhere", 10, ("a",), frozenset({"b"}))
    assert pickle.loads(pickle.dumps(tree)) == tree


@pytest.mark.parametrize(
    "path",
    ["a.yaml", "nowhere/a.yaml", "file.yaml/a.yaml", "\0.yaml", "\ud800.yaml", "x" * 5000, "a/" * 3000],
    ids=["no file", "no folder", "below a file", "null", "surrogate", "long", "deep"],
)
def test_a_path_to_nothing_is_unreadable(path: str, tmp_path: Path) -> None:
    _write(tmp_path, "file.yaml")
    assert _reason(WorkTree(tmp_path), path) in ("there is no such file", "no file can have this name", "its name is too long")


def test_a_folder_named_like_a_recipe_is_a_folder(tmp_path: Path) -> None:
    _write(tmp_path, "a.yaml/b.yaml")
    tree = WorkTree(tmp_path)
    assert tree.paths() == ("a.yaml/b.yaml",)
    assert _reason(tree, "a.yaml") == "a folder, not a file"


def test_a_file_of_the_largest_size_is_read_and_a_larger_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "fits.yaml").write_text("a" * 1000)
    (tmp_path / "larger.yaml").write_text("a" * 1001)
    (tmp_path / "empty.yaml").write_text("")
    tree = WorkTree(tmp_path, max_file_size=1000)
    assert _text(tree, "fits.yaml") == "a" * 1000
    assert _text(tree, "empty.yaml") == ""
    assert _reason(tree, "larger.yaml") == "larger than 1,000 bytes; max-file-size in [tool.gbs] raises it"


def test_a_huge_file_is_refused_without_being_read(tmp_path: Path) -> None:
    with (tmp_path / "huge.yaml").open("wb") as file:
        file.truncate(20_000_000_000)
    start = time.perf_counter()
    assert _reason(WorkTree(tmp_path), "huge.yaml") == "larger than 5,000,000 bytes; max-file-size in [tool.gbs] raises it"
    assert time.perf_counter() - start < 60  # it ends; how fast is for the benchmarks


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
def test_a_file_that_gives_no_size_is_read() -> None:
    assert _text(WorkTree("/proc/self"), "status").startswith("Name:")
    assert "larger than 3 bytes" in _reason(WorkTree("/proc/self", max_file_size=3), "status")


@posix
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    os.mkfifo(tmp_path / ".gitignore")
    tree = WorkTree(tmp_path)
    assert tree.paths() == ("pipe.yaml",)
    assert _reason(tree, "pipe.yaml") == "a named pipe, not a regular file"


@posix
def test_a_socket_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.yaml")  # relative: the path of a socket may be a hundred letters long
        assert _reason(WorkTree(tmp_path), "s.yaml") == "a socket, not a regular file"


@posix
def test_a_device_is_not_opened_even_where_it_is_named() -> None:
    assert _reason(WorkTree("/dev"), "zero") == "a device, not a regular file"
    assert _reason(WorkTree("/dev", named=frozenset({"null"})), "null") == "a device, not a regular file"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_unreadable(tmp_path: Path) -> None:
    _write(tmp_path, "a.yaml", "closed/b.yaml")
    (tmp_path / "a.yaml").chmod(0)
    (tmp_path / "closed").chmod(0)
    tree = WorkTree(tmp_path)
    try:
        assert tree.paths() == ("a.yaml",)
        assert _reason(tree, "a.yaml") == "permission denied"
        assert _reason(tree, "closed/b.yaml") == "permission denied"
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_a_link_to_a_file_of_the_tree_is_read(tmp_path: Path) -> None:
    _write(tmp_path, "a/real.yaml")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/link.yaml").symlink_to("../a/real.yaml")
    (tmp_path / "chain.yaml").symlink_to("b/link.yaml")
    tree = WorkTree(tmp_path)
    assert tree.paths() == ("a/real.yaml", "b/link.yaml", "chain.yaml")
    assert _text(tree, "b/link.yaml") == _text(tree, "chain.yaml") == "path: a/real.yaml\n"


def test_a_link_to_a_folder_is_not_followed_but_can_be_read_through(tmp_path: Path) -> None:
    _write(tmp_path, "a/real.yaml")
    (tmp_path / "again").symlink_to("a", target_is_directory=True)
    (tmp_path / "a/loop").symlink_to("..", target_is_directory=True)
    tree = WorkTree(tmp_path)
    assert tree.paths() == ("a/real.yaml",)
    assert _text(tree, "again/real.yaml") == "path: a/real.yaml\n"


def test_a_link_to_nothing_or_to_itself_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "dangling.yaml").symlink_to("gone.yaml")
    (tmp_path / "loop.yaml").symlink_to("pool.yaml")
    (tmp_path / "pool.yaml").symlink_to("loop.yaml")
    tree = WorkTree(tmp_path)
    assert tree.paths() == ("dangling.yaml", "loop.yaml", "pool.yaml")
    assert _reason(tree, "dangling.yaml") == "a symbolic link that leads nowhere"
    assert _reason(tree, "loop.yaml") == "a symbolic link that refers back to itself"


def test_what_leads_out_of_the_tree_is_read_only_where_a_user_named_it(tmp_path: Path) -> None:
    _write(tmp_path, "secret.yaml", "tree/a.yaml", "tree-beside/b.yaml")
    (tmp_path / "tree/out.yaml").symlink_to("../secret.yaml")
    (tmp_path / "tree/beside").symlink_to("../tree-beside", target_is_directory=True)
    tree = WorkTree(tmp_path / "tree")
    outside = ("out.yaml", "beside/b.yaml", "../secret.yaml", str(tmp_path / "secret.yaml"), "a/../../secret.yaml")
    for path in outside:
        assert "the tree" in _reason(tree, path)
    named = WorkTree(tmp_path / "tree", named=frozenset({"out.yaml", "../secret.yaml"}))
    assert _text(named, "out.yaml") == _text(named, "../secret.yaml") == "path: secret.yaml\n"


def test_what_leads_out_of_a_folder_that_was_read_from_is_not_read(tmp_path: Path) -> None:
    _write(tmp_path, "secret/a.yaml", "tree/sub/a.yaml", "tree/a.yaml")
    (tmp_path / "tree/sub/out.yaml").symlink_to("../../secret/a.yaml")
    (tmp_path / "tree/sub/beside").symlink_to("../../secret", target_is_directory=True)
    tree = remembering(WorkTree(tmp_path / "tree"))
    for _ in range(2):
        assert isinstance(tree.read("sub/a.yaml"), Source)
        assert isinstance(tree.read("a.yaml"), Source)
        for path in ("sub/out.yaml", "sub/beside/a.yaml", "sub/../../secret/a.yaml", "../secret/a.yaml", "/a.yaml"):
            assert isinstance(tree.read(path), Unreadable), path


def test_a_root_that_is_itself_a_link_holds_its_files(tmp_path: Path) -> None:
    _write(tmp_path, "real/a.yaml")
    (tmp_path / "real/link.yaml").symlink_to("a.yaml")
    (tmp_path / "root").symlink_to("real", target_is_directory=True)
    tree = WorkTree(tmp_path / "root")
    assert tree.paths() == ("a.yaml", "link.yaml")
    assert _text(tree, "link.yaml") == "path: real/a.yaml\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only here may a file name be any bytes")
def test_a_name_that_is_not_text_is_listed_and_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9-\xff.yaml")
    (tmp_path / os.fsdecode(b"d\xfe")).mkdir()
    (tmp_path / os.fsdecode(b"d\xfe") / name).write_text("a: 1\n")
    (tmp_path / name).write_text("a: 1\n")
    (tmp_path / os.fsdecode(b"ignored\xe9.yaml")).write_text("a: 1\n")
    (tmp_path / ".gitignore").write_bytes(b"ignored\xe9.yaml\n")
    tree = WorkTree(tmp_path)
    assert tree.paths() == (name, os.fsdecode(b"d\xfe/") + name)
    assert _text(tree, name) == "a: 1\n"


def test_two_thousand_files_are_all_listed(tmp_path: Path) -> None:
    for folder in range(20):
        (tmp_path / f"d{folder}").mkdir()
        for file in range(100):
            (tmp_path / f"d{folder}/{file}.yaml").touch()
    (tmp_path / ".gitignore").write_text("*.pyc\nbuild/\n__pycache__/\n*.py[co]\n/docs/_build/\n.env*\n")
    tree = WorkTree(tmp_path)
    assert len(tree.paths()) == 2000


def test_workflows_and_actions_of_github_are_listed(tmp_path: Path) -> None:
    for path in (".github/workflows/ci.yaml", ".github/actions/train/action.yml", ".github/a.yaml", "inner/.github/workflows/ci.yaml"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("a: 1\n")
    assert WorkTree(tmp_path).paths() == (".github/actions/train/action.yml", ".github/workflows/ci.yaml")
