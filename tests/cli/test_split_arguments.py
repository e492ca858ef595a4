"""Paths that look like flags: behind `--` they are paths in every sub-command, and a hook takes none for a flag."""

from pathlib import Path

import pytest

from pytest_gbs.cli import commands
from pytest_gbs.cli._split_arguments import split
from pytest_gbs.model.errors import UsageError
from tests.cli.support import GOOD, LAUNCHER, OPEN, STALE, Gbs, write

RULE = "open('ran', 'w').close()\nRULES = ()\n"
# What a stranger may call a recipe, and what that would do if it were taken for a flag.
EVIL = (
    "--allow-local-rules=rules.d",  # runs rules.d/*.py
    "--output-file=instruct.yaml",  # overwrites a recipe
    "--write-baseline=instruct.yaml",
    "--exclude=**.yaml",
    "--config=evil.yaml",
    "--ignore=ALL",
    "--select=GBS001",
    "--baseline=old.yaml",
    "--stdin-filename=x.yaml",
    "--launch=zero.yaml",
    "--add-ignore=x.yaml",
    "--changed-since=HEAD",
    "--exit-zero",
    "--show-files",
    "--statistics",
    "--diff",
    "--fix-declarations",
    "--help",
    "-h",
    "-d.yaml",
    "-q.yaml",
)


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class TestBehindTheEnd:
    """Everything behind `--` is a path."""

    def test_plain_paths(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": GOOD})
        assert gbs("check", "-q", "--", "a.yaml") == (0, "", "")

    @pytest.mark.parametrize("before", [(), ("-q",), ("--format", "concise")], ids=["no flag", "a flag", "a flag with a value"])
    @pytest.mark.parametrize("name", [*EVIL, "-", "--", "--strict", "-v"])
    def test_a_recipe_with_the_name_of_a_flag_is_checked(self, name: str, before: tuple[str, ...], repo: Path, gbs: Gbs) -> None:
        write(repo, {name: STALE, "good.yaml": GOOD})
        said = gbs("check", *before, "--", name, "good.yaml")
        assert "comment says 128, but the settings give 256" in said.out
        assert f"{name}:1:" in said.out
        assert (said.code, said.err) == (1, "")

    def test_flags_before_and_paths_on_both_sides(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"a.yaml": STALE, "-b.yaml": STALE})
        said = gbs("check", "a.yaml", "--format", "concise", "--", "-b.yaml")
        assert [line.split(":")[0] for line in said.out.splitlines()] == ["-b.yaml", "a.yaml"]

    def test_show_lock_and_fix_take_them_too(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"-d.yaml": GOOD})
        assert "global batch size" in gbs("show", "--", "-d.yaml").out
        assert gbs("fix", "--diff", "--", "-d.yaml") == (0, "", "")
        assert gbs("lock", "--", "-d.yaml").code == 0
        assert "-d.yaml" in (repo / "gbs.lock").read_text()

    def test_scale_takes_them_too(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"--nodes=9.yaml": GOOD})
        said = gbs("scale", "--nodes", "1", "--gpus-per-node", "8", "--diff", "--", "--nodes=9.yaml")
        assert (said.code, said.err) == (0, "")
        assert "+gradient_accumulation_steps: 4" in said.out

    def test_a_folder_to_init(self, repo: Path, gbs: Gbs) -> None:
        (repo / "--diff").mkdir()
        assert gbs("init", "--dry-run", "--", "--diff").out.startswith("would write gbs.toml\n")

    @pytest.mark.parametrize("name", commands())
    def test_no_command_takes_them_for_flags(self, name: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"-d.yaml": GOOD, "rules.d/odd.py": RULE})
        said = gbs(
            name, *(["HEAD"] if name == "diff" else []), "--", "--no-such-flag=1", "--help", "-d.yaml", "--allow-local-rules=rules.d"
        )
        assert "usage:" not in said.out
        assert "\0" not in said.err
        assert not (repo / "ran").exists()


class TestHook:
    """File names that a hook appends, without `--` in front of them."""

    def test_flags_that_leave_nothing_out_need_no_end(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"open.yaml": OPEN})
        assert gbs("check", "--hook", "open.yaml").code == 0
        assert gbs("check", "--hook", "-q", "--strict", "open.yaml").code == 1
        assert gbs("check", "--hook", "-qv", "--gpus-per-node", "8", "--format=concise", "open.yaml") == (0, "", "")

    def test_other_flags_count_where_an_end_is_behind_them(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"old/sft.yaml": STALE, "rules.d/odd.py": RULE})
        assert gbs("check", "--hook", "--exclude", "old", "--", "old/sft.yaml") == (0, "", "")
        assert "it offers neither" not in gbs("check", "--hook", "--allow-local-rules", "rules.d", "--", "old/sft.yaml").out
        assert (repo / "ran").exists()

    def test_the_place_of_the_flag_is_free(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"open.yaml": OPEN})
        assert gbs("check", "--gpus-per-node", "8", "--hook", "open.yaml").code == 0

    @pytest.mark.parametrize("end", [(), ("--",)], ids=["no end", "an end"])
    @pytest.mark.parametrize("command", ["check", "fix"])
    @pytest.mark.parametrize("name", EVIL)
    def test_a_file_is_not_a_flag(self, name: str, command: str, end: tuple[str, ...], repo: Path, gbs: Gbs) -> None:
        files = {
            "instruct.yaml": STALE,
            "rules.d/odd.py": RULE,
            "evil.yaml": "exclude = ['**']\n",
            "zero.yaml": LAUNCHER.format(gpus=8),
            "old.yaml": '{"version": 1, "findings": [{"path": "instruct.yaml", "rule": "GBS101", "key": "", "count": 1}]}',
            name: STALE,
        }
        write(repo, files)
        before = files_of(repo)
        for names in ([name, "instruct.yaml"], ["instruct.yaml", name]):
            said = gbs(command, "--hook", *end, *names)
            assert said.code == 1, said
            assert "instruct.yaml" in said.out
            assert "2 violated" in said.out
            assert files_of(repo) == before

    @pytest.mark.parametrize("name", [name for name in EVIL if "=" in name or name[1] == "-"])
    def test_a_flag_that_is_not_a_file_is_refused(self, name: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"stale.yaml": STALE, "rules.d/odd.py": RULE})
        before = files_of(repo)
        said = gbs("check", "--hook", name, "stale.yaml")
        assert said == (
            2,
            "",
            f"gbs: --hook can't tell whether {name} is a flag or the name of a file; if it is a flag, write: args: [{name}, --]\n",
        )
        assert files_of(repo) == before

    @pytest.mark.parametrize("name", ["--strict", "--world-size=64", "--format=json", "-q", "-qq"])
    def test_a_flag_that_is_a_file_too_is_refused(self, name: str, repo: Path, gbs: Gbs) -> None:
        write(repo, {"stale.yaml": STALE, name: STALE})
        said = gbs("check", "--hook", name, "stale.yaml")
        assert (said.code, said.out) == (2, "")

    def test_behind_a_path_all_are_paths(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"stale.yaml": STALE, "--strict": STALE})
        assert "2 violated" in gbs("check", "--hook", "stale.yaml", "--strict").out
        assert gbs("check", "--hook", "stale.yaml", "--exit-zero") == (2, "", "gbs: no such file or folder: --exit-zero\n")

    def test_a_file_called_like_the_end_ends_nothing(self, repo: Path, gbs: Gbs) -> None:
        write(repo, {"stale.yaml": STALE, "--": STALE, "--exit-zero": STALE})
        assert "2 violated" in gbs("check", "--hook", "--exit-zero", "--", "stale.yaml").out
        (repo / "--exit-zero").unlink()
        assert gbs("check", "--hook", "--exit-zero", "--", "stale.yaml").code == 2


@pytest.mark.parametrize(
    ("words", "parsed", "paths"),
    [
        pytest.param([], [], [], id="nothing"),
        pytest.param(["-v", "a"], ["-v", "a"], [], id="no end"),
        pytest.param(["-v", "a", "--", "-b", "--", "-"], ["-v", "a"], ["-b", "--", "./-"], id="an end"),
        pytest.param(["--hook", "a", "-v"], ["--hook"], ["a", "-v"], id="a hook"),
        pytest.param(["--nodes", "2", "--hook", "-", "b"], ["--hook", "--nodes", "2"], ["./-", "b"], id="a value of a hook's flag"),
        pytest.param(["--hook", "--exit-zero", "--", "a"], ["--hook", "--exit-zero"], ["a"], id="a hook with an end"),
    ],
)
def test_split(words: list[str], parsed: list[str], paths: list[str]) -> None:
    assert split(words) == (parsed, paths)


def test_split_refuses_what_may_be_either() -> None:
    with pytest.raises(UsageError, match="--hook can't tell whether --exit-zero"):
        split(["--hook", "--exit-zero", "a"])
