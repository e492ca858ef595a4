"""`gbs fix` in a repository: what it writes, what it says, and how it exits."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import GOOD, RECIPE, STALE, UNCLAIMED, Gbs, write

UNUSED = GOOD.replace("steps: 2", "steps: 2  # gbs: ignore[GBS101] it was so")


@pytest.mark.parametrize("text", [GOOD, UNCLAIMED], ids=["verified", "unclaimed"])
@pytest.mark.parametrize("flags", [(), ("--fix-settings",), ("--fix-declarations",), ("--add-ignore",)], ids=" ".join)
def test_nothing_to_fix_changes_nothing(repo: Path, gbs: Gbs, text: str, flags: tuple[str, ...]) -> None:
    write(repo, {"sft.yaml": text})
    said = gbs("fix", *flags)
    assert (said.code, said.err) == (0, "")
    assert (repo / "sft.yaml").read_text() == text


def test_no_patch_exits_with_zero(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": GOOD})
    assert gbs("fix", "--diff") == (0, "", "")


def test_a_size_or_a_claim_is_not_changed_unasked(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": STALE})
    said = gbs("fix")
    assert said.code == 1
    assert "GBS101" in said.out
    assert (repo / "sft.yaml").read_text() == STALE


@pytest.mark.parametrize("command", [("fix",), ("check", "--fix")], ids=" ".join)
def test_a_safe_fix_is_written(repo: Path, gbs: Gbs, command: tuple[str, ...]) -> None:
    write(repo, {"sft.yaml": UNUSED})
    said = gbs(*command)
    assert (said.code, said.err) == (0, "gbs: fixed sft.yaml GBS901: remove the unused suppression\n")
    assert (repo / "sft.yaml").read_text() == GOOD


@pytest.mark.parametrize(
    ("flag", "after", "reported"),
    [
        ("--fix-settings", GOOD, "change gradient_accumulation_steps to 2"),
        ("--fix-declarations", STALE.replace("GBS 128", "GBS 256"), "change 128 in the comment to 256"),
    ],
)
def test_who_is_believed_decides(repo: Path, gbs: Gbs, flag: str, after: str, reported: str) -> None:
    write(repo, {"a/sft.yaml": STALE})
    said = gbs("check", flag)
    assert (said.code, said.err) == (0, f"gbs: fixed a/sft.yaml GBS101: {reported}\n")
    assert (repo / "a" / "sft.yaml").read_text() == after
    assert gbs("check", flag).err == ""


def test_what_is_not_fixed_is_reported_with_the_reason(repo: Path, gbs: Gbs) -> None:
    text = RECIPE.format(accumulation="4  # effective batch size 256 on 16 GPUs")
    write(repo, {"sft.yaml": text})
    said = gbs("fix", "--fix-settings")
    assert said.code == 1
    assert said.err.startswith(
        "gbs: not fixed sft.yaml:1 GBS101: change gradient_accumulation_steps to 2: GBS101 would be reported instead"
    )
    assert (repo / "sft.yaml").read_text() == text


def test_only_the_paths_given_are_fixed(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": STALE, "b.yaml": STALE})
    assert gbs("fix", "--fix-settings", "a.yaml").code == 0
    assert (repo / "a.yaml").read_text() == GOOD
    assert (repo / "b.yaml").read_text() == STALE


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
def test_the_patch_is_one_that_git_applies(repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
    write(repo, {"recipes/a.yaml": STALE.replace("\n", "\r\n"), "recipes/b.yaml": UNUSED})
    monkeypatch.chdir(repo / "recipes")
    said = gbs("fix", "--fix-settings", "--diff")
    assert (said.code, said.err) == (1, "")
    assert (repo / "recipes" / "b.yaml").read_text() == UNUSED
    subprocess.run(["git", "apply"], input=said.out.encode(), cwd=repo, check=True)
    assert (repo / "recipes" / "a.yaml").read_bytes() == GOOD.replace("\n", "\r\n").encode()
    assert (repo / "recipes" / "b.yaml").read_text() == GOOD


def test_a_mark_and_an_encoding_stay(repo: Path, gbs: Gbs) -> None:
    (repo / "a.yaml").write_bytes(b"\xef\xbb\xbf" + STALE.encode())
    (repo / "b.yaml").write_bytes(("\ufeff" + STALE).encode("utf-16-le"))
    assert gbs("fix", "--fix-settings").code == 0
    assert (repo / "a.yaml").read_bytes() == b"\xef\xbb\xbf" + GOOD.encode()
    assert (repo / "b.yaml").read_bytes() == ("\ufeff" + GOOD).encode("utf-16-le")


def test_no_patch_is_made_of_what_git_takes_for_binary(repo: Path, gbs: Gbs) -> None:
    (repo / "b.yaml").write_bytes(("\ufeff" + STALE).encode("utf-16-le"))
    said = gbs("fix", "--fix-settings", "--diff")
    line = "gbs: can't print a patch of b.yaml: it is UTF-16-LE, which git treats as binary; run without --diff to write it\n"
    assert said == (1, "", line)


def test_the_hook_applies_safe_fixes_to_the_files_it_is_given(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": UNUSED, "b.yaml": UNUSED, "c.yaml": "a: 1\n"})
    assert gbs("fix", "--hook", "a.yaml", "c.yaml").code == 0
    assert (repo / "a.yaml").read_text() == GOOD
    assert (repo / "b.yaml").read_text() == UNUSED
    assert gbs("fix", "--hook", "c.yaml") == (0, "", "")


def test_ignoring_takes_a_reason_behind_its_sign_only(repo: Path, gbs: Gbs) -> None:
    write(repo, {"a.yaml": STALE, "b.yaml": STALE})
    assert gbs("check", "--add-ignore", "a.yaml").code == 0
    assert gbs("check", "--add-ignore=as in the paper", "b.yaml").code == 0
    assert (repo / "a.yaml").read_text() == STALE.replace("GBS 128", "GBS 128  # gbs: ignore[GBS101]")
    assert (repo / "b.yaml").read_text() == STALE.replace("GBS 128", "GBS 128  # gbs: ignore[GBS101] as in the paper")


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (
            ("--fix-settings", "--fix-declarations"),
            "--fix-settings trusts the claims and --fix-declarations trusts the settings: give only one of them",
        ),
        (("--fix-settings", "--add-ignore"), "--add-ignore silences the findings that the fixes would remove: give only one of them"),
        (("none.yaml",), "no such file or folder: none.yaml"),
        (("--stdin-filename", "b.yaml", "-", "sft.yaml"), "standard input is fixed by itself: leave out the other paths"),
    ],
    ids=["both", "ignoring", "no file", "standard input"],
)
def test_a_wrong_call_is_one_line_and_two(repo: Path, gbs: Gbs, flags: tuple[str, ...], line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import sys

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STALE.encode())))
    write(repo, {"sft.yaml": STALE})
    assert gbs("fix", *flags) == (2, "", f"gbs: {line}\n")
    assert (repo / "sft.yaml").read_text() == STALE


def test_a_link_out_of_the_repository_is_not_followed(repo: Path, gbs: Gbs, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "sft.yaml"
    outside.write_text(STALE)
    (repo / "sft.yaml").symlink_to(outside)
    said = gbs("fix", "--fix-settings", "sft.yaml")
    assert (said.code, said.err) == (2, "gbs: can't write sft.yaml: it is outside the checked folder; nothing was written\n")
    assert outside.read_text() == STALE


@pytest.mark.skipif(sys.platform == "win32", reason="processes are distinguished by signals")
def test_a_run_after_a_killed_one_fixes_the_rest_and_removes_what_was_left(repo: Path, gbs: Gbs) -> None:
    write(repo, {f"recipes/{number:02}.yaml": UNUSED for number in range(12)})
    stranger = repo / "recipes" / ".00.yaml.99999999-abcd1234.gbs-tmp"
    stranger.write_text(UNUSED)
    code = (
        "import os, signal\n"
        "from pytest_gbs.cli import main\n"
        "replace, done = os.replace, []\n"
        "def killed(source, target):\n"
        "    done.append(replace(source, target))\n"
        "    if len(done) == 5:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.replace = killed\n"
        "main(['fix'])\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    assert len([*repo.glob("recipes/.*.gbs-tmp")]) == 8
    said = gbs("fix")
    assert said.code == 0
    assert said.err.startswith("gbs: an earlier run was interrupted while it wrote its files; removed what it left behind: recipes/.")
    assert " and 2 more\ngbs: fixed recipes/" in said.err
    assert [*repo.glob("recipes/.*")] == [stranger]
    assert not any("ignore" in path.read_text() for path in repo.glob("recipes/*.yaml"))
    assert gbs("fix").err == ""


@pytest.mark.parametrize(
    ("flags", "text", "expected", "code"),
    [
        pytest.param(("--fix",), STALE, STALE, 1, id="nothing is safe"),
        pytest.param(("--fix",), GOOD, GOOD, 0, id="nothing to fix"),
        pytest.param(("--fix-settings",), STALE, GOOD, 0, id="settings"),
        pytest.param(("--fix-settings",), STALE.replace("\n", "\r\n"), GOOD.replace("\n", "\r\n"), 0, id="line ends stay"),
        pytest.param(("--fix-declarations",), STALE, STALE.replace("128", "256"), 0, id="declarations"),
    ],
)
def test_standard_input_is_fixed_to_standard_output(repo: Path, flags: tuple[str, ...], text: str, expected: str, code: int) -> None:
    write(repo, {"sft.yaml": GOOD})
    command = [sys.executable, "-m", "pytest_gbs", "check", *flags, "--stdin-filename", "sft.yaml", "-"]
    done = subprocess.run(command, cwd=repo, input=text.encode(), capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.decode()) == (code, expected)
    assert ("violated" in done.stderr.decode()) is bool(code)
    assert (repo / "sft.yaml").read_text() == GOOD


def test_a_patch_without_safe_fixes_names_the_flags(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": STALE})
    said = gbs("fix", "--diff")
    assert said.out == ""
    assert said.err == "gbs: no safe fix; --fix-settings trusts the comments, --fix-declarations trusts the settings\n"
