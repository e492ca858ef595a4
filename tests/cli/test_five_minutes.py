"""The README's first screen, executed: from nothing to a commit and a pull request that fail for a changed micro batch.

If `GBS_WHEELS` names a folder with our wheel, as it does in .ci/run, the first line is typed too, in an environment of its own, and
pre-commit installs the hook as written. Else `gbs` and the hook are those of the environment that runs the tests.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.git import Git
from tests.support import PYTHON

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
(COMMANDS,) = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
(SHOWN,) = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
WHEELS = os.environ.get("GBS_WHEELS", "")
RECIPE = "recipes/tiny-llm/grpo/math.yaml"


@pytest.fixture
def team(tmp_path: Path) -> Git:
    """A repository of two of the examples in which nothing is wrong, one of them without a stated batch size."""
    folder = tmp_path / "team"
    for name in (RECIPE, "recipes/tiny-llm/dpo/preferences.yaml"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / "examples" / name, folder / name)
    (folder / ".github").mkdir()
    git = Git(folder).init()
    git.commit()
    return git


def _change(git: Git) -> None:
    path = git.root / RECIPE
    path.write_text(path.read_text().replace("train_batch_size: 16", "train_batch_size: 14"))


def _type(git: Git, line: str) -> tuple[int, str]:
    """Type one line of the README."""
    programs = git.root.parent / "venv" / "bin"
    if not programs.exists():
        _make(programs)
    names = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL")
    environment = {**os.environ, **dict.fromkeys(names, "a"), "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    environment |= {"PRE_COMMIT_HOME": str(git.root.parent / "home"), "PRE_COMMIT_COLOR": "never", "PIP_FIND_LINKS": WHEELS}
    done = subprocess.run(["bash", "-c", line], cwd=git.root, env=environment, capture_output=True, text=True, check=False, timeout=300)
    return done.returncode, done.stdout + done.stderr


def _make(programs: Path) -> None:
    """Make an environment with nothing in it, or one whose `gbs`, `pytest` and `pre-commit` are those of this environment."""
    if WHEELS:
        subprocess.run([sys.executable, "-m", "venv", str(programs.parent)], check=True)
        return
    programs.mkdir(parents=True)
    for name, module in (("gbs", "pytest_gbs"), ("pre-commit", "pre_commit"), ("pytest", "pytest"), ("pip", "this")):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.join(PYTHON)} -m {module} "$@"\n')
        program.chmod(0o755)


def _here(git: Git) -> None:
    """Let the hook run the gbs that is tested, which pre-commit would install."""
    path = git.root / ".pre-commit-config.yaml"
    config = yaml.safe_load(path.read_text())
    hook = config["repos"][0]["hooks"][0]
    del hook["additional_dependencies"]
    hook.update(language="system", entry=hook["entry"].replace("gbs", f"{shlex.join(PYTHON)} -m pytest_gbs", 1))
    path.write_text(yaml.safe_dump(config))


@pytest.mark.skipif(bool(WHEELS), reason="the environment is empty until the first line is typed")
def test_a_changed_micro_batch_is_reported_as_the_readme_shows(team: Git) -> None:
    _type(team, "gbs init --lock")
    assert _type(team, "gbs check -q") == (0, "")
    _change(team)
    assert _type(team, "gbs check -q") == (1, SHOWN)
    code, said = _type(team, "pytest -p no:randomly --gbs-recipes recipes")
    assert (code, "1 violated" in said) == (1, True)


def test_from_nothing_to_a_gate(team: Git) -> None:
    pytest.importorskip("pre_commit", reason='needs pre-commit: pip install -e ".[hooks]"')
    for line in COMMANDS.strip().splitlines():
        code, said = _type(team, line)
        assert code == 0, said
        if line.startswith("gbs init") and not WHEELS:
            _here(team)
    assert "gbs.lock" in team.run("ls-files")

    team.run("checkout", "-q", "-b", "fit-the-memory")
    _change(team)
    code, said = _type(team, "git commit -am 'fit the memory'")
    assert (code, SHOWN.splitlines()[0] in said) == (1, True)
    assert _type(team, "git commit --no-verify -am 'fit the memory'")[0] == 0

    # The pull request, as CI checks it out.
    team.run("checkout", "-q", "main")
    team.run("-c", "user.name=a", "-c", "user.email=a", "merge", "-q", "--no-ff", "--no-verify", "-m", "merge", "fit-the-memory")
    job = yaml.safe_load((team.root / ".github/workflows/gbs.yml").read_text())
    steps = [step["run"] for step in job["jobs"]["gbs"]["steps"] if "run" in step and "pip" not in step["run"]]
    codes = [_type(team, f"GITHUB_STEP_SUMMARY=/dev/stdout; {step}") for step in steps]
    assert [code for code, _ in codes] == [1, 1, 0]
    assert "::error file=recipes/tiny-llm/grpo/math.yaml,line=10" in codes[0][1]
    assert "micro batch size 16 → 14" in codes[2][1]

    # The fix that the finding names.
    (command,) = re.findall(r"run: (gbs fix .*)", _type(team, "gbs check -q")[1])
    assert _type(team, command)[0] == 0
    assert [_type(team, step)[0] for step in steps[:2]] == [0, 0]
