"""The hooks see every file that a check would look at."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_gbs.cli._snippets import snippets
from pytest_gbs.model.document import COMMANDS, CONFIGURATIONS, MAKEFILES

ROOT = Path(__file__).parents[2]


def _offered() -> dict[str, str]:
    return {hook["id"]: hook.get("files", "") for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}


def _initial() -> dict[str, Any]:
    _, snippet = snippets("", frozenset(), "none")
    hook: dict[str, Any] = yaml.safe_load(snippet.text)["repos"][0]["hooks"][0]
    return hook


@pytest.mark.parametrize("path", ["train.cpp", "data.csv", "notes.txt", "gbs.lock.bak", "sub/gbs.lock", "cmakefile", "a.yaml.orig"])
def test_the_hook_leaves_out_what_no_check_reads(path: str) -> None:
    assert not re.search(_offered()["gbs-check"], path)


@pytest.mark.parametrize(
    "path",
    [*(f"recipes/a{suffix}" for suffix in (*CONFIGURATIONS, *COMMANDS)), *MAKEFILES, *(f"sub/{name}" for name in MAKEFILES), "gbs.lock"],
)
def test_the_hook_sees_recipes_launches_and_the_lock(path: str) -> None:
    assert re.search(_offered()["gbs-check"], path)


def test_the_hook_that_init_writes_sees_the_same_files() -> None:
    assert _initial()["files"] == _offered()["gbs-check"]


def test_file_names_come_behind_the_end_of_the_flags() -> None:
    for hook in (*yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()), _initial()):
        assert hook["args"][-1] == "--"
        assert hook["entry"].endswith(" --hook")
