"""Speed as ratios against peers, on the same files in the same run: `python -m benchmarks.ratios [FOLDER]`.

Without FOLDER the recipes are made. Each figure is the median of interleaved rounds. Nothing here is asserted as
seconds anywhere: `docs/speed.md` says which ratios must be reached, and the exit code is 1 if one is worse than it may become.
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
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median

from benchmarks.recipes import make_recipes
from benchmarks.timing import ENVIRONMENT, AtLeast, AtMost, Job, Table, interleave, run

_CHECK = (
    "from pathlib import Path; from pytest_gbs.api import check; from pytest_gbs import Given; "
    "from pytest_gbs.model.settings import Settings; from pytest_gbs.files.worktree import WorkTree; "
    "check(WorkTree(Path({folder!r})), (), Settings(), Given())"
)
_FEW = 250  # recipes, as many as a large repository has
_OF_EACH = 400  # recipes of each style
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


def main() -> int:
    """Measure and print one line per ratio; 1 if one is worse than it may become, else 0."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="leave out the slow peers")
    args = parser.parse_args()
    table = Table()
    with _made() if args.folder is None else nullcontext(args.folder.resolve()) as folder:
        _measure(table, folder, args.rounds, args.quick)
    for line in table.broken:
        print(f"worse than it may become: {line}", file=sys.stderr)
    return 1 if table.broken else 0


@contextmanager
def _made() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        make_recipes(Path(folder), _OF_EACH)
        yield Path(folder)


def _measure(table: Table, folder: Path, rounds: int, quick: bool) -> None:
    files = sorted(path for path in folder.rglob("*.y*ml") if path.is_file())
    print(f"{len(files)} YAML files below {folder.name}")
    recipes = engine(table, folder, files, rounds)
    kept(table, folder)
    one_file(table, rounds)
    programs(table, rounds)
    plugin(table, rounds)
    items(table, rounds)
    if not quick:
        whole_process(table, folder, files, (AtLeast(10, 8), AtLeast(20, 11)))
        with tempfile.TemporaryDirectory() as few:
            for name in recipes[:: max(1, len(recipes) // _FEW)][:_FEW]:
                (Path(few) / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / name, Path(few) / name)
            whole_process(table, Path(few), sorted(path for path in Path(few).rglob("*.y*ml")), (AtLeast(5, 5), AtLeast(8, 5.5)))


def engine(table: Table, folder: Path, files: list[Path], rounds: int) -> list[str]:
    """Time the check of a folder, and of its recipes alone, against the C loader of PyYAML on the same files; which the recipes are."""
    from pytest_gbs import Given
    from pytest_gbs.api import CheckOptions, check
    from pytest_gbs.files.worktree import WorkTree
    from pytest_gbs.model.settings import Settings

    relative = [path.relative_to(folder).as_posix() for path in files]
    recipes = sorted({file.path for file in check(WorkTree(folder), relative, Settings(), Given()).recipes()})
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    for what, names in (("engine", relative), ("recipes alone", recipes)):
        jobs: dict[str, Job] = {
            "alone": lambda names=names: check(WorkTree(folder), names, Settings(), Given()),  # type: ignore[misc]
            "shared": lambda names=names: check(WorkTree(folder), names, Settings(), Given(), CheckOptions(jobs=processors)),  # type: ignore[misc]
            "load": lambda names=names: _load(folder, names),  # type: ignore[misc]
        }
        for job in jobs.values():
            job()
        took = interleave(jobs, rounds)
        against = "x yaml.load(CSafeLoader) alone"
        table.tell(f"{what}, one process", took["alone"] / took["load"], against, AtMost(1.5, 2.4))
        table.tell(f"{what} as `gbs` runs it, {processors} processors", took["shared"] / took["load"], against, AtMost(1.3, 1.5))
    return recipes


def _load(folder: Path, names: list[str]) -> None:
    import yaml

    for name in names:
        try:
            yaml.load((folder / name).read_bytes(), Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError):
            continue


def kept(table: Table, folder: Path) -> None:
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
    table.tell("kept of a file", (after - before) / max(1, len(report.files)) / 1000, "kB", AtMost(2, 2))


def programs(table: Table, rounds: int) -> None:
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
    table.tell("5,000 Python files, 100 of them recipes", took["gbs"] / took["parser"], "x ast.parse alone", AtMost(0.3, 0.15))


def _parse(folder: Path) -> None:
    for path in folder.rglob("*.py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, RecursionError):
            continue


def one_file(table: Table, rounds: int) -> None:
    """Time the whole process on one file against an interpreter that imports yaml and argparse."""
    gbs = Path(sys.executable).with_name("gbs")
    with tempfile.TemporaryDirectory() as folder:
        recipe = Path(folder, "sft.yaml")
        recipe.write_text(
            "# Config for 2 nodes of 8 GPUs with GBS 128\nmodel_name_or_path: m\nmax_length: 8\n"
            "per_device_train_batch_size: 4\ngradient_accumulation_steps: 2\n"
        )
        jobs: dict[str, Job] = {
            "gbs": lambda: run([str(gbs), "check", str(recipe)]),
            "python": lambda: run([sys.executable, "-c", "import yaml, argparse"]),
        }
        took = interleave(jobs, rounds * 4)
    table.tell("one file", took["gbs"] / took["python"], 'x python -c "import yaml, argparse"', AtMost(2, 2.4))


def plugin(table: Table, rounds: int) -> None:
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
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout)
        for _ in range(rounds * 4)
    ]
    table.tell("unused plugin, load and register", median(times), "ms", AtMost(3, 3))


def items(table: Table, rounds: int) -> None:
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
            "gbs": lambda: run([*base, "-q", "--gbs-recipes", str(recipes)], cwd=folder),
            "noop": lambda: run([*base, "-q", str(root / "noop")], cwd=folder),
        }
        jobs["check"] = lambda: run([sys.executable, "-c", _CHECK.format(folder=str(recipes))], cwd=folder)
        jobs["import"] = lambda: run([sys.executable, "-c", _CHECK.format(folder=str(root / "none"))], cwd=folder)
        (root / "none").mkdir()
        took = interleave(jobs, max(3, rounds))
    check = took["check"] - took["import"]
    left_out = "x as many no-op items, the check itself left out"
    table.tell(f"{round(per_file * 1000)} items", (took["gbs"] - check) / took["noop"], left_out, AtMost(1.5, 1.6))
    table.tell("", took["gbs"] / took["noop"], "x with the check")


def whole_process(table: Table, folder: Path, files: list[Path], wanted: tuple[AtLeast, AtLeast]) -> None:
    """Time the whole command against linters and a hand-written test on the same folder, once each but for our own."""
    print(f"the whole process on {len(files)} files")
    names = [str(path) for path in files]
    bin_folder = Path(sys.executable).parent
    with tempfile.TemporaryDirectory() as scratch:
        schema = Path(scratch, "schema.json")
        schema.write_text(json.dumps(_SCHEMA))
        hand = Path(scratch, "test_hand_written.py")
        hand.write_text(_HAND_WRITTEN.format(folder=str(folder)))
        ours = interleave({"gbs": lambda: run([str(bin_folder / "gbs"), "check", "-q", str(folder)])}, 3)["gbs"]
        peers: dict[str, tuple[list[str], AtLeast | None]] = {
            "check-jsonschema": ([str(bin_folder / "check-jsonschema"), "--schemafile", str(schema), *names], wanted[0]),
            "yamllint": ([str(bin_folder / "yamllint"), "-d", "relaxed", *names], wanted[1]),
            "hand-written pytest, safe_load": ([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(hand)], None),
        }
        for name, (command, aim) in peers.items():
            if not Path(command[0]).exists():
                print(f'{name} is not installed: pip install -e ".[bench]"')
                continue
            took = interleave({name: lambda command=command: run(command)}, 1)[name]  # type: ignore[misc]
            table.tell(name, took / ours, "x faster is gbs check, the whole process", aim)


if __name__ == "__main__":
    sys.exit(main())
