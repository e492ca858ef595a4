"""`gbs init` writes what this repository needs and does not have, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.cli.support import GOOD, STALE, UNCLAIMED, Gbs, write

ALWAYS = ("gbs.toml", ".pre-commit-config.yaml")
NEXT = "next: gbs lock writes the batch size of each recipe to gbs.lock: commit it, and a change fails the hook and CI\n"


def _remote(url: str) -> dict[str, str]:
    return {".git/config": f'[remote "origin"]\n\turl = {url}\n', "sft.yaml": GOOD}


@pytest.mark.parametrize(
    ("files", "job"),
    [
        pytest.param({}, "", id="nothing is known"),
        pytest.param(_remote("ssh://git.example.org/team/recipes.git"), "", id="a host of its own"),
        pytest.param({".github/dependabot.yml": "version: 2\n"}, ".github/workflows/gbs.yml", id="github"),
        pytest.param(_remote("https://github.com/team/recipes"), ".github/workflows/gbs.yml", id="github by its remote"),
        pytest.param({".gitlab/issue_templates/a.md": "a\n"}, ".gitlab-ci.yml", id="gitlab"),
        pytest.param(_remote("git@gitlab.example.org:team/recipes.git"), ".gitlab-ci.yml", id="gitlab by its remote"),
        pytest.param(_remote("https://dev.azure.com/team/_git/recipes"), "azure-pipelines.yml", id="azure by its remote"),
    ],
)
def test_it_writes_a_job_for_the_system_that_is_used(repo: Path, gbs: Gbs, files: dict[str, str], job: str) -> None:
    write(repo, files)
    wrote = [line.removeprefix("wrote ") for line in gbs("init").out.splitlines() if line.startswith("wrote ")]
    assert wrote == [*ALWAYS, *filter(None, [job])]


def test_a_second_run_changes_nothing(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED})
    gbs("init", "--ci", "github", "--lock")
    before = {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()}
    assert before.keys() >= {repo / "gbs.lock", repo / ".github/workflows/gbs.yml"}
    said = gbs("init", "--ci", "github", "--lock")
    assert "wrote" not in said.out
    assert {path: path.read_bytes() for path in repo.rglob("*") if path.is_file()} == before


def test_without_the_lock_it_says_what_the_lock_is_for(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED})
    assert NEXT in gbs("init").out
    assert not (repo / "gbs.lock").exists()


def test_the_lock_makes_a_changed_batch_fail(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED})
    said = gbs("init", "--lock")
    assert "wrote gbs.lock\n" in said.out
    assert NEXT not in said.out
    assert (gbs("check").code, gbs("lock", "--check").code) == (0, 0)
    write(repo, {"sft.yaml": UNCLAIMED.replace("size: 4", "size: 3")})
    assert (gbs("check").code, gbs("lock", "--check").code) == (1, 1)


def test_errors_that_are_there_need_not_stop_anyone(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED})
    assert "baseline" not in gbs("init", "--lock").out
    (repo / "gbs.lock").unlink()
    write(repo, {"stale.yaml": STALE})
    out = gbs("init", "--lock").out
    assert "next: fix the 1 error that gbs check reports, or accept what is there for now:\n" in out
    assert gbs("check").code == 1
    gbs("check", "--write-baseline", "gbs-baseline.json")
    write(repo, {"gbs.toml": 'baseline = "gbs-baseline.json"\n'})
    assert gbs("check").code == 0


def test_a_lock_without_entries_is_not_written(repo: Path, gbs: Gbs) -> None:
    said = gbs("init", "--lock")
    assert "\ngbs.lock was not written: there is no recipe and no launch; gbs check says where it looked\n" in said.out
    assert NEXT not in said.out
    assert not (repo / "gbs.lock").exists()


def test_in_a_folder_of_the_repository_it_names_the_files_at_the_root_as_git_does(
    repo: Path, gbs: Gbs, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
    write(repo, {"recipes/sft/sft.yaml": UNCLAIMED})
    monkeypatch.chdir(repo / "recipes/sft")
    said = gbs("init", "--ci", "none", "--lock").out
    assert "next: git add ../../gbs.toml ../../.pre-commit-config.yaml ../../gbs.lock and commit\n" in said
    assert "next: pre-commit install" in said
    assert gbs("lock", "--check").out == "../../gbs.lock is up to date: 1 recipe\n"


def test_a_lock_that_is_there_stays(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": UNCLAIMED, "gbs.lock": "version = 1\n"})
    assert "gbs.lock" not in gbs("init", "--lock").out
    assert (repo / "gbs.lock").read_text() == "version = 1\n"


def test_it_overwrites_nothing_and_shows_what_to_add(repo: Path, gbs: Gbs) -> None:
    write(repo, {".pre-commit-config.yaml": "repos: []\n", "pyproject.toml": "[tool.gbs]\n"})
    out = gbs("init").out
    assert out.startswith("kept pyproject.toml: it has [tool.gbs]\nkept .pre-commit-config.yaml; add to it:\n  - repo: local\n")
    assert (repo / ".pre-commit-config.yaml").read_text(encoding="utf-8") == "repos: []\n"
    assert not (repo / "gbs.toml").exists()
    assert "wrote" not in gbs("init").out


RUFF = "repos:\n- repo: https://github.com/astral-sh/ruff-pre-commit\n  rev: v0.9.1\n  hooks: [{id: ruff}]  # lint\n\n# of the team\n"
JOBS = "stages: [test, deploy]\n\npages:\n  stage: deploy\n  script: [make pages]"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(".pre-commit-config.yaml", "repos: []\n", id="no repository yet"),
        pytest.param(".pre-commit-config.yaml", "repos: [{repo: meta, hooks: [\n {id: identity}]}]\n", id="in brackets"),
        pytest.param(".pre-commit-config.yaml", "repos:\n- repo: [\n", id="not YAML"),
        pytest.param(".pre-commit-config.yaml", RUFF + "# gbs comes later\n", id="it mentions us"),
        pytest.param(".pre-commit-config.yaml", RUFF.replace("\n", "\r\n"), id="lines of Windows"),
        pytest.param(".gitlab-ci.yml", "stages: [deploy]\n", id="no stage of that name"),
        pytest.param(".gitlab-ci.yml", "- a\n", id="not a pipeline"),
        pytest.param("azure-pipelines.yml", "steps:\n- script: make\n", id="steps that others follow"),
    ],
)
def test_a_file_that_cannot_be_added_to_is_in_no_patch(name: str, text: str, repo: Path, gbs: Gbs) -> None:
    (repo / name).write_bytes(text.encode())
    assert name not in gbs("init", "--diff").out
    gbs("init")
    assert (repo / name).read_bytes() == text.encode()


@pytest.mark.parametrize(("name", "text"), [(".pre-commit-config.yaml", RUFF), (".gitlab-ci.yml", JOBS)], ids=["hook", "job"])
def test_a_file_that_is_there_is_shown_with_its_change(name: str, text: str, repo: Path, gbs: Gbs) -> None:
    write(repo, {name: text})
    shown = gbs("init").out.partition(f"kept {name}; gbs init --diff | git apply adds to it:\n")[2]
    assert shown.startswith(f"diff --git a/{name} b/{name}\n")
    assert (repo / name).read_text() == text
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
    subprocess.run(["git", "apply"], input=gbs("init", "--diff").out, text=True, cwd=repo, check=True)
    now, was = yaml.safe_load((repo / name).read_text()), yaml.safe_load(text)
    added = now.pop("gbs") if name == ".gitlab-ci.yml" else now["repos"].pop()["hooks"][0]
    assert "gbs" in str(added)
    assert now == was
    assert gbs("init", "--diff").out == ""


@pytest.mark.parametrize("flags", [("--dry-run",), ("--diff",), ("--dry-run", "--lock"), ("--diff", "--lock")], ids=" ".join)
def test_it_only_reports(flags: tuple[str, ...], repo: Path, gbs: Gbs) -> None:
    out = gbs("init", *flags).out
    assert "gbs.toml" in out
    assert ("gbs.lock" in out) is ("--lock" in flags)
    assert [path.name for path in repo.iterdir()] == [".git"]


def test_the_patch_writes_what_init_writes(repo: Path, gbs: Gbs) -> None:
    write(repo, {"sft.yaml": GOOD})
    patch = gbs("init", "--diff", "--lock", "--ci", "github").out
    subprocess.run(["git", "init", "-q"], cwd=repo, check=True)
    subprocess.run(["git", "apply"], input=patch, text=True, cwd=repo, check=True)
    assert "wrote" not in gbs("init", "--ci", "github").out
    assert gbs("lock", "--check").code == 0


def test_it_writes_nothing_where_a_link_leads_out_of_the_repository(repo: Path, gbs: Gbs, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (repo / ".github").symlink_to(elsewhere, target_is_directory=True)
    said = gbs("init")
    line = "gbs: .github/workflows/gbs.yml leads out of the repository: a link is in the way; nothing is written there\n"
    assert (said.code, said.err) == (2, line)
    assert not list(elsewhere.iterdir())


def test_it_writes_at_the_root_of_the_repository(repo: Path, gbs: Gbs) -> None:
    (repo / "recipes").mkdir()
    gbs("init", "recipes")
    assert (repo / "gbs.toml").exists()


def test_the_job_runs_on_the_branch_that_the_remote_calls_its_own(repo: Path, gbs: Gbs) -> None:
    write(repo, {".git/refs/remotes/origin/HEAD": "ref: refs/remotes/origin/trunk\n"})
    gbs("init", "--ci", "github")
    assert "branches: [trunk]\n" in (repo / ".github/workflows/gbs.yml").read_text()


@pytest.mark.parametrize("name", ["evil]", "a, b", "a\nb", "${{ github.token }}"])
def test_a_branch_with_another_name_is_not_part_of_the_job(repo: Path, gbs: Gbs, name: str) -> None:
    write(repo, {".git/refs/remotes/origin/HEAD": f"ref: refs/remotes/origin/{name}\n"})
    gbs("init", "--ci", "github")
    assert "branches: [main, master]\n" in (repo / ".github/workflows/gbs.yml").read_text()


@pytest.mark.parametrize(("answer", "written"), [("\n", True), ("yes\n", True), ("n\n", False), ("\x04", False)])
def test_at_a_terminal_it_asks_whether_to_write_the_lock(repo: Path, answer: str, written: bool) -> None:
    pty = pytest.importorskip("pty")
    write(repo, {"sft.yaml": UNCLAIMED})
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    command = [sys.executable, "-m", "pytest_gbs", "init"]
    subprocess.run(command, cwd=repo, stdin=theirs, stdout=theirs, stderr=theirs, check=True, timeout=60)
    assert (repo / "gbs.lock").exists() is written
