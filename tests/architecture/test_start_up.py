"""What is loaded on the way to one recipe: a list, since seconds depend on the machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.api import check
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.report import Verdict
from pytest_gbs.model.settings import Settings

RECIPE = """\
# global batch size 64 = 4 x 2 x 8 GPUs
model_name_or_path: my/model
dataset_name: my/dialogues
max_length: 2048
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
# Each takes longer to import than a recipe takes to check, or is for other ways through the program.
HEAVY = (
    "argparse",
    "concurrent",
    "dataclasses",
    "decimal",
    "difflib",
    "fractions",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json",
    "jsonschema",
    "logging",
    "pathlib",
    "pkgutil",
    "pytest",
    "ruamel",
    "subprocess",
    "tempfile",
    "tomllib",
)
NOT_NEEDED = (
    "pytest_gbs.checking.strict",
    "pytest_gbs.frameworks.feasible",
    "pytest_gbs.model.suppression",
    "pytest_gbs.formats._excerpt",
    "pytest_gbs.formats._width",
    "pytest_gbs.frameworks._building",
    "pytest_gbs.frameworks._files",
    "pytest_gbs.frameworks._notation",
    "pytest_gbs.launches.programs.accelerate",
    "pytest_gbs.readers.json_reader",
    "pytest_gbs.shell",
    "pytest_gbs.files.words",
    "pytest_gbs.pytest_plugin.hooks",
    "pytest_gbs.settings.hardware",
    "pytest_gbs.settings.reading",
    "pytest_gbs.settings.selection",
    "pytest_gbs.checking.ignore",
    "pytest_gbs.files.gitignore",
    "pytest_gbs.files.overlay",
)
CHECK = """\
import gc, sys
sys.argv[1:] = ["check", "sft.yaml"]
from pytest_gbs.cli import run
def searches(): return sum(generation["collections"] for generation in gc.get_stats())
before = searches()
try:
    run()
finally:
    print(*sys.modules, f"searches:{searches() - before}", sep="\\n", file=sys.stderr)
"""
PLUGIN = """\
import sys
import pytest
before = set(sys.modules)
import pytest_gbs.pytest_plugin.hooks
print(*sorted(set(sys.modules) - before), sep="\\n", file=sys.stderr)
"""


def _loaded(script: str, folder: Path) -> tuple[int, str, list[str]]:
    """Return the exit code of `script`, what it prints, and the modules that it lists."""
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.split()


def _loaded_by_python(folder: Path) -> set[str]:
    return set(_loaded("import sys, yaml\nprint(*sys.modules, sep='\\n', file=sys.stderr)", folder)[2])


@pytest.fixture(scope="module")
def check_loads(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What checking one small recipe loads beyond Python and PyYAML themselves."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "sft.yaml").write_text(RECIPE)
    code, said, modules = _loaded(CHECK, folder)
    assert (code, said) == (0, "1 recipe in 1 file: 1 verified\n")
    assert "pytest_gbs.api" in modules
    return set(modules) - _loaded_by_python(folder)


def test_one_recipe_is_not_searched_for_garbage(check_loads: set[str]) -> None:
    assert "searches:0" in check_loads


@pytest.mark.parametrize("name", HEAVY)
def test_one_recipe_needs_no(name: str, check_loads: set[str]) -> None:
    assert name not in check_loads


@pytest.mark.parametrize("name", NOT_NEEDED)
def test_one_recipe_loads_nothing_of_ours_for_other_purposes(name: str, check_loads: set[str]) -> None:
    assert name not in check_loads


def test_the_plugin_loads_nothing_that_pytest_has_not_loaded(tmp_path: Path) -> None:
    code, _, modules = _loaded(PLUGIN, tmp_path)
    assert (code, modules) == (
        0,
        ["pytest_gbs", "pytest_gbs.pytest_plugin", "pytest_gbs.pytest_plugin.hooks", "pytest_gbs.pytest_plugin.installed"],
    )


class _Listed:
    """A tree of one file that counts how often it is listed."""

    def __init__(self) -> None:
        self.listings = 0

    def paths(self) -> tuple[str, ...]:
        self.listings += 1
        return ("sft.yaml",)

    def read(self, path: str) -> Source | Unreadable:
        return Source(path, RECIPE) if path == "sft.yaml" else Unreadable(path, "there is no such file")


def test_a_tree_is_listed_once() -> None:
    tree = _Listed()
    report = check(tree, ("sft.yaml",), Settings(), Given())
    assert tree.listings == 1
    assert [(file.path, file.verdict, file.named) for file in report.files] == [("sft.yaml", Verdict.VERIFIED, True)]
