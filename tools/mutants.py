"""`python -m tools.mutants DATA FOLDER ...`: change the code below FOLDERs at random places, one at a time, and see which tests notice.

DATA is what `coverage run -m pytest` left (`.coverage`): a change is tested by the very tests that ran its line. The work is done in a
copy of the checkout. Each mutant is printed as a row: what became of it, place, before, after, line. Read those that survived: either
the change makes no difference, or a test is missing.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

_ROOT: Final = Path(__file__).resolve().parent.parent
_SECONDS: Final = 120  # after which a mutant counts as noticed: it made something endless
_MOST_TESTS: Final = 60
_OPPOSITE: Final = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
_OPERATORS: Final = {"+": "-", "-": "+", "*": "+", "//": "*", "%": "//"}


class Mutant(NamedTuple):
    """One change: `before` becomes `after` at `start`, an offset in the bytes of the file."""

    path: Path
    line: int
    start: int
    before: bytes
    after: bytes


class _File:
    """A module of which the mutants are wanted."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, path.read_bytes()
        self._lines = [0]
        for line in self.data.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def mutants(self) -> Iterator[Mutant]:
        """Yield a mutant for each place in a function that has one."""
        tree = ast.parse(self.data)
        functions = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef))
        inside = dict.fromkeys(node for function in functions for statement in function.body for node in _below(statement))
        for node in inside:
            yield from self._of(node)

    def _of(self, node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            yield self._between(node.left, node.comparators[0], _OPPOSITE[type(node.ops[0])])
        elif isinstance(node, ast.BoolOp):
            yield self._between(node.values[0], node.values[1], "or" if isinstance(node.op, ast.And) else "and")
        elif isinstance(node, ast.BinOp):
            sign = self.data[self._stop(node.left) : self._start(node.right)].strip(b" ()\n").decode()
            if sign in _OPERATORS:
                yield self._between(node.left, node.right, _OPERATORS[sign])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield self._change(node, self._start(node), self._start(node) + len("not"), "")
        elif isinstance(node, ast.Constant) and isinstance(node.value, (bool, int)):
            after = str(not node.value) if isinstance(node.value, bool) else str(node.value + 1)
            yield self._change(node, self._start(node), self._stop(node), after)
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield self._change(node, self._start(node.value), self._stop(node.value), "None")
        elif isinstance(node, ast.Continue):
            yield self._change(node, self._start(node), self._stop(node), "break")

    def _between(self, left: ast.expr, right: ast.expr, after: str) -> Mutant:
        """A mutant of the operator between two operands, whatever brackets stand around these."""
        start, stop = self._stop(left), self._start(right)
        between = self.data[start:stop]
        bare = between.strip(b" ()\r\n\t")
        start += between.index(bare)
        return self._change(left, start, start + len(bare), after)

    def _change(self, node: ast.AST, start: int, stop: int, after: str) -> Mutant:
        return Mutant(self.path, node.lineno, start, self.data[start:stop], after.encode())  # type: ignore[attr-defined]

    def _start(self, node: ast.AST) -> int:
        return self._lines[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined,no-any-return]

    def _stop(self, node: ast.AST) -> int:
        return self._lines[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined,no-any-return]


def _below(node: ast.AST) -> Iterator[ast.AST]:
    """Yield `node` and all below it but what is in an f-string, the places of which Python before 3.12 does not tell."""
    if not isinstance(node, ast.JoinedStr):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _below(child)


def mutants(folders: list[Path]) -> list[Mutant]:
    """Every mutant of the modules below `folders`, in the same order each time."""
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    return [each for path in paths for each in _File(path).mutants() if each.before != each.after]


def tests_of(data: Path) -> dict[tuple[str, int], list[str]]:
    """The tests that ran each line, as pytest names them, by the path below the root and the line; those that run little come first."""
    from coverage import CoverageData  # noqa: PLC0415 - only who runs this needs it

    read = CoverageData(basename=str(data))
    read.read()
    found: dict[tuple[str, int], list[str]] = {}
    for file in read.measured_files():
        path = "src/" + file.rpartition("/src/")[2]
        for line, contexts in read.contexts_by_lineno(file).items():
            found[path, line] = [_test(each) for each in contexts if each.startswith("tests.") and ".test_" in each]
    reach = Counter(test for tests in found.values() for test in tests)
    return {place: sorted(tests, key=lambda test: (reach[test], test)) for place, tests in found.items()}


def _test(context: str) -> str:
    """A test as pytest names it, of its dotted name: the modules, a class if there is one, and the function."""
    parts = context.split(".")
    modules = next((index for index, part in enumerate(parts) if part[0].isupper()), len(parts) - 1)
    return "::".join(("/".join(parts[:modules]) + ".py", *parts[modules:]))


def fate(mutant: Mutant, copy: Path, tests: list[str]) -> str:
    """What becomes of `mutant` when `tests` run in `copy` of the checkout."""
    if not tests:
        return "unreached"
    target = copy / mutant.path.relative_to(_ROOT)
    original, written = target.read_bytes(), target.stat()
    target.write_bytes(original[: mutant.start] + mutant.after + original[mutant.start + len(mutant.before) :])
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "CI": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return "killed"
    finally:
        target.write_bytes(original)
        os.utime(target, ns=(written.st_atime_ns, written.st_mtime_ns))
    return {0: "survived", 4: "no such test", 5: "no such test"}.get(done.returncode, "killed")


def _nearest(tests: list[str], path: Path) -> list[str]:
    """The first of `tests`, those of the same room before the others, and among these the ones that name the module."""
    room, name = path.relative_to(_ROOT / "src/pytest_gbs").parts[0], path.stem.strip("_").partition("_")[0]
    return sorted(tests, key=lambda test: (name not in test, not test.startswith(f"tests/{room}/")))[:_MOST_TESTS]


def main() -> None:
    """Print the fate of a sample of mutants, and how many there were of each."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--seed", type=int, default=17)
    asked = parser.parse_args()
    every, ran = mutants([folder.resolve() for folder in asked.folders]), tests_of(asked.data)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copytree(_ROOT, Path(folder, "copy"), ignore=shutil.ignore_patterns(".git", ".venv", "work", "__pycache__")))
        for mutant in random.Random(asked.seed).sample(every, min(asked.number, len(every))):
            place = mutant.path.relative_to(_ROOT).as_posix()
            became = fate(mutant, copy, _nearest(ran.get((place, mutant.line), []), mutant.path))
            counts[became] += 1
            line = mutant.path.read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
            print(became, f"{place}:{mutant.line}", mutant.before.decode(), mutant.after.decode(), line, sep="\t", flush=True)
    print(f"{len(every)} places, " + ", ".join(f"{number} {became}" for became, number in sorted(counts.items())))


if __name__ == "__main__":
    main()
