"""Speed as ratios against peers, on the same files in the same run: `python -m benchmarks.ratios FOLDER`.

Each figure is the median of interleaved rounds, so that a noisy machine disturbs both sides alike. Nothing here is asserted as
seconds anywhere; `docs/speed.md` says which ratios must be reached.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median

Job = Callable[[], object]
_CHECK = (
    "from pathlib import Path; from pytest_gbs.api import check; from pytest_gbs import Given; "
    "from pytest_gbs.model.settings import Settings; from pytest_gbs.files.worktree import WorkTree; "
    "check(WorkTree(Path({folder!r})), (), Settings(), Given())"
)
# A new machine writes byte code once; a setting that forbids it would measure the compiler.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
_FEW = 250  # recipes, as many as a large repository has
_SCHEMA = {"type": "object", "properties": {"per_device_train_batch_size": {"type": "integer", "minimum": 1}}}
_HAND_WRITTEN = """\
import pathlib, pytest, yaml

FILES = sorted(p for p in pathlib.Path({folder!r}).rglob("*.y*ml") if p.is_file())

@pytest.mark.parametrize("path", FILES, ids=str)
def test_recipe(path):
    try:
        recipe = yaml.safe_load(path.read_bytes())
    except yaml.YAMLError:
        return
    if isinstance(recipe, dict) and "per_device_train_batch_size" in recipe:
        assert recipe["per_device_train_batch_size"] != 0
"""


def main() -> None:
    """Measure and print one line per ratio."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out the slow peers")
    args = parser.parse_args()
    folder = args.folder.resolve()
    files = sorted(path for path in folder.rglob("*.y*ml") if path.is_file())
    print(f"{len(files)} YAML files below {folder.name}")
    recipes = engine(folder, files, args.rounds)
    kept(folder)
    one_file(files[0], args.rounds)
    programs(args.rounds)
    plugin(args.rounds)
    items(args.rounds)
    if not args.quick:
        whole_process(folder, files)
        with tempfile.TemporaryDirectory() as few:
            for name in recipes[:: max(1, len(recipes) // _FEW)][:_FEW]:
                (Path(few) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / name, Path(few) / name)
            whole_process(Path(few), sorted(path for path in Path(few).rglob("*.y*ml")), ("at least 5", "at least 8"))


def interleave(jobs: dict[str, Job], rounds: int) -> dict[str, float]:
    """The median seconds of each job, all run in turn in each round."""
    taken: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            job()
            taken[name].append(time.perf_counter() - start)
    return {name: median(times) for name, times in taken.items()}


def tell(name: str, ratio: float, against: str, wanted: str) -> None:
    """Print one ratio."""
    print(f"{name:<38} {ratio:6.2f} x {against:<44} wanted: {wanted}")


def engine(folder: Path, files: list[Path], rounds: int) -> list[str]:
    """Time the check of a folder, and of its recipes alone, against the C loader of PyYAML on the same files; which the recipes are."""
    from pytest_gbs import Given
    from pytest_gbs.api import check
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.model.settings import Settings

    relative = [path.relative_to(folder).as_posix() for path in files]
    recipes = sorted({file.path for file in check(WorkTree(folder), relative, Settings(), Given()).recipes()})
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    for what, names in (("engine", relative), ("recipes alone", recipes)):
        jobs: dict[str, Job] = {
            "alone": lambda names=names: check(WorkTree(folder), names, Settings(), Given()),  # type: ignore[misc]
            "shared": lambda names=names: check(WorkTree(folder), names, Settings(), Given(), jobs=processors),  # type: ignore[misc]
            "load": lambda names=names: _load(folder, names),  # type: ignore[misc]
        }
        for job in jobs.values():
            job()
        took = interleave(jobs, rounds)
        against = "yaml.load(CSafeLoader) alone"
        tell(f"{what}, one process", took["alone"] / took["load"], against, "at most 1.5")
        tell(f"{what} as `gbs` runs it, {processors} processors", took["shared"] / took["load"], against, "at most 1.3")
    return recipes


def _load(folder: Path, names: list[str]) -> None:
    import yaml

    for name in names:
        try:
            yaml.load((folder / name).read_bytes(), Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError):
            continue


def kept(folder: Path) -> None:
    """Measure what a report keeps in memory for each file."""
    from pytest_gbs import Given
    from pytest_gbs.api import check
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.model.settings import Settings

    check(WorkTree(folder), (), Settings(), Given())
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    report = check(WorkTree(folder), (), Settings(), Given())
    gc.collect()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(f"{'kept per file':<38} {(after - before) / max(1, len(report.files)):6.0f} bytes {'':<41} wanted: at most 2,000")


def programs(rounds: int) -> None:
    """Time the check of 5,000 Python files, of which 100 call a trainer, against Python's own parser on the same files."""
    from pytest_gbs import Given
    from pytest_gbs.api import check
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.model.settings import Settings

    library = sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py"))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(4_900):
            package = Path(folder, f"package{number // 100}")
            package.mkdir(exist_ok=True)
            (package / f"module{number}.py").write_bytes(library[number % len(library)].read_bytes())
        for number in range(100):
            call = f"SFTConfig(\n    per_device_train_batch_size={number + 1},\n    gradient_accumulation_steps=2,\n)"
            Path(folder, f"train{number}.py").write_text(f"from trl import SFTConfig\nargs = {call}\n")
        jobs: dict[str, Job] = {
            "gbs": lambda: check(WorkTree(Path(folder)), (), Settings(), Given()),
            "parser": lambda: _parse(Path(folder)),
        }
        took = interleave(jobs, rounds)
    tell("5,000 Python files, 100 of them recipes", took["gbs"] / took["parser"], "ast.parse alone", "at most 0.3")


def _parse(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue


def one_file(path: Path, rounds: int) -> None:
    """Time the whole process on one file against an interpreter that imports yaml and argparse."""
    gbs = Path(sys.executable).with_name("gbs")
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "sft.yaml")
        recipe.write_text(
            "# Config for 2 nodes of 8 GPUs with GBS 128\nmodel_name_or_path: m\nmax_length: 8\n"
            "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
        )
        jobs: dict[str, Job] = {
            "gbs": lambda: _run([str(gbs), "check", str(recipe)]),
            "python": lambda: _run([sys.executable, "-c", "import yaml, argparse"]),
        }
        took = interleave(jobs, rounds * 4)
    tell("one file", took["gbs"] / took["python"], 'python -c "import yaml, argparse"', "at most 2.0")
    assert path.exists()


def plugin(rounds: int) -> None:
    """Time loading and registering the plugin where nobody asked for recipes."""
    code = (
        "import sys, time; sys.argv = ['pytest']\n"
        "import pytest, _pytest.config\n"
        "from importlib.metadata import entry_points\n"
        "config = _pytest.config.get_config([], None)\n"
        "entry = next(e for e in entry_points(group='pytest11') if e.name == 'gbs')\n"
        "start = time.perf_counter(); loaded = entry.load(); config.pluginmanager.register(loaded, 'gbs')\n"
        "print((time.perf_counter() - start) * 1000)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=_ENVIRONMENT).stdout)
        for _ in range(rounds * 4)
    ]
    print(f"{'unused plugin, load and register':<38} {median(times):6.2f} ms {'':<43} wanted: at most 3")


def items(rounds: int) -> None:
    """Time a pytest run over many recipe items against as many no-op items of a plain plug-in."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        recipes = root / "recipes"
        recipes.mkdir()
        text = (
            "# Config for 2 nodes of 8 GPUs with GBS 128\nmodel_name_or_path: m\nmax_length: 8\n"
            "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
        )
        for number in range(1000):
            (recipes / f"sft-{number}.yaml").write_text(text)
        (root / "pytest.ini").write_text("[pytest]\n")
        base = [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:xdist", "-p", "no:cacheprovider", "--rootdir", folder]
        out = subprocess.run(
            [*base, "--gbs-recipes", str(recipes), "--co", "-q"], capture_output=True, text=True, cwd=folder, check=False
        ).stdout
        per_file = sum("::" in line for line in out.splitlines()) / 1000
        (root / "noop").mkdir()
        (root / "noop" / "conftest.py").write_text(
            "import pytest\n"
            "class Item(pytest.Item):\n"
            "    def runtest(self): pass\n"
            "class File(pytest.File):\n"
            "    def collect(self):\n"
            f"        return [Item.from_parent(self, name=f'GBS{{n}}') for n in range({max(1, round(per_file))})]\n"
            "def pytest_collect_file(file_path, parent):\n"
            "    if file_path.suffix == '.yaml': return File.from_parent(parent, path=file_path)\n"
        )
        for number in range(1000):
            (root / "noop" / f"sft-{number}.yaml").write_text(text)
        jobs: dict[str, Job] = {
            "gbs": lambda: _run([*base, "-q", "--gbs-recipes", str(recipes)], cwd=folder),
            "noop": lambda: _run([*base, "-q", str(root / "noop")], cwd=folder),
        }
        jobs["check"] = lambda: _run([sys.executable, "-c", _CHECK.format(folder=str(recipes))], cwd=folder)
        jobs["import"] = lambda: _run([sys.executable, "-c", _CHECK.format(folder=str(root / "none"))], cwd=folder)
        (root / "none").mkdir()
        took = interleave(jobs, max(3, rounds))
    check = took["check"] - took["import"]
    tell(
        f"{round(per_file * 1000)} items",
        (took["gbs"] - check) / took["noop"],
        "as many no-op items, the check itself left out",
        "at most 1.5",
    )
    tell("", took["gbs"] / took["noop"], "with the check", "")


def whole_process(folder: Path, files: list[Path], wanted: tuple[str, str] = ("at least 10", "at least 20")) -> None:
    """Time the whole command against linters and a hand-written test on the same folder, once each but for our own."""
    print(f"the whole process on {len(files)} files")
    names = [str(path) for path in files]
    bin_folder = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as scratch:
        schema = Path(scratch, "schema.json")
        schema.write_text(json.dumps(_SCHEMA))
        hand = Path(scratch, "test_hand_written.py")
        hand.write_text(_HAND_WRITTEN.format(folder=str(folder)))
        ours = interleave({"gbs": lambda: _run([str(bin_folder / "gbs"), "check", "-q", str(folder)])}, 3)["gbs"]
        peers: dict[str, tuple[list[str], str]] = {
            "check-jsonschema": ([str(bin_folder / "check-jsonschema"), "--schemafile", str(schema), *names], wanted[0]),
            "yamllint": ([str(bin_folder / "yamllint"), "-d", "relaxed", *names], wanted[1]),
            "hand-written pytest, safe_load": ([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(hand)], ""),
        }
        for name, (command, aim) in peers.items():
            if not Path(command[0]).exists():
                print(f'{name} is not installed: pip install -e ".[bench]"')
                continue
            took = interleave({name: lambda command=command: _run(command)}, 1)[name]  # type: ignore[misc]
            tell(name, took / ours, "gbs check, whole process", aim)


def _run(command: list[str], cwd: str | None = None) -> None:
    subprocess.run(command, capture_output=True, cwd=cwd, check=False, env=_ENVIRONMENT)


if __name__ == "__main__":
    main()
