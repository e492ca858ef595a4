"""The hooks under pre-commit itself (extra `hooks`): what a stranger calls a file runs nothing and hides nothing."""

import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_gbs.cli._snippets import snippets
from tests.cli.support import GOOD, OPEN, STALE, UNCLAIMED, write
from tests.git import Git
from tests.support import PYTHON

pytest.importorskip("pre_commit", reason='needs pre-commit: pip install -e ".[hooks]"')

ROOT = Path(__file__).parents[2]
MANIFEST = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
SNIPPET = yaml.safe_load(list(snippets("", frozenset(), "none"))[1].text)
GBS = f"{shlex.join(PYTHON)} -m pytest_gbs"
RULE = "open('ran', 'w').close()\nRULES = ()\n"
EVIL = (
    "--allow-local-rules=evil.yaml",
    "--output-file=instruct.yaml",
    "--write-baseline=instruct.yaml",
    "--exclude=**.yaml",
    "--config=settings.yaml",
    "-d.yaml",
)


def _here(hook: dict[str, Any]) -> dict[str, Any]:
    """A hook that runs the code under test: installed already, not by pre-commit."""
    entry = hook["entry"].replace("gbs", GBS, 1)
    return {**{key: value for key, value in hook.items() if key != "additional_dependencies"}, "language": "system", "entry": entry}


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Run pre-commit with a configuration on all files of a repository."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git = Git(folder).init()

    def run(files: dict[str, str], config: dict[str, Any]) -> tuple[int, str]:
        write(folder, {**files, ".pre-commit-config.yaml": yaml.safe_dump(config)})
        git.run("add", "--all")
        before = {path: (folder / path).read_bytes() for path in files}
        environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home"), "PRE_COMMIT_COLOR": "never"}
        command = [sys.executable, "-m", "pre_commit", "run", "--all-files", "--verbose"]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert not (folder / "ran").exists()
        assert {path: (folder / path).read_bytes() for path in files} == before
        return done.returncode, done.stdout + done.stderr

    return run


def _offered(tmp_path: Path, name: str, **more: Any) -> dict[str, Any]:
    """The configuration of a user of this repository's hooks."""
    offers = tmp_path / "offers"
    offers.mkdir()
    git = Git(offers).init()
    revision = git.commit({".pre-commit-hooks.yaml": yaml.safe_dump([_here(hook) for hook in MANIFEST])})
    return {"repos": [{"repo": str(offers), "rev": revision, "hooks": [{"id": name, **more}]}]}


def _initial(**more: Any) -> dict[str, Any]:
    """The configuration that `gbs init` writes."""
    (repository,) = SNIPPET["repos"]
    (hook,) = repository["hooks"]
    return {"repos": [{**repository, "hooks": [{**_here(hook), **more}]}]}


def _evil() -> dict[str, str]:
    return {"settings.yaml": "exclude = ['**']\n", "evil.yaml/rule.py": RULE, "instruct.yaml": STALE, **dict.fromkeys(EVIL, STALE)}


def test_good_recipes_pass(run: Any) -> None:
    code, out = run({"sft.yaml": GOOD, "plain.yaml": UNCLAIMED, "ci.yml": "on: push\n"}, _initial())
    assert (code, "1 verified, 1 unclaimed" in out) == (0, True), out


def test_a_person_may_give_flags(run: Any) -> None:
    assert run({"open.yaml": OPEN}, _initial(args=["--strict"]))[0] == 1
    assert run({"open.yaml": OPEN}, _initial(args=["--strict", "--gpus-per-node", "8"]))[0] == 0
    assert run({"old/sft.yaml": STALE}, _initial(args=["--exclude", "old", "--"]))[0] == 0


@pytest.mark.parametrize("name", ["gbs-check", "gbs-fix"])
def test_a_file_name_is_not_a_flag_for_the_hooks_that_are_offered(name: str, run: Any, tmp_path: Path) -> None:
    code, out = run(_evil(), _offered(tmp_path, name))
    assert (code, f"{len(EVIL) + 1} violated" in out) == (1, True), out


def test_a_file_name_is_not_a_flag_for_the_hook_that_init_writes(run: Any) -> None:
    code, out = run(_evil(), _initial())
    assert (code, f"{len(EVIL) + 1} violated" in out) == (1, True), out


@pytest.mark.parametrize("arguments", [[], ["--world-size", "16"], ["-q"]], ids=" ".join)
def test_a_file_name_is_not_a_flag_where_the_arguments_of_a_person_lack_the_end(arguments: list[str], run: Any, tmp_path: Path) -> None:
    code, out = run(_evil(), _offered(tmp_path, "gbs-check", args=arguments))
    assert (code, out.count("GBS101")) == (1, len(EVIL) + 1), out


def test_flags_that_weaken_the_check_need_the_end(run: Any) -> None:
    code, out = run({"sft.yaml": STALE}, _initial(args=["--exit-zero"]))
    assert (code, "if it is a flag, write: args: [--exit-zero, --]" in out) == (1, True), out
