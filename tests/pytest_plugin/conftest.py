"""A repository with one recipe of each verdict, for the tests of the pytest plug-in."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from pytest_gbs import Given, Settings
from pytest_gbs.files.worktree import WorkTree
from tests.cli import support
from tests.support import check

RECIPE = "model_name_or_path: base\ndataset_name: data\nnum_train_epochs: 1\npacking: false\nmax_length: 2048\n"


def recipe(comment: str, micro: int = 1, accumulation: int = 2) -> str:
    """A recipe under `comment` whose product is `micro` x `accumulation` per GPU."""
    sizes = f"per_device_train_batch_size: {micro}\ngradient_accumulation_steps: {accumulation}\n"
    return f"{comment}\n{RECIPE}{sizes}" if comment else RECIPE + sizes


VERIFIED = recipe("# gbs: 128 on 8 nodes x 8 gpus")
VIOLATED = recipe("# gbs: 128 on 8 nodes x 8 gpus", accumulation=4)
UNDETERMINED = recipe("# gbs: 128 on 8 nodes")
UNCLAIMED = recipe("")


@pytest.fixture(scope="session", autouse=True)
def _imported_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Import all of gbs before pytester remembers which modules there are, so that runs in this process share them."""
    for module in ("pytest_plugin.marker", "pytest_plugin.session", "settings"):
        import_module(f"pytest_gbs.{module}")
    root = tmp_path_factory.mktemp("imports")
    (root / "a.yaml").write_text(VIOLATED, encoding="utf-8")
    check(WorkTree(root), [], Settings(), Given())


Write = Callable[[dict[str, str]], Path]


@pytest.fixture(autouse=True)
def _without_other_plugins(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out of the inner runs what takes half a second to import and has nothing to do with us."""
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")


@pytest.fixture
def write(pytester: pytest.Pytester) -> Write:
    """What writes files into a repository that is marked as one."""

    return lambda files: support.write(pytester.path, {"gbs.toml": "", **files})


@pytest.fixture
def repository(write: Write) -> Path:
    """A repository with four recipes, one file that is none, and a test."""
    return write(
        {
            "recipes/good.yaml": VERIFIED,
            "recipes/stale.yaml": VIOLATED,
            "recipes/open.yaml": UNDETERMINED,
            "recipes/plain.yaml": UNCLAIMED,
            "recipes/ci.yml": "name: ci\non: push\njobs: {}\n",
            "tests/test_code.py": "def test_code():\n    pass\n",
        }
    )
