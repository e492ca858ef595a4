"""The jobs that `gbs init` writes, the GitHub Action, the GitLab component and the problem matcher: their own steps are run here."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_gbs.cli._snippets import SYSTEMS
from tests.cli.support import STALE, UNCLAIMED, Gbs, write
from tests.git import Git
from tests.support import PYTHON

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
MATCHER = ROOT / ".github" / "problem-matcher.json"
HALVED = UNCLAIMED.replace("size: 4", "size: 2")


def _component() -> list[str]:
    """The script of the GitLab component, its inputs at their defaults."""
    spec, job = (ROOT / "templates" / "gbs.yml").read_text(encoding="utf-8").split("\n---\n")
    for name, about in yaml.safe_load(spec)["spec"]["inputs"].items():
        job = job.replace(f"$[[ inputs.{name} ]]", about["default"])
    assert "$[[" not in job
    (only,) = yaml.safe_load(job).values()
    return list(only["script"])


def _steps(name: str) -> list[dict[str, Any]]:
    """What a job runs, without what installs gbs."""
    if name == "action":
        steps: list[dict[str, Any]] = ACTION["runs"]["steps"]
    elif name == "component":
        steps = [{"run": line} for line in _component()]
    elif name == "gitlab":
        steps = [{"run": line} for line in yaml.safe_load(SYSTEMS[name].job.text)["gbs"]["script"]]
    else:
        job = yaml.safe_load(SYSTEMS[name].job.text)
        steps = [
            {**step, "run": step.get("run", step.get("script"))} for step in (job["jobs"]["gbs"] if name == "github" else job)["steps"]
        ]
    return [step for step in steps if step.get("run") and "pip" not in step["run"]]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A repository with its lock, as a pull request finds it."""
    folder = tmp_path / "recipes"
    folder.mkdir()
    git = Git(folder).init()
    git.commit({"sft.yaml": UNCLAIMED})
    subprocess.run([sys.executable, "-m", "pytest_gbs", "lock", "-q"], cwd=folder, check=True)
    git.commit()
    return git


def _run(name: str, git: Git, **inputs: str) -> tuple[list[str], str]:
    """Run the steps of a job; return the names of those that fail, and all that they print and write."""
    folder = git.root.parent / "runner"
    (folder / "gbs" / "bin").mkdir(parents=True, exist_ok=True)
    program = folder / "gbs" / "bin" / "gbs"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PYTHON)} -m pytest_gbs "$@"\n')
    program.chmod(0o755)
    summary = folder / "summary.md"
    given = {f"inputs.{key}": about["default"] for key, about in ACTION["inputs"].items()}
    given |= {f"inputs.{key}": value for key, value in inputs.items()}
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    failed, said = [], ""
    for step in _steps(name):
        stated = {key: re.sub(r"\$\{\{ (.+?) \}\}", lambda match: given[match[1]], value) for key, value in step.get("env", {}).items()}
        environment = {**os.environ, **stated, "PATH": path, "RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(summary)}
        command = ["bash", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=git.root, env=environment, capture_output=True, text=True, check=False)
        said += done.stdout + done.stderr
        failed += [step["run"]] if done.returncode else []
    return failed, said + (summary.read_text(encoding="utf-8") if summary.exists() else "")


NAMES = ("github", "gitlab", "azure", "action", "component")


@pytest.mark.parametrize("name", NAMES)
def test_a_change_that_leaves_batches_alone_passes(name: str, git: Git) -> None:
    git.commit({"README.md": "recipes\n", "sft.yaml": f"# more\n{UNCLAIMED}"})
    failed, said = _run(name, git)
    assert failed == [], said


@pytest.mark.parametrize("name", NAMES)
def test_without_a_lock_nothing_is_compared_with_it(name: str, git: Git) -> None:
    (git.root / "gbs.lock").unlink()
    git.commit()
    failed, said = _run(name, git)
    assert failed == [], said


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_micro_batch_fails_and_says_so(name: str, git: Git) -> None:
    git.commit({"sft.yaml": HALVED})
    failed, said = _run(name, git)
    assert any("gbs check" in step or "check --format github" in step for step in failed), said
    assert any("lock --check" in step for step in failed)
    assert "micro batch size 2, was 4" in said
    if name in ("github", "action"):
        assert "::error file=sft.yaml,line=4" in said
        assert "| sft.yaml |" in said  # the table in the summary of the job


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_without_a_line_in_the_lock_fails_the_lock_alone(name: str, git: Git) -> None:
    git.commit({"new.yaml": UNCLAIMED})
    failed, said = _run(name, git)
    assert len(failed) == 1
    assert "lock --check" in failed[0]
    assert "new      new.yaml" in said


def test_the_action_writes_sarif_and_takes_several_paths(git: Git) -> None:
    git.commit({"b c/stale.yaml": STALE, "other/stale.yaml": STALE})
    failed, said = _run("action", git, paths="sft.yaml\nb c\n", sarif="true")
    assert "::error file=b c/stale.yaml" in said
    assert "::error file=other" not in said
    assert len(failed) == 2
    sarif = json.loads((git.root.parent / "runner" / "gbs.sarif").read_text())
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == ["GBS101"]


@pytest.mark.parametrize("path", ["--exclude=**", "$(touch ran)", "`touch ran`", "; touch ran"])
def test_a_path_of_the_action_is_neither_a_flag_nor_a_command(path: str, git: Git) -> None:
    failed, said = _run("action", git, paths=path)
    assert failed
    assert "no such file or folder" in said
    assert not (git.root / "ran").exists()


def test_no_value_from_outside_is_part_of_a_script() -> None:
    for step in (*_steps("action"), *_steps("github")):
        assert "${{" not in step["run"]


def test_actions_are_pinned_by_commit() -> None:
    ours = [ROOT / "action.yml", *(ROOT / ".github" / "workflows").iterdir()]
    texts = [system.job.text for system in SYSTEMS.values()] + [path.read_text(encoding="utf-8") for path in ours]
    uses = [found for text in texts for found in re.findall(r"uses: (\S+)(.*)", text)]
    assert len(uses) > 3
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) and version.startswith(" # v") for name, version in uses)


@pytest.mark.parametrize("form", ["text", "concise"])
def test_the_problem_matcher_finds_what_is_printed(form: str, repo: Path, gbs: Gbs) -> None:
    write(repo, {"a b.yaml": STALE})
    matchers = {each["owner"]: each["pattern"] for each in json.loads(MATCHER.read_text())["problemMatcher"]}
    patterns = matchers["gbs" if form == "text" else "gbs-concise"]
    lines = gbs("check", "--format", form).out.splitlines()
    found = []
    for start in range(len(lines) - len(patterns) + 1):
        matches = [re.search(pattern["regexp"], line) for pattern, line in zip(patterns, lines[start:], strict=False)]
        pairs = [(pattern, match) for pattern, match in zip(patterns, matches, strict=True) if match]
        if len(pairs) == len(patterns):
            found.append({key: match[place] for pattern, match in pairs for key, place in pattern.items() if key != "regexp"})
    assert [(each["file"], each["line"], each["column"], each["code"]) for each in found] == [("a b.yaml", "1", "44", "GBS101")]
    assert found[0]["message"].startswith("comment says 128")


class TestLinters:
    """zizmor and actionlint have nothing to say (extra `workflows`)."""

    @pytest.fixture
    def workflows(self, tmp_path: Path) -> Path:
        (tmp_path / ".github" / "workflows").mkdir(parents=True)
        (tmp_path / ".github" / "workflows" / "gbs.yml").write_text(SYSTEMS["github"].job.text.replace("BRANCHES", "main"))
        for path in (ROOT / ".github" / "workflows").iterdir():
            shutil.copy(path, tmp_path / ".github" / "workflows")
        shutil.copy(ROOT / "action.yml", tmp_path)
        return tmp_path

    def _program(self, name: str) -> str:
        found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
        return found or str(pytest.skip(f'needs {name}: pip install -e ".[workflows]"'))

    def test_zizmor(self, workflows: Path) -> None:
        command = [self._program("zizmor"), "--offline", "--no-config", "--persona", "pedantic", "."]
        done = subprocess.run(command, cwd=workflows, capture_output=True, text=True, check=False)
        assert (done.returncode, "No findings to report" in done.stdout + done.stderr) == (0, True), done.stdout

    def test_actionlint(self, workflows: Path) -> None:
        command = [self._program("actionlint"), *map(str, (workflows / ".github" / "workflows").iterdir())]
        done = subprocess.run(command, cwd=workflows, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (0, "")
