"""The plan of the house, executed: who may import whom, and who may touch the outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import pytest_gbs

PACKAGE = Path(pytest_gbs.__file__).parent
# Floors from the ground up; a module may import from its own floor only within its own folder, and from all floors below.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("parsing", "composition", "frameworks"),
    ("trees",),
    ("settings",),
    ("launchers", "declarations", "suppressions"),
    ("rules", "fixes"),
    ("mentions",),
    ("launches",),
    ("launched",),
    ("repository", "companions", "formats", "locking", "crew"),
    ("launch_index", "checking"),
    ("engine",),
    ("evidence", "telling"),
    ("api",),
    ("differences", "changed"),
    ("plugin", "pytest_items", "recipe", "cli", "lsp", "__main__"),
)
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
# Rules, formats and tables see the ground floor only, and never each other.
CORE_ONLY = {"rules", "formats", "frameworks", "launchers", "declarations"}
THIRD_PARTY = {
    "yaml": {"parsing"},
    "ruamel": {"parsing", "fixes"},
    "tree_sitter": {"parsing"},
    "tree_sitter_bash": {"parsing"},
    "jsonschema": {"settings", "cli"},
    "tomllib": {"frameworks", "parsing", "settings", "trees"},
}
OUTSIDE = {"argparse": {"cli"}, "subprocess": {"trees"}, "socket": set(), "urllib": set(), "http": set(), "pickle": {"crew"}}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    inner = path.relative_to(PACKAGE)
    return inner.parts[0] if len(inner.parts) > 1 else inner.stem


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module, node.lineno


def _id(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", _modules(), ids=_id)
def test_imports_go_down_only(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        return
    for name, line in _imports(path):
        parts = name.split(".")
        if parts[0] != "pytest_gbs" or len(parts) < 2 or parts[1] == room:
            continue
        assert FLOOR_OF[parts[1]] < FLOOR_OF[room] or _front_end(room, parts[1]), f"{_id(path)}:{line} imports {name}, which lies above"
        if room in CORE_ONLY:
            assert parts[1] == "core", f"{_id(path)}:{line} imports {name}: {room} see core only"


def _front_end(room: str, other: str) -> bool:
    return FLOOR_OF[room] == FLOOR_OF[other] == len(FLOORS) - 1


@pytest.mark.parametrize("path", _modules(), ids=_id)
def test_the_outside_is_touched_where_the_plan_says(path: Path) -> None:
    room = _room(path)
    for name, line in _imports(path):
        top = name.split(".")[0]
        for table in (THIRD_PARTY, OUTSIDE):
            if top in table:
                assert room in table[top], f"{_id(path)}:{line} imports {top}"
        if top == "pytest" or top.startswith("_pytest"):
            assert top == "pytest", f"{_id(path)}:{line} imports pytest's private parts"
            assert room in {"plugin", "pytest_items"}, f"{_id(path)}:{line} imports pytest"


@pytest.mark.parametrize("path", [p for p in _modules() if _room(p) not in {"cli", "plugin", "pytest_items", "__main__"}], ids=_id)
def test_nothing_below_the_front_ends_prints_or_reads_the_environment(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if _id(path) == "core/typed.py" and node.func.id == "eval":
                continue  # compiles the constructors of named tuples, as the standard library does
            assert node.func.id not in {"print", "input", "eval", "exec", "exit", "quit"}, f"{_id(path)}:{node.lineno}"
            if node.func.id == "open":
                assert _room(path) == "trees", f"{_id(path)}:{node.lineno} opens a file"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os":
            if _id(path) == "trees/git.py" and node.attr == "environ":
                continue  # handed on to git whole, with what keeps it from fetching
            assert node.attr not in {"environ", "getenv", "system", "popen"}, f"{_id(path)}:{node.lineno}"


@pytest.mark.parametrize("path", [path for path in _modules() if _room(path) in ("cli", "formats", "pytest_items")], ids=_id)
def test_all_that_is_printed_goes_through_one_place(path: Path) -> None:
    """What is written there is obeyed by no terminal and no CI system; JSON is made safe without a change of its meaning."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            assert _id(path) == "cli/_output.py", f"{_id(path)}:{node.lineno} prints"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if (node.value.id, node.attr) == ("sys", "stdout"):
                assert _id(path) in ("cli/_output.py", "cli/_streams.py", "cli/__init__.py"), f"{_id(path)}:{node.lineno} writes"
            if (node.value.id, node.attr) == ("json", "dumps"):
                assert _id(path) == "formats/_json.py", f"{_id(path)}:{node.lineno} makes JSON"
