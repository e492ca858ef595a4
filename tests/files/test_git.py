"""A git revision as a tree: what a folder with the same files would be, and nothing that git would do besides."""

import os
import time
from pathlib import Path

import pytest

from pytest_gbs.files.git import GitRepository, GitTree
from pytest_gbs.files.worktree import WorkTree
from pytest_gbs.model.errors import UsageError
from pytest_gbs.model.location import Source, Unreadable
from tests.git import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    root = tmp_path / "repo"
    root.mkdir()
    return Git(root).init()


def tree(git: Git, revision: str = "HEAD", max_file_size: int = 5_000_000) -> GitTree:
    repository = GitRepository(git.root)
    return GitTree(repository, repository.commit(revision), max_file_size)


def test_it_lists_and_reads_what_the_folder_held(git: Git) -> None:
    git.commit({"a.yaml": "x: 1\n", "b/c.yaml": "ü: 2\r\n", "b/d.sh": "true\n"})
    with tree(git) as found:
        assert found.paths() == ("a.yaml", "b/c.yaml", "b/d.sh") == WorkTree(git.root).paths()
        assert [found.read(path) for path in found.paths()] == [WorkTree(git.root).read(path) for path in found.paths()]


def test_it_stays_at_its_revision(git: Git) -> None:
    first = git.commit({"a.yaml": "x: 1\n"})
    git.commit({"a.yaml": "x: 2\n", "b.yaml": "y: 1\n"})
    git.write({"a.yaml": "x: 3\n"})
    with tree(git, first) as found:
        assert found.paths() == ("a.yaml",)
        assert found.read("a.yaml") == Source("a.yaml", "x: 1\n")


def test_it_leaves_out_what_a_folder_leaves_out_and_keeps_what_is_tracked(git: Git) -> None:
    hidden = {".hidden.yaml": "a: 1\n", ".github/a.yaml": "a: 1\n", "node_modules/a.yaml": "a: 1\n", "v/pyvenv.cfg": "", "v/a.yaml": ""}
    git.commit({**hidden, "out/a.yaml": "a: 1\n", "a.log": "x", "kept/a.yaml": "a: 1\n", "kept/out.yaml": "a: 1\n"})
    git.commit({".gitignore": "out/\n*.log\n", "kept/.gitignore": "out.yaml\n"}, "ignore what is tracked already")
    with tree(git) as found:
        assert found.paths() == ("a.log", "kept/a.yaml", "kept/out.yaml", "out/a.yaml") == WorkTree(git.root).paths()
    exclude = ("kept/**", "out", "*.log")
    repository = GitRepository(git.root)
    with GitTree(repository, repository.commit("HEAD"), exclude=exclude) as found:
        assert found.paths() == () == WorkTree(git.root, exclude=exclude).paths()


def test_links_and_submodules_are_not_files(git: Git) -> None:
    git.write({"a.yaml": "x: 1\n"})
    (git.root / "link.yaml").symlink_to("a.yaml")
    (git.root / "out.yaml").symlink_to("/etc/passwd")
    git.run("add", "-A")
    git.run("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git.run("commit", "-q", "-m", "links")
    with tree(git) as found:
        assert found.paths() == ("a.yaml",)
        assert found.links == {"link.yaml", "out.yaml"}
        assert isinstance(found.read("out.yaml"), Unreadable)


@pytest.mark.parametrize("name", ["a\nb.yaml", "a\tb.yaml", '"quoted".yaml', "-x.yaml", "ü.yaml", "a @ b #2.yaml", ":(top).yaml", "*.yaml"])
def test_odd_names_are_names(name: str, git: Git) -> None:
    git.commit({name: "x: 1\n"})
    with tree(git) as found:
        assert found.paths() == (name,) == WorkTree(git.root).paths()
        assert found.read(name) == Source(name, "x: 1\n")


def test_a_name_that_is_not_utf_8_is_the_one_on_disk(git: Git) -> None:
    name = os.fsdecode(b"caf\xe9.yaml")
    try:
        (git.root / name).write_text("x: 1\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    git.commit()
    with tree(git) as found:
        assert found.paths() == (name,) == WorkTree(git.root).paths()
        assert found.read(name) == Source(name, "x: 1\n")


def test_a_path_that_leads_out_of_the_tree_is_not_a_path(git: Git) -> None:
    blob = git.run("hash-object", "-w", "--stdin", data=b"x: 1\n")
    made = git.run("mktree", data=f"100644 blob {blob}\t..\n".encode())
    commit = git.run("commit-tree", "-m", "bad", made)
    with tree(git, commit) as found:
        assert found.paths() == ()


def test_folders_deeper_than_any_disk_has_them_are_left_out(git: Git) -> None:
    blob = git.run("hash-object", "-w", "--stdin", data=b"x: 1\n")
    made = git.run("mktree", data=f"100644 blob {blob}\ta.yaml\n".encode())
    for _ in range(300):
        made = git.run("mktree", data=f"040000 tree {made}\td\n100644 blob {blob}\tz.yaml\n".encode())
    with tree(git, git.run("commit-tree", "-m", "deep", made)) as found:
        assert 0 < len(found.paths()) <= 201


def test_a_binary_file_a_large_one_and_none_are_unreadable(git: Git) -> None:
    git.write({"large.yaml": "x" * 100})
    (git.root / "binary.yaml").write_bytes(b"\x89PNG\x00\x01")
    git.commit()
    with tree(git, max_file_size=50) as found:
        reasons = {path: getattr(found.read(path), "reason", "") for path in ("binary.yaml", "large.yaml", "none.yaml", "/etc/passwd")}
        assert reasons["large.yaml"] == "larger than 50 bytes"
        assert reasons["none.yaml"] == reasons["/etc/passwd"] == "there is no such file"
        assert reasons["binary.yaml"]


def test_a_folder_of_a_repository_sees_what_is_below_it(git: Git) -> None:
    git.commit({"a.yaml": "x: 1\n", "sub/b.yaml": "x: 1\n", "sub/c/d.yaml": "x: 1\n"})
    repository = GitRepository(git.root / "sub")
    with GitTree(repository, repository.commit("HEAD")) as found:
        assert found.paths() == ("b.yaml", "c/d.yaml")
        assert isinstance(found.read("c/d.yaml"), Source)


def test_a_repository_runs_no_program_and_writes_nothing(git: Git) -> None:
    git.commit({"a.yaml": "x: 1\n", ".gitattributes": "* filter=f diff=f\n"})
    mark = git.root.parent / "ran"
    script = git.root.parent / "program"
    script.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "filter.f.clean", "filter.f.smudge", "diff.f.textconv", "diff.external", "core.sshCommand"):
        git.run("config", key, str(script))
    hooks = git.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / hook).write_text(script.read_text())
        (hooks / hook).chmod(0o755)
    git.write({"a.yaml": "x: 2\n"})
    before = sorted(path.name for path in (git.root / ".git").rglob("*"))
    repository = GitRepository(git.root)
    with tree(git) as found:
        assert list(found.changed(found.paths())) == ["a.yaml"]
        assert isinstance(found.read("a.yaml"), Source)
    assert repository.fork("HEAD") == repository.commit("HEAD")
    assert repository.messages("HEAD") == ""
    assert sorted(path.name for path in (git.root / ".git").rglob("*")) == before
    assert not mark.exists()


def test_what_a_partial_clone_lacks_is_unreadable_and_is_not_fetched(git: Git) -> None:
    git.commit({"a.yaml": "x: 1\n", "b.yaml": "x: 2\n"})
    git.run("config", "uploadpack.allowFilter", "true")
    clone = git.root.parent / "partial"
    git.run("clone", "-q", "--no-checkout", "--filter=blob:none", git.root.as_uri(), str(clone))
    partial = Git(clone)
    partial.run("cat-file", "blob", "HEAD:b.yaml")  # git fetches this one
    with tree(partial) as found:
        assert found.paths() == ("a.yaml", "b.yaml")
        assert found.read("a.yaml") == Unreadable("a.yaml", "this clone does not have its content")
        assert found.read("b.yaml") == Source("b.yaml", "x: 2\n")


class TestChanged:
    """Which files on disk are other ones than those of a revision."""

    @pytest.mark.parametrize(
        ("committed", "now"),
        [pytest.param("x: 1\n", "x: 1\n", id="the same"), pytest.param("x: 1\n", "x: 1\r\n", id="line ends that git turns")],
    )
    def test_the_same_text_is_not_a_change(self, committed: str, now: str, git: Git) -> None:
        git.commit({"a.yaml": committed})
        git.write({"a.yaml": now})
        with tree(git) as found:
            assert list(found.changed(("a.yaml",))) == []

    def test_edited_new_and_missing_files_are(self, git: Git) -> None:
        git.commit({"a.yaml": "x: 1\n", "gone.yaml": "x: 1\n", "kept.yaml": "x: 1\n"})
        git.write({"a.yaml": "x: 2\n", "new.yaml": "x: 1\n"})
        (git.root / "gone.yaml").unlink()
        with tree(git) as found:
            assert list(found.changed(("a.yaml", "gone.yaml", "kept.yaml", "new.yaml"))) == ["a.yaml", "gone.yaml", "new.yaml"]


class TestRevisions:
    """What names a commit, and the one line where nothing does."""

    def test_a_branch_a_tag_and_an_abbreviation_do(self, git: Git) -> None:
        commit = git.commit({"a.yaml": "x: 1\n"})
        git.run("tag", "-a", "v1", "-m", "v1")
        assert {GitRepository(git.root).commit(name) for name in ("main", "v1", "HEAD", commit[:8])} == {commit}

    @pytest.mark.parametrize("name", ["nope", "", "-h", "--output=x", "--git-dir=/", "HEAD:a.yaml", "a\nb", "\x00", "\udcff", "HEAD --all"])
    def test_what_is_not_a_commit_is_a_usage_error(self, name: str, git: Git) -> None:
        git.commit({"a.yaml": "x: 1\n"})
        with pytest.raises(UsageError, match=r"^no commit .* in this repository; git fetch may bring it$"):
            GitRepository(git.root).commit(name)
        assert not (git.root / "x").exists()

    def test_a_shallow_clone_says_how_to_deepen_it(self, git: Git) -> None:
        git.commit({"a.yaml": "x: 1\n"})
        git.commit({"a.yaml": "x: 2\n"})
        clone = git.root.parent / "shallow"
        git.run("clone", "-q", "--depth", "1", git.root.as_uri(), str(clone))
        with pytest.raises(UsageError, match="shallow: git fetch --unshallow, or fetch-depth: 0 in CI"):
            GitRepository(clone).commit("HEAD~1")

    def test_a_repository_without_commits_says_so(self, git: Git) -> None:
        with pytest.raises(UsageError, match="this repository has no commit yet"):
            GitRepository(git.root).commit("HEAD")

    def test_a_folder_that_is_not_a_repository_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path))
        with pytest.raises(UsageError, match="is not a git repository"):
            GitRepository(tmp_path)

    def test_a_machine_without_git_says_so(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(UsageError, match="git can't be run: it is not on the PATH"):
            GitRepository(tmp_path)

    def test_the_fork_is_the_last_common_commit(self, git: Git) -> None:
        common = git.commit({"a.yaml": "x: 1\n"})
        git.run("checkout", "-q", "-b", "topic")
        git.commit({"a.yaml": "x: 2\n"}, "GBS 256")
        git.run("checkout", "-q", "main")
        git.commit({"b.yaml": "x: 1\n"})
        repository = GitRepository(git.root)
        assert repository.fork("topic") == common
        assert repository.messages(common, "topic").strip() == "GBS 256"

    def test_histories_without_a_common_commit_have_no_fork(self, git: Git) -> None:
        git.commit({"a.yaml": "x: 1\n"})
        git.run("checkout", "-q", "--orphan", "other")
        git.commit({"b.yaml": "x: 1\n"})
        assert GitRepository(git.root).fork("main") is None


def test_a_folder_that_looks_like_a_git_directory_runs_nothing(git: Git) -> None:
    # A pull request may hold a bare repository as plain files; git would take it for its own, and fetch what it lacks by any command.
    git.commit({"sub/a.yaml": "x: 1\n"})
    mark, sub = git.root.parent / "ran", git.root / "sub"
    blob = git.run("rev-parse", "HEAD:sub/a.yaml")
    for path in sorted((git.root / ".git").rglob("*")):
        inner = sub / path.relative_to(git.root / ".git")
        if path.is_dir():
            inner.mkdir(exist_ok=True)
        elif path.name != "index" and blob[2:] not in path.name:
            inner.write_bytes(path.read_bytes())
    remote = f'[remote "o"]\n url = ext::sh -c touch% {mark}\n promisor = true\n[protocol "ext"]\n allow = always\n'
    (sub / "config").write_text(f"[core]\n repositoryformatversion = 1\n worktree = .\n[extensions]\n partialClone = o\n{remote}")
    with pytest.raises(UsageError, match="is not a git repository, or one that git does not trust"):
        GitRepository(sub)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GIT_DIR", str(sub))  # if git is given one, it still fetches nothing
        with tree(Git(sub)) as found:
            assert isinstance(found.read("a.yaml"), Unreadable) or isinstance(found.read("sub/a.yaml"), Unreadable)
    assert not mark.exists()


def _bomb(git: Git, levels: int, leaf: bytes) -> str:
    """A commit of folders that hold ten times the folder below them, the lowest of them `leaf`."""
    folder = git.run("mktree", data=leaf)
    for _ in range(levels):
        folder = git.run("mktree", data=b"".join(b"040000 tree %s\t%d\n" % (folder.encode(), number) for number in range(10)))
    return git.run("commit-tree", folder, "-m", "many")


@pytest.mark.parametrize("empty", [False, True], ids=["files", "no files"])
def test_a_commit_that_names_a_hundred_million_files_is_refused_at_once(git: Git, empty: bool) -> None:
    blob = git.run("hash-object", "-w", "--stdin", data=b"a: 1\n").encode()
    commit = _bomb(git, 8, b"" if empty else b"100644 blob %s\ta.yaml\n" % blob)
    started = time.monotonic()
    with pytest.raises(UsageError, match=r"^commit [0-9a-f]{12} has more than 500,000 files and folders, or .*: it is not read$"):
        GitRepository(git.root).blobs(commit)
    assert time.monotonic() - started < 60  # to its end it would take hours


def test_a_commit_of_many_files_is_read(git: Git) -> None:
    blob = git.run("hash-object", "-w", "--stdin", data=b"a: 1\n").encode()
    files, _ = GitRepository(git.root).blobs(_bomb(git, 4, b"100644 blob %s\ta.yaml\n" % blob))
    assert len(files) == 10_000


def test_one_text_under_many_names_is_kept_once(git: Git) -> None:
    git.commit({f"{number}.yaml": "x: 1\n" for number in range(20)})
    with tree(git) as found:
        sources = [found.read(f"{number}.yaml") for number in range(20)]
    assert [source.path for source in sources] == [f"{number}.yaml" for number in range(20)]
    assert len({id(source.text) for source in sources if isinstance(source, Source)}) == 1


def test_messages_beyond_the_limit_are_not_read(git: Git) -> None:
    start = git.commit({"a.yaml": "x: 1\n"})
    for letter in "abc":
        message = git.root / "message"
        message.write_text(letter * 3_000_000)
        git.run("commit", "-q", "--allow-empty", "-F", "message")
    said = GitRepository(git.root).messages(start)
    assert (len(said), set(said)) == (5_000_000, {"c", "b", "\n"})
