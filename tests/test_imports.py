"""What is imported never lies in the repository that is checked: neither its modules nor what looks like an installed package."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import STALE, write

BIN = Path(sys.executable).parent
GBS = [str(BIN / "gbs")]
MODULE = [sys.executable, "-m", "pytest_gbs"]
PYTEST = [str(BIN / "pytest"), "-p", "no:cacheprovider"]
PYTEST_MODULE = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
RAN = "import pathlib\npathlib.Path(__file__).with_name('ran').write_text(__name__)\n"
# All that gbs imports late: what it depends on, and parts of the standard library that neither Python nor pytest has loaded.
LATE = ("yaml", "ruamel", "jsonschema", "tree_sitter", "tree_sitter_bash", "tomllib", "difflib", "unicodedata", "hashlib", "fractions")
RULE = "from pytest_gbs.model.rule import Rule, Scope\nRULE = Rule('EVIL101', 'evil', Scope.FILE, 'nothing', (), (), lambda view: ())\n"
FILES = {
    "recipes/sft.yaml": STALE,
    "recipes/run.sh": "accelerate launch --num_processes 4 train.py --config sft.yaml\n",
    "recipes/config.toml": "[train]\nmicro_batch_size = 4\n",
    "recipes/ds.json": '{"train_micro_batch_size_per_gpu": 4, "train_batch_size": 64}',
    "evil_module.py": RULE + RAN,
    "evil-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n",
    "evil-1.0.dist-info/entry_points.txt": "[pytest_gbs]\nevil = evil_module\n",
}


def _run(command: list[str], folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHON", "GBS", "COV"))}
    line = [*command, *arguments]
    done = subprocess.run(line, cwd=folder, env={**inherited, **environment}, capture_output=True, text=True, timeout=120, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose root holds modules with the names of those that gbs imports."""
    (tmp_path / ".git").mkdir()
    write(tmp_path, {**FILES, **{f"{name}.py": RAN for name in LATE}})
    return tmp_path


CHECKS = {
    "check": ["check", "recipes"],
    "json": ["check", "--format", "json", "recipes"],
    "sarif": ["check", "--format", "sarif", "recipes"],
    "show": ["show", "-v", "recipes"],
    "fix": ["fix", "--fix-settings", "--diff", "recipes"],
    "baseline": ["check", "--write-baseline", "baseline.json"],
    "scale": ["scale", "--world-size", "8", "--diff", "recipes/sft.yaml"],
}


@pytest.mark.parametrize("arguments", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("command", [GBS, MODULE], ids=["gbs", "python -m"])
def test_no_module_of_the_current_folder_is_imported(command: list[str], arguments: list[str], repo: Path) -> None:
    code, said = _run(command, repo, *arguments)
    assert not (repo / "ran").exists()
    assert code in (0, 1), said


def test_settings_are_read_with_modules_of_the_installation(repo: Path) -> None:
    write(repo, {"gbs.toml": 'exclude = ["none"]\n[[frameworks]]\nname = 1\n'})
    for command in (GBS, MODULE):
        assert "frameworks" in _run(command, repo, "check")[1]
        assert not (repo / "ran").exists()


@pytest.mark.parametrize("command", [GBS, MODULE], ids=["gbs", "python -m"])
def test_no_plugin_is_found_in_the_current_folder(command: list[str], repo: Path) -> None:
    write(repo, {"gbs.toml": 'plugins = ["evil"]\n'})
    code, said = _run(command, repo, "check")
    assert (code, "no installed package offers" in said) == (2, True), said
    assert not (repo / "ran").exists()


@pytest.mark.parametrize("command", [GBS, MODULE], ids=["gbs", "python -m"])
def test_a_folder_that_a_person_puts_on_the_path_counts(command: list[str], tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "gbs.toml": 'plugins = ["evil"]\n'})
    code, said = _run(command, tmp_path, "rules", PYTHONPATH=str(tmp_path))
    assert (code, "EVIL101" in said, (tmp_path / "ran").exists()) == (0, True, True), said


def test_a_current_folder_that_is_gone(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    line = 'cd "$1" && rmdir "$1" && exec "$2" -m pytest_gbs --version'
    done = subprocess.run(["sh", "-c", line, "sh", str(gone), sys.executable], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


# What pytest puts in front of all others: the folder of a conftest.py, those of the ini option `pythonpath`, the current one.
WAYS = {
    "python -m": (PYTEST_MODULE, {}),
    "conftest": (PYTEST, {"conftest.py": ""}),
    "pythonpath": (PYTEST, {"pytest.ini": "[pytest]\npythonpath = .\n"}),
    "workers": ([*PYTEST_MODULE, "-n", "1"], {"conftest.py": ""}),
}


@pytest.mark.parametrize(("command", "files"), WAYS.values(), ids=WAYS)
def test_recipes_in_pytest_import_no_module_of_the_repository(command: list[str], files: dict[str, str], repo: Path) -> None:
    write(repo, files)
    for name in ("difflib", "unicodedata", "hashlib", "fractions"):  # pytest itself imports these
        (repo / f"{name}.py").unlink()
    code, said = _run(command, repo, "--gbs-recipes", "recipes", "-p", "no:randomly", "-p", "no:hypothesispytest")
    assert (code, "recipes/sft.yaml::GBS101" in said) == (1, True), said
    assert not (repo / "ran").exists()


@pytest.mark.parametrize(("command", "files"), WAYS.values(), ids=WAYS)
def test_no_plugin_is_found_in_the_repository_by_pytest(command: list[str], files: dict[str, str], repo: Path) -> None:
    write(repo, {**files, "gbs.toml": 'plugins = ["evil"]\n'})
    for name in LATE:
        (repo / f"{name}.py").unlink()
    code, said = _run(command, repo, "--gbs-recipes", "recipes")
    assert (code, "no installed package offers" in said) == (4, True), said
    assert not (repo / "ran").exists()


@pytest.mark.parametrize("command", [[*PYTEST, "-q"], [*PYTEST, "-q", "-n", "1"]], ids=["alone", "workers"])
def test_a_plugin_on_the_path_of_a_person_counts_in_pytest(command: list[str], tmp_path: Path) -> None:
    write(tmp_path, {**FILES, "gbs.toml": 'plugins = ["evil"]\n', "conftest.py": ""})
    code, said = _run(command, tmp_path, "--gbs-recipes", "recipes", PYTHONPATH=str(tmp_path))
    assert (code, "recipes/sft.yaml::GBS101" in said, (tmp_path / "ran").exists()) == (1, True, True), said


def test_a_test_of_ones_own_imports_as_before(repo: Path) -> None:
    head = "import pytest\n\n@pytest.mark.gbs_recipes('recipes/sft.yaml')\n"
    test = f"{head}def test_own(recipe):\n    import mine\n    assert recipe.micro_batch_size == 4\n"
    write(repo, {"test_own.py": test, "mine.py": "", "conftest.py": ""})
    code, said = _run(PYTEST, repo, "-p", "no:randomly", "-p", "no:hypothesispytest")
    assert (code, "1 passed" in said) == (0, True), said
    assert not (repo / "ran").exists()
