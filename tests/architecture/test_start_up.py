"""How much is loaded on the way to one recipe: counted, since seconds depend on the machine."""

import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from pytest_gbs import Given
from pytest_gbs.files.toml import tomllib
from pytest_gbs.model.location import Source, Unreadable
from pytest_gbs.model.report import Verdict
from pytest_gbs.model.settings import Settings
from tests.support import check

RECIPE = """\
# global batch size 64 = 4 x 2 x 8 GPUs
model_name_or_path: my/model
dataset_name: my/dialogues
max_length: 2048
per_device_train_batch_size: 4
gradient_accumulation_steps: 2
"""
# What one recipe may load, beyond `import yaml, argparse`: each module costs about as much as reading the recipe.
MOST_OF_OURS = 137
MOST_OF_PYTHON = 9
ALLOWED = {"PyYAML"}  # it reads the recipe
CHECK = """\
import gc, sys
sys.argv[1:] = ["check", "sft.yaml"]
from pytest_gbs.cli import exit_code
def searches(): return sum(generation["collections"] for generation in gc.get_stats())
before = searches()
try:
    sys.exit(exit_code())
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
    """The exit code of `script`, what it prints, and the modules that it lists."""
    done = subprocess.run([sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr.split()


def _dependencies() -> dict[str, str]:
    """The modules of the libraries that the package depends on, each with its library."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    libraries = [re.split(r"[^\w.-]", line)[0] for line in project["dependencies"]]
    return {name: library for name, owners in packages_distributions().items() for library in libraries if library in owners}


@pytest.fixture(scope="module")
def check_loads(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """What checking one small recipe loads beyond what it is compared with."""
    folder = tmp_path_factory.mktemp("one")
    (folder / "sft.yaml").write_text(RECIPE)
    code, said, modules = _loaded(CHECK, folder)
    assert (code, said) == (0, "1 recipe in 1 file: 1 verified\n")
    assert "pytest_gbs.api" in modules
    compared = f"import sys, yaml, argparse{', regex' * (sys.version_info < (3, 11))}"
    return set(modules) - set(_loaded(f"{compared}\nprint(*sys.modules, sep='\\n', file=sys.stderr)", folder)[2])


def test_one_recipe_is_not_searched_for_garbage(check_loads: set[str]) -> None:
    assert "searches:0" in check_loads


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not tell which modules belong to a package without a list of them")
def test_one_recipe_needs_no_library_but_the_one_that_reads_it(check_loads: set[str]) -> None:
    libraries = _dependencies()
    assert {"PyYAML", "jsonschema", "pytest"} <= set(libraries.values())
    assert {libraries[name] for name in check_loads if name in libraries} <= ALLOWED


def test_one_recipe_needs_few_modules(check_loads: set[str]) -> None:
    ours = {name for name in check_loads if name.partition(".")[0] == "pytest_gbs"}
    of_python = {name for name in check_loads - ours if name.partition(".")[0] in sys.stdlib_module_names}
    assert len(ours) <= MOST_OF_OURS
    assert len(of_python) <= MOST_OF_PYTHON, sorted(of_python)
    assert "typing" not in of_python, "what it is needed for is in pytest_gbs.model.record"


def test_the_plugin_loads_nothing_that_pytest_has_not_loaded(tmp_path: Path) -> None:
    code, _, modules = _loaded(PLUGIN, tmp_path)
    assert (code, modules) == (
        0,
        ["pytest_gbs", "pytest_gbs.pytest_plugin", "pytest_gbs.pytest_plugin.hooks"],
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
